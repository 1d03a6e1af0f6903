/* SPDX-License-Identifier: MIT */
#include "replay/standing.h"

#include "core/err.h"
#include "core/grow.h"
#include "dispatcher/emission.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "dispatcher/side.h"
#include "dispatcher/trials.h"
#include "dispatcher/view.h"
#include "log/record.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct standing_walk {
    struct standing *s;
    uint64_t at;
    char code[3]; /* code of the input being handled */
    size_t n_out; /* trials whose parameters are known, which are sorted */
    bool failed;  /* out of memory */
    bool done;
};

void
standing_fini(struct standing *s)
{
    for (size_t i = 0; i < s->n_trials; i++) {
        free(s->trials[i].parameter);
        free(s->trials[i].job);
    }
    free(s->trials);
    free(s->owed);
    free(s->pending[0].at);
    free(s->pending[1].at);
    free(s->input);
    *s = (struct standing){0};
}

/* ---- answers that are still to come ---- */

static void
on_derived(void *ctx, const struct emission *e)
{
    struct standing_walk *w = ctx;
    struct standing_list *list;
    struct standing_pending *at;

    if (w->done || e->sender == SENDER_ROUTER)
        return;
    w->s->kills += e->code == CMD_KILL_TRIAL;
    list = &w->s->pending[e->sender];
    if (list->n > 0 && list->at[list->n - 1].cause == e->cause) {
        list->at[list->n - 1].frames++;
        return;
    }
    if (GROW(list->at, list->n, list->cap) != 0) {
        w->failed = true;
        return;
    }
    at = list->at;
    at[list->n] = (struct standing_pending){.cause = e->cause, .frames = 1};
    memcpy(at[list->n++].code, w->code, sizeof w->code);
}

/* Takes out the cause of an answer that stands in the log; mostly it is an old
 * one. */
static void
arrived(struct standing_list *list, uint64_t cause)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->at[i].cause != cause)
            continue;
        if (--list->at[i].frames == 0)
            memmove(&list->at[i], &list->at[i + 1],
                    (--list->n - i) * sizeof *list->at);
        return;
    }
}

static void
take_input(struct standing_walk *w, const struct record *r)
{
    bool framed = r->kind == RECORD_IN && r->len >= 2;

    w->s->at = r->number;
    w->s->time_us = r->time_us;
    memcpy(w->code, framed ? r->payload : "\0\0", 2);
    free(w->s->input);
    w->s->input = framed ? strndup(r->payload, r->len) : NULL;
    w->failed = w->failed || (framed && w->s->input == NULL);
}

static int
on_next(void *ctx, const struct record *r, struct err *err)
{
    struct standing_walk *w = ctx;

    (void)err;
    if (w->done)
        return 0;
    if (r->kind == RECORD_TUNER)
        arrived(&w->s->pending[SENDER_DEFAULT], r->number);
    else if (r->kind == RECORD_ASSESSOR)
        arrived(&w->s->pending[SENDER_ASSESSOR], r->number);
    else if (r->kind == RECORD_IN || r->kind == RECORD_TUNER_FRAME ||
             r->kind == RECORD_ASSESSOR_FRAME ||
             r->kind == RECORD_TUNER_EVENT || r->kind == RECORD_ASSESSOR_EVENT)
        take_input(w, r);
    return 0;
}

/* ---- the session as it is then ---- */

static void
on_owed(void *ctx, uint64_t first, uint64_t count)
{
    struct standing_walk *w = ctx;
    struct standing *s = w->s;

    if (GROW(s->owed, s->n_owed, s->owed_cap) != 0)
        w->failed = true;
    else
        s->owed[s->n_owed++] = (struct standing_run){first, count};
}

static struct standing_trial *
add_trial(struct standing_walk *w)
{
    struct standing *s = w->s;

    if (GROW(s->trials, s->n_trials, s->trials_cap) != 0) {
        w->failed = true;
        return NULL;
    }
    s->trials[s->n_trials] = (struct standing_trial){.number = UINT64_MAX};
    return &s->trials[s->n_trials++];
}

