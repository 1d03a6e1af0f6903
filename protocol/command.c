/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "fields.h"
#include "frame.h"
#include "json.h"
#include "quote.h"
#include "scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct command *decode_metric(const struct frame *frame,
                                     struct err *err);
static struct command *decode_end(const struct frame *frame, struct err *err);

enum payload {
    PAYLOAD_NOTHING,
    PAYLOAD_SPACE,
    PAYLOAD_COUNT,
    PAYLOAD_METRIC,
    PAYLOAD_END,
    PAYLOAD_IMPORT,
    PAYLOAD_CUSTOM,
    PAYLOAD_NOTE,
    PAYLOAD_PLAN,
    PAYLOAD_OUTWARD,
};

static const struct command_info table[CMD_COUNT] = {
#define COMMAND(name, code, direction, queue, payload, doc) \
    [CMD_##name] = {#name, code, DIRECTION_##direction, QUEUE_##queue, doc},
#include "commands.def"
#undef COMMAND
};

static const enum payload payloads[CMD_COUNT] = {
#define COMMAND(name, code, direction, queue, payload, doc) \
    [CMD_##name] = PAYLOAD_##payload,
#include "commands.def"
#undef COMMAND
};

const struct command_info *
command_info(enum command_code code)
{
    return (unsigned)code < CMD_COUNT ? &table[code] : NULL;
}

const struct command_info *
command_find(const char code[2], enum command_code *out)
{
    for (int i = 0; i < CMD_COUNT; i++)
        if (table[i].code[0] == code[0] && table[i].code[1] == code[1]) {
            *out = (enum command_code)i;
            return &table[i];
        }
    return NULL;
}

/* A zeroed command with `tail` bytes behind it, where its strings lie, so that
 * the commonest commands cost one allocation.  NULL: out of memory. */
static struct command *
decode_new(size_t tail, char **at, struct err *err)
{
    struct command *cmd = malloc(sizeof *cmd + tail);

    if (cmd == NULL) {
        err_set(err, ERR_MEMORY, "out of memory for a command");
        return NULL;
    }
    memset(cmd, 0, sizeof *cmd);
    *at = (char *)(cmd + 1);
    return cmd;
}

/* A command that holds doc, which it takes; NULL stays NULL. */
static struct command *
with_document(struct json *doc, struct err *err)
{
    char *tail;
    struct command *cmd = doc == NULL ? NULL : decode_new(0, &tail, err);

    if (cmd == NULL)
        json_free(doc);
    else
        cmd->document = doc;
    return cmd;
}

static struct command *
decode_nothing(const struct frame *frame, struct err *err)
{
    char *tail;

    (void)frame; /* a payload where none belongs does no harm */
    return decode_new(0, &tail, err);
}

static struct json *
parse(const struct frame *frame, unsigned flags, const char *what,
      struct err *err)
{
    if (frame->len > 0)
        return json_parse(frame->payload, frame->len, flags, err);
    err_set(err, ERR_INPUT, "byte 0: empty: expected %s", what);
    return NULL;
}

/* Returns doc if its root is of that type; takes it. */
static struct json *
want_type(struct json *doc, enum json_type type, const char *what,
          struct err *err)
{
    if (doc == NULL || jval_type(json_root(doc)) == type)
        return doc;
    err_set(err, ERR_INPUT, "byte 0: expected %s, not %s", what,
            jval_type_name(json_root(doc)));
    json_free(doc);
    return NULL;
}

static struct command *
decode_space(const struct frame *frame, struct err *err)
{
    static const char what[] = "a search space, an object";
    struct json *doc = parse(frame, JSON_COMMENTS, what, err);

    return with_document(want_type(doc, JSON_OBJECT, what, err), err);
}

static bool
read_count(const struct frame *frame, uint64_t *n)
{
    size_t digits = 0;

    while (digits < frame->len && frame->payload[digits] >= '0' &&
           frame->payload[digits] <= '9')
        digits++;
    return digits > 0 && digits == frame->len &&
           number_parse_u64(frame->payload, digits, n) && *n > 0 &&
           *n <= COMMAND_REQUEST_MAX;
}

static struct command *
decode_count(const struct frame *frame, struct err *err)
{
    static const char got[] = "expected a count from 1 to 65536, got ";
    char shown[QUOTE_MAX] = "nothing", *tail;
    struct command *cmd;
    uint64_t n = 0;

    if (read_count(frame, &n)) {
        cmd = decode_new(0, &tail, err);
        if (cmd != NULL)
            cmd->request.count = n;
        return cmd;
    }
    if (frame->len > 0)
        quote_bytes(shown, frame->payload, frame->len);
    cmd = decode_new(sizeof got + QUOTE_MAX, &tail, err);
    if (cmd == NULL)
        return NULL;
    snprintf(tail, sizeof got + QUOTE_MAX, "%s%s", got, shown);
    cmd->request.problem = tail;
    return cmd;
}

/* Returns doc if each of its elements is an object; takes it. */
static struct json *
want_objects(struct json *doc, const char *what, struct err *err)
{
    size_t n = doc == NULL ? 0 : jval_count(json_root(doc));

    for (size_t i = 0; i < n; i++) {
        struct jval v = jval_at(json_root(doc), i);

        if (jval_type(v) == JSON_OBJECT)
            continue;
        err_set(err, ERR_INPUT, "element %zu: expected %s, an object, not %s",
                i, what, jval_type_name(v));
        json_free(doc);
        return NULL;
    }
    return doc;
}

static struct command *
decode_import(const struct frame *frame, struct err *err)
{
    static const char what[] = "an array of finished trials";
    struct json *doc = parse(frame, JSON_NAN, what, err);

    doc = want_type(doc, JSON_ARRAY, what, err);
    return with_document(want_objects(doc, "a finished trial", err), err);
}

/* Adds a record of an AD, or the JSON inside the string that holds one. */
static int
add_record(struct buf *out, const struct scan *s, const struct scan_token *t,
           size_t index, struct err *err)
{
    size_t from = out->len;

    if (t->type != SCAN_STRING) {
        buf_add(out, s->text + t->at, s->at - t->at);
        return 0;
    }
    scan_unescape(t, out);
    if (buf_check(out, "the records", err) != 0)
        return -1;
    if (scan_check(buf_text(out) + from, out->len - from, JSON_NAN, err) == 0)
        return 0;
    return err_place(err, "element %zu, JSON in a string", index);
}

/* Writes the three forms that an AD may have as one: an array of records, some
 * of which may be JSON in a string, or a single record.  The text is valid
 * JSON. */
static int
unwrap_records(struct scan *s, struct buf *out, struct err *err)
{
    struct scan_token t = scan_next(s);
    bool array = t.type == SCAN_OPEN_ARRAY;

    buf_add_char(out, '[');
    if (array)
        t = scan_next(s);
    for (size_t i = 0; t.type != SCAN_CLOSE_ARRAY; i++) {
        scan_skip_from(s, t);
        if (add_record(out, s, &t, i, err) != 0)
            return -1;
        t = scan_next(s);
        if (t.type != SCAN_COMMA)
            break;
        buf_add_char(out, ',');
        t = scan_next(s);
    }
    buf_add_char(out, ']');
    return buf_check(out, "the records", err);
}

static struct command *
decode_custom(const struct frame *frame, struct err *err)
{
    static const char what[] = "an array of trial records";
    struct scan s = {frame->payload, frame->len, 0, JSON_NAN, NULL};
    struct json *doc = parse(frame, JSON_NAN, what, err);
    struct buf text;

    if (doc != NULL && jval_type(json_root(doc)) != JSON_OBJECT)
        doc = want_type(doc, JSON_ARRAY, what, err);
    if (doc == NULL)
        return NULL;
    /* the document only served to check that the payload is JSON */
    json_free(doc);
    buf_init(&text, frame->len + 2);
    doc = unwrap_records(&s, &text, err) != 0
              ? NULL
              : json_parse(buf_text(&text), text.len, JSON_NAN, err);
    buf_fini(&text);
    return with_document(want_objects(doc, "a trial record", err), err);
}

static struct command *
decode_note(const struct frame *frame, struct err *err)
{
    static const char what[] = "a note, an object";
    struct json *doc = parse(frame, JSON_STRICT, what, err);
    struct jval event;

    doc = want_type(doc, JSON_OBJECT, what, err);
    if (doc != NULL && (!jval_get(json_root(doc), "event", &event) ||
                        jval_type(event) != JSON_STRING)) {
        err_set(err, ERR_INPUT,
                "byte 0: expected an object with the key 'event', a string");
        json_free(doc);
        doc = NULL;
    }
    return with_document(doc, err);
}

static struct command *
decode_plan(const struct frame *frame, struct err *err)
{
    static const char what[] = "a plan, an object";
    struct json *doc =
        want_type(parse(frame, JSON_STRICT, what, err), JSON_OBJECT, what, err);
    struct command *cmd = NULL;
    uint64_t trials = 0;
    char shown[QUOTE_MAX], *tail;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "trials", &v) &&
        jval_type(v) != JSON_NULL && !jval_uint(v, &trials))
        err_set(err, ERR_INPUT, "trials: expected an integer or null, not %s",
                jval_quote(shown, v));
    else if (doc != NULL)
        cmd = decode_new(0, &tail, err);
    if (cmd != NULL)
        cmd->planned = trials;
    json_free(doc);
    return cmd;
}

