/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A first walk over the log collects what it says itself of the trial: its TR,
 * metrics, KI, end.  Then the log is replayed with an explainer.  What the
 * plugins say waits in `said` until it is known whom it is about: the TR that
 * comes of an ask, the judgement that comes of an assess. */
#include "replay/explain.h"

#include "core/buf.h"
#include "command.h"
#include "core/err.h"
#include "core/grow.h"
#include "dispatcher/explainer.h"
#include "log/log.h"
#include "history/history.h"
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
    /* What plugins have said since the last question. */
    struct explain_lines said;
    bool failed; /* out of memory */
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
    free(x->added);
    free(x->rule);
    free(x->latest_values);
    free(x->result_values);
    lines_fini(&x->why);
    lines_fini(&x->judged_why);
    *x = (struct explanation){0};
}

/* A copy of a text; NULL stays NULL. */
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
note_suggestion(struct explaining *e, const struct history_fact *f)
{
    if (e->x->suggestion != NULL)
        return; /* the TR was sent again, after a restart */
    e->x->asked = f->record->number;
    e->x->asked_us = f->time_us;
    e->x->suggestion = copy(e, f->payload, f->len);
}

/* The values of a metric that has several, to be freed. */
static char *
values_text(struct explaining *e, const struct history_metric *m)
{
    struct json_writer w;
    struct buf out;
    char *text;

    buf_init(&out, SIZE_MAX / 2);
    w = json_begin_object(&out);
    for (size_t i = 0; i < m->n_values; i++)
        json_add_number(&w, m->values[i].name, m->values[i].value);
    json_close(&w);
    text = buf_take(&out);
    e->failed = e->failed || text == NULL;
    return text;
}

static void
note_metric(struct explaining *e, const struct history_fact *f)
{
    const struct history_metric *m = &f->metric;
    struct explanation *x = e->x;

    if (!m->final && m->standing == HISTORY_COUNTS)
        x->latest_step = m->base + m->sequence;
    if (!m->final && m->standing == HISTORY_COUNTS && m->n_values > 1) {
        free(x->latest_values);
        x->latest_values = values_text(e, m);
    }
    /* The tuner is told a result behind the trial's end, too, where there was
     * none. */
    if (m->final && x->final == 0 && m->n_values > 0 &&
        (m->standing == HISTORY_COUNTS || m->standing == HISTORY_LATE)) {
        x->final = f->record->number;
        x->result = m->values[0].value;
        x->violation = m->violation;
        if (m->n_values > 1)
            x->result_values = values_text(e, m);
    }
}

/* Notes what a fact says of the trial, by any of its names. */
static void
note(struct explaining *e, const struct history_fact *f)
{
    struct explanation *x = e->x;

    switch (f->kind) {
    case HISTORY_SUGGESTED:
        note_suggestion(e, f);
        break;
    case HISTORY_ADDED:
        if (x->recovered == 0) {
            x->recovered = f->record->number;
            x->added = jval_copy_text(f->object);
        }
        break;
    case HISTORY_REPORTED:
        note_metric(e, f);
        break;
    case HISTORY_DECIDED:
        if (f->decision.kills)
            x->killed = f->record->number;
        else if (x->decided == 0 &&
                 strcmp(f->decision.what, trial_decision_name(TRIAL_RELEASE)) !=
                     0)
            /* else the trial has ended before */
            x->decided = f->record->number;
        break;
    case HISTORY_ENDED:
        if (f->trial != NULL) {
            x->ended = f->record->number;
            x->event = f->end;
        }
        break;
    case HISTORY_RECORD:
    case HISTORY_RESUMED:
    case HISTORY_NOTE:
    case HISTORY_BEGUN:
    case HISTORY_EXITED:
        break;
    }
    if (f->trial == NULL)
        return;
    x->attempts = f->trial->attempts;
    x->reports = f->trial->reports;
    if (f->trial->has_latest)
        x->latest = f->trial->latest;
}

/* The name of the tuner or assessor in the head. */
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

/* Whether the fact is about the trial, by any of its names. */
static bool
is_of(const struct logtrial *t, const struct history_fact *f)
{
    const char *label = NULL;
    struct jval v;

    if (f->kind != HISTORY_SUGGESTED && f->kind != HISTORY_ADDED)
        return f->job != NULL && t->job != NULL && strcmp(f->job, t->job) == 0;
    if (jval_get(f->object, "parameter_id", &v))
        jval_string(v, &label, NULL);
    return t->parameter != NULL &&
           strcmp(label != NULL ? label : f->suggestion->id, t->parameter) == 0;
}

static int
walk(struct explaining *e, const char *path, struct err *err)
{
    struct history_reader *h = history_open_log(path, err);
    struct history_fact fact;
    int rc = h == NULL ? -1 : 0;

    while (rc == 0 && (rc = history_next(h, &fact, err)) == 1) {
        if (fact.record->kind == RECORD_HEAD)
            note_head(e, fact.record);
        else if (is_of(&e->trial, &fact))
            note(e, &fact);
        rc = 0;
    }
    history_close(h);
    return rc;
}

/* Finds the command that asked for the suggestion. */
static void
find_asker(struct explanation *x, struct log_reader *file)
{
    struct record r;

    while (x->asked > 0 && log_next(file, &r, NULL) == LOG_RECORD)
        if (r.kind == RECORD_IN && r.number == x->asked && r.len >= 2) {
            memcpy(x->asked_by, r.payload, 2);
            break;
        }
}

static int
read_log(struct explaining *e, const struct explain_setup *setup,
         struct err *err)
{
    struct log_reader *file = log_open(setup->path, 0, err);
    uint64_t frames;
    int rc =
        file == NULL ? -1 : logtrial_expect(&e->trial, file, setup->trial, err);

    if (rc == 0 && log_first_segment(file) > 1 &&
        log_before(file, log_first_segment(file), &e->x->dropped, &frames,
                   err) != 0)
        rc = -1;
    if (rc == 0)
        rc = walk(e, setup->path, err);
    if (rc == 0)
        find_asker(e->x, file);
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

    if (GROW(lines->at, lines->n, lines->cap) != 0) {
        e->failed = true;
        return;
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
    replay.until = out->ended; /* nothing is said of the trial behind its end */
    if (rc == 0)
        rc = replay_run(&replay, &report, err);
    if (rc == 0 && e.failed)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    lines_fini(&e.said);
    logtrial_fini(&e.trial);
    return rc;
}