static char *
parameter_text(uint64_t number, const char *label)
{
    char text[24];

    if (label != NULL)
        return strdup(label);
    snprintf(text, sizeof text, "%" PRIu64, number);
    return strdup(text);
}

static void
take_trial(struct standing_walk *w, const struct trial *trial)
{
    struct standing_trial *to;

    if (trial->ended) {
        w->s->resultless += !trial->result_told;
        return;
    }
    to = add_trial(w);
    if (to == NULL)
        return;
    to->parameter = parameter_text(trial->id, trial->label);
    to->number = trial->id;
    to->out = true;
    to->told = trial->result_told;
    w->failed = w->failed || to->parameter == NULL;
}

/* Finds a trial.  They are in the order of their numbers: all but labelled ones
 * are found at once. */
static struct standing_trial *
find_trial(const struct standing *s, size_t n, const struct parameter_id *id)
{
    size_t low = 0, high = n;

    if (id->kind == PARAMETER_LABEL)
        for (size_t i = 0; i < n; i++)
            if (s->trials[i].parameter != NULL &&
                strcmp(s->trials[i].parameter, id->label) == 0)
                return &s->trials[i];
    if (id->kind != PARAMETER_NUMBER)
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->trials[middle].number < id->number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && s->trials[low].number == id->number ? &s->trials[low]
                                                          : NULL;
}

static void
on_living(void *ctx, const struct living_view *v)
{
    struct standing_walk *w = ctx;
    struct standing_trial *to = find_trial(w->s, w->n_out, v->parameter);

    if (to == NULL || to->job != NULL) {
        to = add_trial(w);
        if (to != NULL && v->parameter->kind != PARAMETER_NONE) {
            to->parameter =
                parameter_text(v->parameter->number, v->parameter->label);
            w->failed = w->failed || to->parameter == NULL;
        }
    }
    if (to == NULL)
        return;
    to->job = strndup(v->job, v->job_len);
    to->attempt = v->attempt;
    to->stopped = v->killed;
    to->has_latest = v->has_marks;
    to->latest = v->latest;
    w->failed = w->failed || to->job == NULL;
}

static int
on_reached(void *ctx, struct session *session, struct err *err)
{
    struct standing_walk *w = ctx;
    struct viewer viewer = {on_owed, on_living, w};
    struct tuning_view view;
    struct trial **trials;
    size_t n;

    side_see(session->sides[SENDER_DEFAULT], &view, &viewer);
    trials = trials_sorted(view.trials, &n);
    w->failed = w->failed || trials == NULL;
    for (size_t i = 0; trials != NULL && i < n; i++)
        take_trial(w, trials[i]);
    free(trials);
    w->n_out = w->s->n_trials;
    router_see(session->router, &viewer);
    if (w->s->at == 0)
        w->s->at = w->at; /* nothing but the snapshot was needed */
    w->s->has_space = view.has_space;
    w->s->next_id = view.next_id;
    w->s->finished = trials_n_finished(view.trials);
    w->done = true;
    if (w->failed)
        return err_set(err, ERR_MEMORY, "out of memory");
    return -1; /* ends the walk */
}

int
standing_run(const struct standing_setup *setup, struct standing *out,
             struct err *err)
{
    struct standing_walk walk = {.s = out, .at = setup->at};
    struct replay_setup replay = {
        .path = setup->path,
        .paths = setup->paths,
        .log = setup->log,
        .derived = on_derived,
        .until = setup->at,
        .next = on_next,
        .reached = on_reached,
        .ctx = &walk,
    };
    struct replay_report report;
    int rc;

    *out = (struct standing){0};
    rc = replay_run(&replay, &report, err);
    return walk.done && !walk.failed ? 0 : rc;
}