static struct command *
refuse_outward(const struct frame *frame, struct err *err)
{
    err_set(err, ERR_INPUT,
            "%s goes from the dispatcher to the manager, never the other way",
            frame->code);
    return NULL;
}

static struct command *
refuse_unknown(const struct frame *frame, struct err *err)
{
    struct buf codes;
    char shown[QUOTE_MAX];

    buf_init(&codes, 200);
    for (int i = 0; i < CMD_COUNT; i++)
        if (table[i].direction != DIRECTION_OUT)
            buf_printf(&codes, " %s", table[i].code);
    err_set(err, ERR_INPUT, "unknown command %s: expected one of%s",
            quote_bytes(shown, frame->code, 2), buf_text(&codes));
    buf_fini(&codes);
    return NULL;
}

struct command *
command_decode(const struct frame *frame, uint64_t arrival, struct err *err)
{
    typedef struct command *decoder(const struct frame *, struct err *);
    static decoder *const decoders[] = {
        [PAYLOAD_NOTHING] = decode_nothing, [PAYLOAD_SPACE] = decode_space,
        [PAYLOAD_COUNT] = decode_count,     [PAYLOAD_METRIC] = decode_metric,
        [PAYLOAD_END] = decode_end,         [PAYLOAD_IMPORT] = decode_import,
        [PAYLOAD_CUSTOM] = decode_custom,   [PAYLOAD_NOTE] = decode_note,
        [PAYLOAD_PLAN] = decode_plan,       [PAYLOAD_OUTWARD] = refuse_outward,
    };
    enum command_code code;
    struct command *cmd;

    if (command_find(frame->code, &code) == NULL)
        return refuse_unknown(frame, err);
    cmd = decoders[payloads[code]](frame, err);
    if (cmd == NULL)
        return NULL;
    cmd->code = code;
    cmd->arrival = arrival;
    cmd->position = arrival;
    return cmd;
}

