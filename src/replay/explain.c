/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A first walk over the log collects what it says itself of the trial: its TR,
 * metrics, KI, end.  Then the log is replayed with an explainer.  What the
 * plugins say waits in `said` until it is known whom it is about: the TR that
 * comes of an ask, the judgement that comes of an assess. */
#include "replay/explain.h"

#include "command.h"
#include "core/err.h"
#include "dispatcher/explainer.h"
#include "frame.h"
#include "json.h"
#include "log/log.h"
#include "log/record.h"
#include "replay/logtrial.h"
#include "replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct explaining {
    struct explanation *x;
    struct logtrial trial;
    struct explain_lines said; /* since the last question */
    bool failed;               /* out of memory */
};

static void
lines_fini(struct explain_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        free(lines->at[i].who);
        free(lines->at[i].text);
    }
    free(lines->at);
    *lines = (struct explain_lines){0};
}

void
explanation_fini(struct explanation *x)
{
    free(x->job);
    free(x->parameter);
    free(x->tuner);
    free(x->assessor);
    free(x->suggestion);
    free(x->rule);
    lines_fini(&x->why);
    lines_fini(&x->judged_why);
    *x = (struct explanation){0};
}

/* A copy; NULL stays NULL. */
static char *
copy(struct explaining *e, const char *text, size_t len)
{
    char *to = text == NULL ? NULL : strndup(text, len);

    e->failed = e->failed || (text != NULL && to == NULL);
    return to;
}

static char *
copy_text(struct explaining *e, const char *text)
{
    return copy(e, text, text == NULL ? 0 : strlen(text));
}

/* ---- what the log says ---- */

static void
note_suggestion(struct explaining *e, const struct record *r)
{
    struct explanation *x = e->x;

    if (x->suggestion != NULL)
        return; /* sent again, after a restart */
    x->asked = r->number;
    x->asked_us = r->time_us;
    x->suggestion = copy(e, r->payload + 2, r->len - 2);
}

static void
note_metric(struct explanation *x, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;

    if (m->attempt >= x->attempts)
        x->attempts = m->attempt + 1;
    if (m->type == METRIC_PERIODICAL) {
        x->reports++;
        x->latest = m->has_value ? m->value : x->latest;
        x->latest_step = m->base + m->sequence;
    } else if (m->type == METRIC_FINAL && x->final == 0 && m->has_value) {
        x->final = cmd->arrival;
        x->result = m->value;
    }
}

static void
note_command(struct explaining *e, const struct record *r)
{
    struct frame frame = {.payload = r->payload + 2, .len = r->len - 2};
    struct command *cmd;

    memcpy(frame.code, r->payload, 2);
    cmd = command_decode(&frame, r->number, NULL);
    if (cmd == NULL)
        return;
    if (cmd->code == CMD_METRIC)
        note_metric(e->x, cmd);
    else if (cmd->code == CMD_TRIAL_END && e->x->ended == 0) {
        e->x->ended = r->number;
        e->x->event = command_event_name(cmd->end.event);
    } else if (cmd->code == CMD_ADD_CUSTOM && e->x->recovered == 0) {
        e->x->recovered = r->number;
    }
    command_free(cmd);
}

/* Whose checkpoint is released has ended before. */
static void
note_decision(struct explanation *x, const struct record *r)
{
    struct json *doc =
        json_parse(r->payload + 2, r->len - 2, JSON_STRICT, NULL);

    if (doc != NULL && x->decided == 0 &&
        strcmp(jval_text_of(json_root(doc), "decision"),
               trial_decision_name(TRIAL_RELEASE)) != 0)
        x->decided = r->number;
    json_free(doc);
}

static void
note(struct explaining *e, const struct record *r)
{
    if (r->kind == RECORD_IN)
        note_command(e, r);
    else if (r->kind == RECORD_TUNER && memcmp(r->payload, "TR", 2) == 0)
        note_suggestion(e, r);
    else if ((r->kind == RECORD_ASSESSOR || r->kind == RECORD_TUNER) &&
             memcmp(r->payload, "KI", 2) == 0)
        e->x->killed = r->number;
    else if (r->kind == RECORD_TUNER && memcmp(r->payload, "DT", 2) == 0)
        note_decision(e->x, r);
}

/* The name of the head's tuner or assessor. */
static char *
name_in(struct explaining *e, struct jval head, const char *side)
{
    struct jval plugin, name;
    const char *text;

    if (!jval_get(head, side, &plugin) || !jval_get(plugin, "name", &name) ||
        !jval_string(name, &text, NULL))
        return NULL;
    return copy_text(e, text);
}

