/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "core/buf.h"
#include "core/err.h"
#include "decode.h"
#include "fields.h"
#include "frame.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { F_JOB, F_EVENT, F_HYPER, F_ATTEMPT, F_SYNC, N_FIELDS };

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

int
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

/* The hint lies in JSON inside JSON; what is wrong with it costs the hint
 * alone, lack of memory the command.  `text` takes the inner text, into which
 * *id then points. */
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

/* Copies a label; one that cannot be costs the hint, see read_hint(). */
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
read_fields(const struct field *f, struct trial_end *end, struct err *err)
{
    int event =
        field_choice(&f[F_EVENT], events, sizeof events / sizeof *events, err);

    if (event < 0 || field_check_text(&f[F_JOB], err) != 0 ||
        field_uint(&f[F_ATTEMPT], &end->attempt, err) != 0 ||
        field_bool(&f[F_SYNC], &end->sync, err) != 0)
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

struct command *
decode_end(const struct frame *frame, struct err *err)
{
    struct field f[N_FIELDS] = {
        [F_JOB] = FIELD("trial_job_id"),   [F_EVENT] = FIELD("event"),
        [F_HYPER] = FIELD("hyper_params"), [F_ATTEMPT] = FIELD("attempt"),
        [F_SYNC] = FIELD("sync"),
    };
    struct field id = FIELD("parameter_id");
    struct trial_end end = {0};
    struct command *cmd;
    struct buf text;

    if (fields_read(frame->payload, frame->len, JSON_NAN, f, N_FIELDS, err) !=
            0 ||
        read_fields(f, &end, err) != 0)
        return NULL;
    buf_init(&text, frame->len);
    cmd = read_hint(&f[F_HYPER], &id, &end.hint, &text, err) != 0
              ? NULL
              : build(&f[F_JOB], &id, &end, err);
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
    if (parameter_copy(&half->end.parameter, &end->parameter) == 0)
        return half;
    command_free(half);
    return NULL;
}