void
command_free(struct command *cmd)
{
    if (cmd == NULL)
        return;
    switch (payloads[cmd->code]) {
    case PAYLOAD_SPACE:
    case PAYLOAD_IMPORT:
    case PAYLOAD_CUSTOM:
    case PAYLOAD_NOTE:
        json_free(cmd->document);
        break;
    case PAYLOAD_END:
        parameter_clear(&cmd->end.parameter);
        free(cmd->end.values);
        break;
    case PAYLOAD_METRIC:
        free(cmd->metric.values);
        break;
    case PAYLOAD_NOTHING:
    case PAYLOAD_COUNT:
    case PAYLOAD_PLAN:
    case PAYLOAD_OUTWARD:
        break;
    }
    for (size_t i = 0; i < cmd->n_runs; i++) {
        free(cmd->runs[i].job);
        parameter_clear(&cmd->runs[i].parameter);
    }
    free(cmd->runs);
    free(cmd);
}

struct parameter_id
parameter_named(uint64_t number, const char *label)
{
    return (struct parameter_id){label == NULL ? PARAMETER_NUMBER
                                               : PARAMETER_LABEL,
                                 label == NULL ? number : 0, (char *)label};
}

bool
parameter_equal(const struct parameter_id *a, const struct parameter_id *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case PARAMETER_NONE:
        return true;
    case PARAMETER_NUMBER:
        return a->number == b->number;
    case PARAMETER_LABEL:
        return strcmp(a->label, b->label) == 0;
    }
    return false;
}

int
parameter_copy(struct parameter_id *to, const struct parameter_id *from)
{
    *to = *from;
    if (from->label == NULL)
        return 0;
    to->label = strdup(from->label);
    if (to->label != NULL)
        return 0;
    to->kind = PARAMETER_NONE;
    return -1;
}

void
parameter_clear(struct parameter_id *p)
{
    free(p->label);
    *p = (struct parameter_id){.kind = PARAMETER_NONE};
}