static void
note_head(struct explaining *e, const struct record *r)
{
    struct json *head = json_parse(r->payload, r->len, JSON_STRICT, NULL);

    if (head != NULL && e->x->tuner == NULL) {
        e->x->tuner = name_in(e, json_root(head), "tuner");
        e->x->assessor = name_in(e, json_root(head), "assessor");
    }
    json_free(head);
}

static int
walk(struct explaining *e, struct log_reader *file, struct err *err)
{
    struct record r;
    enum log_status status;

    while ((status = log_next(file, &r, err)) == LOG_RECORD) {
        if (r.kind == RECORD_HEAD)
            note_head(e, &r);
        else if (logtrial_has(&e->trial, &r))
            note(e, &r);
    }
    log_rewind(file);
    while (status != LOG_DAMAGED && e->x->asked > 0 &&
           log_next(file, &r, err) == LOG_RECORD)
        if (r.kind == RECORD_IN && r.number == e->x->asked && r.len >= 2) {
            memcpy(e->x->asked_by, r.payload, 2);
            break;
        }
    return status == LOG_DAMAGED ? -1 : 0;
}

static int
read_log(struct explaining *e, const struct explain_setup *setup,
         struct err *err)
{
    struct log_reader *file = log_open(setup->path, 0, err);
    uint64_t frames;
    int rc =
        file == NULL ? -1 : logtrial_find(&e->trial, file, setup->trial, err);

    if (rc > 0 && log_first_segment(file) > 1 &&
        log_before(file, log_first_segment(file), &e->x->dropped, &frames,
                   err) != 0)
        rc = -1;
    if (rc == 0 && log_lacks(file, err))
        rc = err_place(err, "nothing of a trial '%.60s'", setup->trial);
    else if (rc == 0)
        rc = err_set(err, ERR_INPUT,
                     "%s: nothing of a trial '%.60s', expected a trial_job_id, "
                     "a parameter_id or a trial's number",
                     setup->path, setup->trial);
    else if (rc > 0)
        rc = walk(e, file, err);
    log_close(file);
    e->x->job = copy_text(e, e->trial.job);
    e->x->parameter = copy_text(e, e->trial.parameter);
    return rc;
}

/* ---- what the plugins say ---- */

static void
on_begin(void *ctx)
{
    struct explaining *e = ctx;

    lines_fini(&e->said);
}

static void
on_said(void *ctx, const char *who, const char *text)
{
    struct explaining *e = ctx;
    struct explain_lines *lines = &e->said;

    if (lines->n == lines->cap) {
        size_t cap = lines->cap == 0 ? 8 : 2 * lines->cap;
        struct explain_line *at = realloc(lines->at, cap * sizeof *at);

        if (at == NULL) {
            e->failed = true;
            return;
        }
        lines->at = at;
        lines->cap = cap;
    }
    lines->at[lines->n++] =
        (struct explain_line){copy_text(e, who), copy_text(e, text)};
}

static void
move(struct explain_lines *to, struct explain_lines *from)
{
    lines_fini(to);
    *to = *from;
    *from = (struct explain_lines){0};
}

static void
on_judged(void *ctx, const struct judgement *j)
{
    struct explaining *e = ctx;
    struct explanation *x = e->x;

    if (x->job == NULL || strcmp(j->job, x->job) != 0)
        return;
    x->judgements++;
    x->judged = j->cause;
    x->step = j->step;
    x->stop = j->decision == TRIAL_STOP;
    x->decision = j->decision;
    x->value = j->value;
    x->threshold = j->threshold;
    free(x->rule);
    x->rule = copy_text(e, j->rule);
    move(&x->judged_why, &e->said);
}

static void
on_derived(void *ctx, const struct emission *emission)
{
    struct explaining *e = ctx;
    const struct explanation *x = e->x;

    if (emission->code == CMD_NEW_TRIAL && emission->cause == x->asked &&
        x->suggestion != NULL && strlen(x->suggestion) == emission->len &&
        memcmp(x->suggestion, emission->payload, emission->len) == 0)
        move(&e->x->why, &e->said);
}

int
explain_run(const struct explain_setup *setup, struct explanation *out,
            struct err *err)
{
    struct explaining e = {.x = out};
    struct explainer explainer = {{on_said, &e}, on_begin, on_judged};
    struct replay_setup replay = {
        .path = setup->path,
        .paths = setup->paths,
        .log = setup->log,
        .derived = on_derived,
        .ctx = &e,
        .explainer = &explainer,
    };
    struct replay_report report;
    int rc;

    *out = (struct explanation){
        .latest = NAN, .value = NAN, .threshold = NAN, .result = NAN};
    rc = read_log(&e, setup, err);
    replay.until = out->ended; /* nothing is said of it behind its end */
    if (rc == 0)
        rc = replay_run(&replay, &report, err);
    if (rc == 0 && e.failed)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    lines_fini(&e.said);
    logtrial_fini(&e.trial);
    return rc;
}
