/* SPDX-License-Identifier: MIT */
/* What each recorded frame means to the other assessor. */
#include "replay/whatif_state.h"

#include "core/err.h"
#include "dispatcher/series.h"
#include "dispatcher/side.h"
#include "dispatcher/router.h"
#include "frame.h"
#include "replay/script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- trials ---- */

static void *
number_pointer(size_t n)
{
    return (void *)(uintptr_t)n;
}

static struct whatif_trial *
find(const struct whatif_walk *w, const char *job)
{
    size_t n = (uintptr_t)map_get(&w->jobs, job, strlen(job));

    return n == 0 ? NULL : &w->out->trials[n - 1];
}

/* NULL: out of memory. */
static struct whatif_trial *
get(struct whatif_walk *w, const char *job, const struct parameter_id *id)
{
    struct whatif *out = w->out;
    struct whatif_trial *t = find(w, job);

    if (t == NULL && out->n == out->cap) {
        size_t cap = out->cap == 0 ? 64 : 2 * out->cap;
        void *grown = realloc(out->trials, cap * sizeof *out->trials);

        if (grown == NULL)
            return NULL;
        out->trials = grown;
        out->cap = cap;
    }
    if (t == NULL) {
        t = &out->trials[out->n];
        *t = (struct whatif_trial){.job = strdup(job),
                                   .id = script_parameter_key(id)};
        if (t->job == NULL || t->id == NULL ||
            map_put(&w->jobs, job, strlen(job), number_pointer(out->n + 1)) !=
                0) {
            free(t->job);
            free(t->id);
            return NULL;
        }
        t->given_out = (uintptr_t)map_get(&w->given_out, t->id, strlen(t->id));
        out->n++;
    }
    return t;
}

/* ---- the manager's frames ---- */

/* What was really reported; NULL: out of memory. */
static const struct series *
see(struct whatif_walk *w, const struct metric *m)
{
    struct series *h = series_get(w->seen, m->job);

    if (h == NULL)
        return NULL;
    if (m->attempt > h->attempt)
        series_restart(h, m->attempt);
    return series_enter(h, m->sequence, m->value) < 0 ? NULL : h;
}

/* The end that the other assessor would have seen behind its stop. */
static int
end_now(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    struct command end = {.code = CMD_TRIAL_END, .arrival = cmd->arrival};

    end.end = (struct trial_end){.job = cmd->metric.job,
                                 .event = END_EARLY_STOPPED,
                                 .attempt = cmd->metric.attempt,
                                 .stopped = true};
    return side_command(w->assessing, &end, err);
}

static int
take_report(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t = get(w, cmd->metric.job, &cmd->metric.parameter);
    const struct series *h = see(w, &cmd->metric);
    struct whatif_stop stop;

    if (t == NULL || h == NULL)
        return err_set(err, ERR_MEMORY, "what-if: out of memory");
    t->steps = h->n;
    stop = (struct whatif_stop){true, h->n - 1,
                                h->n == 0 ? NAN : h->values[h->n - 1],
                                cmd->arrival, w->time_us};
    if (map_get(&w->kills, &cmd->arrival, sizeof cmd->arrival) != NULL)
        t->really = stop;
    if (t->then.stops)
        return 0;
    w->kills_now = false;
    if (side_command(w->assessing, cmd, err) != 0)
        return -1;
    if (!w->kills_now)
        return 0;
    t->then = stop;
    return end_now(w, cmd, err);
}

static int
take_end(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t = get(w, cmd->end.job, &cmd->end.parameter);

    if (t == NULL)
        return err_set(err, ERR_MEMORY, "what-if: out of memory");
    t->ended = true;
    t->event = cmd->end.event;
    t->end_us = w->time_us;
    series_free(series_remove(w->seen, cmd->end.job));
    return t->then.stops ? 0 : side_command(w->assessing, cmd, err);
}

static int
take_loss(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    for (size_t i = 0; i < cmd->n_runs; i++)
        series_free(series_remove(w->seen, cmd->runs[i].job));
    return side_command(w->assessing, cmd, err);
}

static int
take_final(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t = get(w, cmd->metric.job, &cmd->metric.parameter);

    if (t == NULL)
        return err_set(err, ERR_MEMORY, "what-if: out of memory");
    if (!t->has_final) {
        t->has_final = true;
        t->final = cmd->metric.value;
    }
    return 0;
}

static int
take_command(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    if (cmd->code == CMD_METRIC && cmd->metric.type == METRIC_FINAL)
        return take_final(w, cmd, err);
    if (cmd->code == CMD_METRIC && cmd->metric.type == METRIC_PERIODICAL &&
        cmd->metric.has_value)
        return take_report(w, cmd, err);
    if (cmd->code == CMD_TRIAL_END && !cmd->tuner_half)
        return take_end(w, cmd, err);
    if (cmd->code == CMD_REQUEST_TRIALS && cmd->n_runs > 0)
        return take_loss(w, cmd, err);
    return 0;
}

static int
take_chain(struct whatif_walk *w, struct chain *chain, struct err *err)
{
    struct command *next;
    int rc = 0;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        rc = rc != 0 ? rc : take_command(w, cmd, err);
        command_free(cmd);
    }
    return rc;
}

int
whatif_in(struct whatif_walk *w, const struct record *r, struct err *err)
{
    struct routed routed = {0};
    struct frame frame = {.payload = r->payload + 2, .len = r->len - 2};
    int rc;

    if (r->len < 2)
        return 0; /* replay tells */
    memcpy(frame.code, r->payload, 2);
    if (router_frame(w->router, &frame, r->number, &routed) == ROUTER_MEMORY)
        return err_set(err, ERR_MEMORY, "what-if: out of memory");
    rc = take_chain(w, &routed.by_default, err);
    return take_chain(w, &routed.assessor, err) != 0 ? -1 : rc;
}

/* ---- the dispatcher's frames ---- */

static void
note_given_out(struct whatif_walk *w, const struct parameter_id *id,
               uint64_t cause)
{
    char *key = script_parameter_key(id);

    if (key == NULL ||
        (map_get(&w->given_out, key, strlen(key)) == NULL &&
         map_put(&w->given_out, key, strlen(key), number_pointer(cause)) != 0))
        w->failed = true;
    free(key);
}

int
whatif_out(struct whatif_walk *w, const struct record *r, struct err *err)
{
    struct emission e;

    if (emission_of_record(r, &e, &w->text) == 0) {
        router_written(w->router, &e);
        if (e.code == CMD_NEW_TRIAL && e.parameter.kind != PARAMETER_NONE)
            note_given_out(w, &e.parameter, r->number);
    }
    return w->failed || w->text.failed
               ? err_set(err, ERR_MEMORY, "what-if: out of memory")
               : 0;
}