/* ---- EN: a trial ended ---- */

enum { END_JOB, END_EVENT, END_HYPER, END_ATTEMPT, END_SYNC, N_END_FIELDS };

static const char *const events[] = {
    [END_SUCCEEDED] = "SUCCEEDED",         [END_FAILED] = "FAILED",
    [END_USER_CANCELED] = "USER_CANCELED", [END_SYS_CANCELED] = "SYS_CANCELED",
    [END_EARLY_STOPPED] = "EARLY_STOPPED", [END_PAUSED] = "PAUSED",
};

const char *
command_event_name(enum end_event event)
{
    return events[event];
}

/* Reads kind and number of a parameter_id; a label is copied later. */
static int
decode_parameter(const struct field *f, struct parameter_id *out,
                 struct err *err)
{
    *out = (struct parameter_id){.kind = PARAMETER_NONE};
    if (field_is_absent(f))
        return 0;
    if (f->t.type == SCAN_STRING) {
        out->kind = PARAMETER_LABEL;
        return 0;
    }
    out->kind = PARAMETER_NUMBER;
    if (f->t.type == SCAN_NUMBER && scan_uint(&f->t, &out->number))
        return 0;
    return field_refuse(f, "a whole number of at least 0, a string or null", "",
                        err);
}

/* Reads the hint, which lies in JSON inside JSON.  A mistake in it costs the
 * hint alone, lack of memory the command.  `text` takes the inner text, into
 * which *id then points. */
static int
read_hint(const struct field *hyper, struct field *id,
          struct parameter_id *hint, struct buf *text, struct err *err)
{
    *hint = (struct parameter_id){.kind = PARAMETER_NONE};
    if (hyper->t.type == SCAN_STRING)
        scan_unescape(&hyper->t, text);
    else if (hyper->t.type == SCAN_OPEN_OBJECT)
        buf_add(text, hyper->t.text, hyper->t.len);
    if (buf_check(text, "hyper_params", err) != 0)
        return -1;
    if (fields_read(buf_text(text), text->len, JSON_NAN, id, 1, NULL) != 0 ||
        decode_parameter(id, hint, NULL) != 0)
        hint->kind = PARAMETER_NONE;
    return 0;
}

/* Copies a label; one that cannot be a label costs the hint, see
 * read_hint(). */
static int
copy_label(const struct field *id, struct parameter_id *hint, char **tail,
           struct err *err)
{
    struct err why = {0};

    if (hint->kind != PARAMETER_LABEL)
        return 0;
    hint->label = field_copy(id, tail, &why);
    if (hint->label == NULL)
        hint->kind = PARAMETER_NONE;
    return why.code == ERR_MEMORY ? err_set(err, why.code, "%s", why.text) : 0;
}

static int
read_end_fields(const struct field *f, struct trial_end *end, struct err *err)
{
    int event = field_choice(&f[END_EVENT], events,
                             sizeof events / sizeof *events, err);

    if (event < 0 || field_check_text(&f[END_JOB], err) != 0 ||
        field_uint(&f[END_ATTEMPT], &end->attempt, err) != 0 ||
        field_bool(&f[END_SYNC], &end->sync, err) != 0)
        return -1;
    end->event = (enum end_event)event;
    return 0;
}

static struct command *
build(const struct field *job, const struct field *id, struct trial_end *end,
      struct err *err)
{
    bool label = end->hint.kind == PARAMETER_LABEL;
    char *tail;
    struct command *cmd =
        decode_new(job->t.len + 1 + (label ? id->t.len + 1 : 0), &tail, err);

    if (cmd == NULL)
        return NULL;
    cmd->code = CMD_TRIAL_END;
    end->job = field_copy(job, &tail, err);
    if (end->job == NULL || copy_label(id, &end->hint, &tail, err) != 0) {
        command_free(cmd);
        return NULL;
    }
    cmd->end = *end;
    return cmd;
}

