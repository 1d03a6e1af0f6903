/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "core/buf.h"
#include "core/err.h"
#include "decode.h"
#include "fields.h"
#include "frame.h"
#include "json.h"
#include "quote.h"

#include <string.h>

/* DESIGN.  By far most frames are metrics: they are decoded straight from the
 * text, without a tree, and the command and its strings are one allocation.
 * tests/unit/command_test.c holds this decoder against one made with json.h. */

enum {
    F_PARAMETER,
    F_JOB,
    F_TYPE,
    F_SEQUENCE,
    F_VALUE,
    F_ATTEMPT,
    F_BASE,
    F_SYNC
};

static const char *const types[] = {
    [METRIC_PERIODICAL] = "PERIODICAL",
    [METRIC_FINAL] = "FINAL",
    [METRIC_REQUEST] = "REQUEST_PARAMETER",
};

#define GOT "expected a number as value, got "

static bool
read_scalar(const struct scan_token *t, double *out, const char **problem)
{
    if (t->type == SCAN_TRUE || t->type == SCAN_FALSE) {
        *out = t->type == SCAN_TRUE; /* Python's True is 1 */
        return true;
    }
    if (scan_number(t, out))
        return true;
    *problem = GOT "a number beyond a double's range";
    return false;
}

static bool
is_scalar(enum scan_type type)
{
    return type == SCAN_NUMBER || type == SCAN_TRUE || type == SCAN_FALSE;
}

static bool
read_default(const char *text, size_t len, double *out, const char **problem)
{
    struct field f = FIELD("default");

    *problem = GOT "text that is not JSON";
    if (fields_read(text, len, JSON_NAN, &f, 1, NULL) != 0)
        return false;
    *problem = GOT "an object without a numeric 'default'";
    return is_scalar(f.t.type) && read_scalar(&f.t, out, problem);
}

/* The number in a metric's own JSON text; false: *problem says why not. */
static bool
read_text(const char *text, size_t len, double *out, const char **problem)
{
    struct scan s = {.text = text, .len = len, .flags = JSON_NAN};
    struct scan_token t = scan_next(&s);

    if (t.type == SCAN_OPEN_OBJECT)
        return read_default(text, len, out, problem);
    if (!scan_skip_from(&s, t) || scan_next(&s).type != SCAN_END) {
        *problem = GOT "text that is not JSON";
        return false;
    }
    if (is_scalar(t.type))
        return read_scalar(&t, out, problem);
    *problem = t.type == SCAN_STRING ? GOT "a string"
               : t.type == SCAN_NULL ? GOT "null"
                                     : GOT "a list";
    return false;
}

/* -1 is lack of memory alone: a value that is none is a metric, too. */
static int
read_value(const struct scan_token *t, struct metric *m, struct err *err)
{
    struct buf text;
    int rc;

    if (t->type == SCAN_END) {
        m->problem = GOT "nothing";
        return 0;
    }
    if (!t->escaped) {
        m->has_value = read_text(t->text, t->len, &m->value, &m->problem);
        return 0;
    }
    buf_init(&text, t->len);
    scan_unescape(t, &text);
    rc = buf_check(&text, "value", err);
    if (rc == 0)
        m->has_value =
            read_text(buf_text(&text), text.len, &m->value, &m->problem);
    buf_fini(&text);
    return rc;
}

bool
metric_read_value(struct jval value, double *out, const char **problem)
{
    const char *text;
    size_t len;
    bool flag;

    if (jval_string(value, &text, &len))
        return read_text(text, len, out, problem);
    if (jval_type(value) == JSON_OBJECT) {
        *problem = GOT "an object without a numeric 'default'";
        if (!jval_get(value, "default", &value))
            return false;
    } else {
        *problem = jval_type(value) == JSON_NULL ? GOT "null" : GOT "a list";
    }
    if (jval_bool(value, &flag)) {
        *out = flag;
        return true;
    }
    return jval_number(value, out);
}

static int
read_fields(const struct field *f, struct metric *m, struct err *err)
{
    int type = field_choice(&f[F_TYPE], types, 3, err);

    if (type < 0 || field_check_text(&f[F_JOB], err) != 0 ||
        decode_parameter(&f[F_PARAMETER], &m->parameter, err) != 0 ||
        field_uint(&f[F_SEQUENCE], &m->sequence, err) != 0 ||
        field_uint(&f[F_ATTEMPT], &m->attempt, err) != 0 ||
        field_uint(&f[F_BASE], &m->base, err) != 0 ||
        field_bool(&f[F_SYNC], &m->sync, err) != 0)
        return -1;
    m->type = (enum metric_type)type;
    if (m->type == METRIC_PERIODICAL && field_is_absent(&f[F_SEQUENCE]))
        return field_refuse(&f[F_SEQUENCE], "a whole number of at least 0", "",
                            err);
    return read_value(&f[F_VALUE].t, m, err);
}

struct command *
decode_metric(const struct frame *frame, struct err *err)
{
    struct field f[] = {
        [F_PARAMETER] = FIELD("parameter_id"),
        [F_JOB] = FIELD("trial_job_id"),
        [F_TYPE] = FIELD("type"),
        [F_SEQUENCE] = FIELD("sequence"),
        [F_VALUE] = FIELD("value"),
        [F_ATTEMPT] = FIELD("attempt"),
        [F_BASE] = FIELD("base"),
        [F_SYNC] = FIELD("sync"),
    };
    struct metric m = {0};
    struct command *cmd;
    size_t room;
    char *tail;

    if (fields_read(frame->payload, frame->len, JSON_NAN, f,
                    sizeof f / sizeof *f, err) != 0 ||
        read_fields(f, &m, err) != 0)
        return NULL;
    room = m.has_value ? 0 : QUOTE_MAX;
    cmd = decode_new(f[F_JOB].t.len + f[F_PARAMETER].t.len + 2 + room, &tail,
                     err);
    if (cmd == NULL)
        return NULL;
    if (!m.has_value && f[F_VALUE].t.type != SCAN_END)
        m.shown = quote_bytes(tail, f[F_VALUE].t.text, f[F_VALUE].t.len);
    tail += room;
    m.job = field_copy(&f[F_JOB], &tail, err);
    if (m.job != NULL && m.parameter.kind == PARAMETER_LABEL)
        m.parameter.label = field_copy(&f[F_PARAMETER], &tail, err);
    cmd->code = CMD_METRIC;
    cmd->metric = m;
    if (m.job != NULL &&
        (m.parameter.kind != PARAMETER_LABEL || m.parameter.label != NULL))
        return cmd;
    command_free(cmd);
    return NULL;
}
