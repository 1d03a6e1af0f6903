/* SPDX-License-Identifier: MIT */
#include "manager/status.h"

#include "core/buf.h"
#include "core/clock.h"
#include "json.h"
#include "manager/metrics.h"
#include "manager/state.h"
#include "manager/trial.h"
#include "runner/runner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *
state_name(const struct manager *m)
{
    switch (m->dispatcher.phase) {
    case PHASE_STARTING:
        return m->end.known ? "stopping" : "starting";
    case PHASE_RUNNING:
        return m->end.known          ? "stopping"
               : m->scheduler.paused ? "paused"
                                     : "running";
    case PHASE_CLOSING:
    case PHASE_DONE:
        break;
    }
    return "ending";
}

/* A limit; null where it is 0, which is none. */
static void
add_limit(struct json_writer *w, const char *key, double value)
{
    json_add_number(w, key, value > 0 ? value : (double)NAN);
}

static uint64_t
count_waiting(const struct manager *m)
{
    uint64_t n = 0;

    for (const struct trial *t = m->live.first; t != NULL; t = t->next)
        n += trial_waits(t);
    return n;
}

/* How many of the trials that run wait for a machine. */
static uint64_t
count_queued(const struct manager *m)
{
    uint64_t n = 0;

    for (const struct trial *t = m->live.first; t != NULL; t = t->next)
        n += t->run != NULL && t->run->queued;
    return n;
}

#define FRONT_MAX 1000 /* points that are listed */

/* With objectives the best are those of the front. */
static void
add_front(struct json_writer *w, const struct goals *g)
{
    pareto_write_best(&g->front, FRONT_MAX, NULL, NULL, w);
    json_add_text(w, "objective", g->of->items[0].name);
    json_add_unsigned(w, "front", g->front.n);
    pareto_write_growth(&g->front, g->hypervolume, w);
}

static void
add_best(struct json_writer *w, const struct progress *p)
{
    if (!json_open_object_if(w, "best", p->has_best))
        return;
    json_add_text(w, "trial", p->best_trial);
    json_add_number(w, "value", p->best);
    if (p->budgets_differ)
        json_add_number(w, "budget", p->best_budget);
    json_close(w);
}

static void
add_recent(struct json_writer *w, const struct recent *r)
{
    json_open_array(w, "recent");
    for (unsigned i = 0; i < recent_count(r); i++)
        json_add_number(w, NULL, recent_at(r, i));
    json_close(w);
}

static void
add_origin(struct json_writer *w, const struct trial *t)
{
    bool has = t->origin.how != ORIGIN_NONE;
    char from[24];

    snprintf(from, sizeof from, "%05llu", (unsigned long long)t->origin.from);
    json_add_text(w, "from", has ? from : NULL);
    json_add_text(w, "from_how", has ? origin_word(t->origin.how) : NULL);
}

static const char *
status_of(const struct trial *t)
{
    return t->stop != STOP_NOT                ? "stopping"
           : t->run != NULL && t->run->queued ? "queued"
                                              : trial_state_name(t->state);
}

/* Adds where a trial of another machine is, and how long it was queued. */
static void
add_place(struct json_writer *w, const struct trial *t, int64_t now_ns)
{
    struct buf place;
    int64_t began_ns;

    buf_init(&place, 4096);
    run_describe(t->run, &place);
    if (place.len > 0) {
        began_ns = t->run->queued      ? now_ns
                   : t->started_ns > 0 ? t->started_ns
                                       : t->run->asked_ns;
        json_add_text(w, "place", buf_text(&place));
        json_add_number(w, "queued_s",
                        fmax(0, (double)(began_ns - t->run->asked_ns) / 1e9));
    }
    buf_fini(&place);
}

static void
add_trial(struct json_writer *w, const struct trial *t, int64_t now_ns)
{
    int64_t end_ns = t->ended_ns > 0 ? t->ended_ns : now_ns;

    json_open_object(w, NULL);
    json_add_text(w, "trial", t->id);
    json_add_unsigned(w, "attempt", t->attempt);
    json_add_text(w, "status", status_of(t));
    add_place(w, t, now_ns);
    json_add_number(w, "latest",
                    t->final.given    ? t->final.value
                    : t->latest.given ? t->latest.value
                                      : (double)NAN);
    json_add_unsigned(w, "reports", t->sent);
    json_add_number(
        w, "elapsed_s",
        t->started_ns == 0 ? 0 : (double)(end_ns - t->started_ns) / 1e9);
    add_origin(w, t);
    add_recent(w, &t->recent);
    json_add_raw(w, "parameters", t->parameters);
    json_close(w);
}

void
status_write(const struct manager *m, uint64_t rows, struct buf *out)
{
    struct json_writer w = json_begin_object(out);
    int64_t now_ns = clock_monotonic_ns();
    struct budget budget = m->budget;
    const struct trial *t = m->live.first;

    budget_count(&budget, now_ns);
    json_add_text(&w, "experiment", m->folder.id);
    json_add_text(&w, "folder", m->folder.path);
    json_add_unsigned(&w, "pid", (uint64_t)getpid());
    json_add_text(&w, "state", state_name(m));
    if (strcmp(state_name(m), "paused") == 0)
        json_add_text(&w, "reason", failing_why_paused(&m->failing));
    json_add_unsigned(&w, "concurrency", m->scheduler.concurrency);
    json_add_unsigned_if(&w, "max_trials", m->scheduler.max_trials > 0,
                         m->scheduler.max_trials);
    add_limit(&w, "max_duration_s", (double)budget.max_ms / 1e3);
    json_add_number(&w, "elapsed_s", (double)budget.used_ns / 1e9);
    json_add_unsigned(&w, "done", m->progress.done);
    json_add_unsigned(&w, "running", m->live.running);
    json_add_unsigned(&w, "queued", count_queued(m));
    json_add_unsigned(&w, "waiting", count_waiting(m));
    json_add_unsigned(&w, "failed", m->progress.failed);
    json_add_unsigned(&w, "stopped", m->progress.stopped);
    json_add_unsigned(&w, "timed_out", m->progress.timed_out);
    json_add_unsigned(&w, "cancelled", m->progress.cancelled);
    json_add_unsigned(&w, "paused", m->progress.set_aside);
    json_add_unsigned(&w, "interrupted", m->progress.interrupted);
    json_add_text(&w, "optimize_mode",
                  m->progress.minimize ? "minimize" : "maximize");
    if (m->goals.of != NULL)
        add_front(&w, &m->goals);
    else
        add_best(&w, &m->progress);
    if (m->blame.machines.changes > 0) {
        json_open_array(&w, "left_out");
        machines_write(&m->blame.machines, &w);
        json_close(&w);
    }
    json_open_array(&w, "trials");
    for (uint64_t i = 0; t != NULL && i < rows; i++, t = t->next)
        add_trial(&w, t, now_ns);
    json_end(&w);
}