static struct command *
decode_end(const struct frame *frame, struct err *err)
{
    struct field f[N_END_FIELDS] = {
        [END_JOB] = FIELD("trial_job_id"),   [END_EVENT] = FIELD("event"),
        [END_HYPER] = FIELD("hyper_params"), [END_ATTEMPT] = FIELD("attempt"),
        [END_SYNC] = FIELD("sync"),
    };
    struct field id = FIELD("parameter_id");
    struct trial_end end = {0};
    struct command *cmd;
    struct buf text;

    if (fields_read(frame->payload, frame->len, JSON_NAN, f, N_END_FIELDS,
                    err) != 0 ||
        read_end_fields(f, &end, err) != 0)
        return NULL;
    buf_init(&text, frame->len);
    cmd = read_hint(&f[END_HYPER], &id, &end.hint, &text, err) != 0
              ? NULL
              : build(&f[END_JOB], &id, &end, err);
    buf_fini(&text);
    return cmd;
}

static size_t
text_size(const char *text)
{
    return text == NULL ? 0 : strlen(text) + 1;
}

static char *
copy_text(const char *text, char **tail)
{
    char *to = *tail;

    if (text == NULL)
        return NULL;
    memcpy(to, text, text_size(text));
    *tail += text_size(text);
    return to;
}

/* Gives the end a copy of its own of the values that its marks point into. */
static int
copy_values(struct trial_end *end)
{
    struct mark *marks[] = {&end->latest, &end->lowest, &end->highest};
    const double *from = end->values;

    if (from == NULL)
        return 0;
    end->values = malloc(2 * end->n_values * sizeof *from);
    if (end->values == NULL)
        return -1;
    memcpy(end->values, from, 2 * end->n_values * sizeof *from);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i]->values != NULL)
            marks[i]->values = end->values + (marks[i]->values - from);
    return 0;
}

struct command *
command_split_end(const struct command *cmd)
{
    const struct trial_end *end = &cmd->end;
    char *tail;
    struct command *half = decode_new(
        text_size(end->job) + text_size(end->hint.label), &tail, NULL);

    if (half == NULL)
        return NULL;
    half->code = cmd->code;
    half->arrival = cmd->arrival;
    half->tuner_half = true;
    half->end = *end;
    half->end.job = copy_text(end->job, &tail);
    half->end.hint.label = copy_text(end->hint.label, &tail);
    half->end.parameter.label = NULL;
    if (copy_values(&half->end) == 0 &&
        parameter_copy(&half->end.parameter, &end->parameter) == 0)
        return half;
    command_free(half);
    return NULL;
}

/* ---- ME: what a trial reported ---- */

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

/* Reads the number in a metric's own JSON text; false: *problem says why there
 * is none. */
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

/* Reads a metric's value.  -1: out of memory; a metric without a number is no
 * failure. */
static int
read_value(const struct scan_token *t, struct metric *m, struct err *err)
{
    struct buf text;
    int rc;

    if (t->type == SCAN_END) {
        m->problem = GOT "nothing";
        return 0;
    }
    m->text = t->text;
    m->text_len = t->len;
    m->text_escaped = t->escaped;
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

struct json *
metric_parse(const struct metric *m, struct err *err)
{
    const struct scan_token t = {.type = SCAN_STRING,
                                 .text = m->text,
                                 .len = m->text_len,
                                 .escaped = true};
    struct json *doc = NULL;
    char shown[QUOTE_MAX];
    struct buf text;

    if (m->text == NULL) {
        err_set(err, ERR_INPUT, "no value");
        return NULL;
    }
    buf_init(&text, m->text_len);
    if (m->text_escaped)
        scan_unescape(&t, &text);
    else
        buf_add(&text, m->text, m->text_len);
    if (buf_check(&text, "value", err) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_NAN, err);
    if (doc == NULL && err != NULL && err->code != ERR_MEMORY)
        err_place(err, "value %s", quote_bytes(shown, m->text, m->text_len));
    buf_fini(&text);
    return doc;
}

static int
read_metric_fields(const struct field *f, struct metric *m, struct err *err)
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

/* Decodes a metric, without code and arrival; NULL: err tells. */
static struct command *
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
        read_metric_fields(f, &m, err) != 0)
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

/* ---- what the router adds for a manager that is started again ---- */

int
command_add_run(struct command *cmd, const char *job,
                const struct parameter_id *parameter)
{
    size_t n = cmd->n_runs;
    struct command_run run = {.job = strdup(job)};

    if ((n & (n - 1)) == 0) { /* full at 0, 1, 2, 4, ... */
        size_t cap = n == 0 ? 1 : 2 * n;
        void *grown = realloc(cmd->runs, cap * sizeof *cmd->runs);

        if (grown == NULL)
            goto fail;
        cmd->runs = grown;
    }
    if (run.job == NULL || parameter_copy(&run.parameter, parameter) != 0)
        goto fail;
    cmd->runs[cmd->n_runs++] = run;
    return 0;
fail:
    free(run.job);
    return -1;
}

struct command *
command_new_loss(const struct command *request)
{
    struct command *cmd = calloc(1, sizeof *cmd);

    if (cmd == NULL)
        return NULL;
    cmd->code = CMD_REQUEST_TRIALS;
    cmd->arrival = request->arrival;
    for (size_t i = 0; i < request->n_runs; i++)
        if (command_add_run(cmd, request->runs[i].job,
                            &request->runs[i].parameter) != 0) {
            command_free(cmd);
            return NULL;
        }
    return cmd;
}

/* ---- commands outward, to the manager ----
 *
 * Keys, their order and their spelling are
 * NNI's, byte for byte; what --extensions adds stands behind them. */

static struct json_writer
begin_trial(struct buf *out, uint64_t id, const char *label)
{
    struct json_writer w = json_begin_object(out);

    if (label != NULL)
        json_add_text(&w, "parameter_id", label);
    else
        json_add_unsigned(&w, "parameter_id", id);
    json_add_text(&w, "parameter_source", "algorithm");
    return w;
}

void
command_write_trial(struct buf *out, const struct parameter_record *r)
{
    struct json_writer w = begin_trial(out, r->id, r->label);

    buf_add(json_value(&w, "parameters"), r->parameters, r->parameters_len);
    if (!r->bare)
        json_add_unsigned(&w, "parameter_index", 0);
    if (r->resume_from != NULL)
        json_add_text(&w, "resume_from", r->resume_from);
    if (r->resume_from != NULL && r->resume_how != NULL)
        json_add_text(&w, "resume_how", r->resume_how);
    json_close(&w);
}

void
command_write_no_more(struct buf *out, uint64_t first_id, const char *label,
                      enum no_reason reason, uint64_t units, bool extensions)
{
    static const char *const reasons[] = {
        [NO_LATER] = "later",
        [NO_EXHAUSTED] = "exhausted",
        [NO_FAILED] = "failed",
    };
    struct json_writer w = begin_trial(out, first_id, label);

    json_add_text(&w, "parameters", "");
    if (label == NULL)
        json_add_unsigned(&w, "parameter_index", 0);
    if (extensions) {
        json_add_text(&w, "reason", reasons[reason]);
        json_add_unsigned(&w, "units", units);
    }
    json_close(&w);
}

void
command_write_kill(struct buf *out, const char *job)
{
    json_write_text(out, job);
}

static const char *const decisions[] = {
    [TRIAL_GO] = "go",           [TRIAL_STOP] = "stop",
    [TRIAL_PAUSE] = "pause",     [TRIAL_FINISH] = "finish",
    [TRIAL_RELEASE] = "release",
};

const char *
trial_decision_name(enum trial_decision decision)
{
    return decisions[decision];
}

bool
trial_decision_find(const char *name, enum trial_decision *out)
{
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        if (strcmp(decisions[i], name) == 0) {
            *out = (enum trial_decision)i;
            return true;
        }
    return false;
}

void
command_write_decide(struct buf *out, const char *job,
                     enum trial_decision decision)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "trial_job_id", job);
    json_add_text(&w, "decision", decisions[decision]);
    json_close(&w);
}

void
command_write_acknowledge(struct buf *out, const char *job, uint64_t sequence,
                          enum trial_decision decision)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "trial_job_id", job);
    json_add_unsigned(&w, "sequence", sequence);
    json_add_text(&w, "decision", decisions[decision]);
    json_close(&w);
}

void
command_write_acknowledge_end(struct buf *out, const char *job)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "trial_job_id", job);
    json_add_text(&w, "decision", "end");
    json_close(&w);
}

void
command_write_initialized(struct buf *out, uint64_t last_arrival,
                          bool extensions)
{
    struct json_writer w;

    if (!extensions)
        return;
    w = json_begin_object(out);
    json_add_unsigned(&w, "last", last_arrival);
    json_close(&w);
}

void
command_write_resumed(struct buf *out, const struct resumed *r)
{
    struct json_writer w = json_begin_object(out);

    json_add_unsigned(&w, "last", r->frames);
    json_add_unsigned(&w, "owed", r->owed);
    json_add_unsigned(&w, "resent", r->trials);
    json_add_unsigned(&w, "derived", r->derived);
    if (r->spaceless)
        json_add_bool(&w, "space", false);
    json_close(&w);
}
