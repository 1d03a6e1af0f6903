/* SPDX-License-Identifier: MIT */
#include "manager/status.h"

#include "core/buf.h"
#include "core/clock.h"
#include "json.h"
#include "manager/failing.h"
#include "manager/metrics.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *
state_name(const struct manager *m)
{
    switch (m->phase) {
    case PHASE_STARTING:
        return m->end_known ? "stopping" : "starting";
    case PHASE_RUNNING:
        return m->end_known          ? "stopping"
               : m->scheduler.paused ? "paused"
                                     : "running";
    case PHASE_CLOSING:
    case PHASE_DONE:
        break;
    }
    return "ending";
}

static void
add_uint(struct buf *out, const char *key, uint64_t n)
{
    buf_printf(out, "\"%s\": %llu, ", key, (unsigned long long)n);
}

/* A limit; null where it is 0, which is none. */
static void
add_limit(struct buf *out, const char *key, double value)
{
    json_write_number_member(out, key, value > 0 ? value : (double)NAN);
}

static uint64_t
count_waiting(const struct manager *m)
{
    uint64_t n = 0;

    for (const struct trial *t = m->live; t != NULL; t = t->next)
        n += trial_waits(t);
    return n;
}

static void
add_best(struct buf *out, const struct progress *p)
{
    if (!p->has_best) {
        buf_add_text(out, "\"best\": null, ");
        return;
    }
    buf_add_text(out, "\"best\": {");
    json_write_text_member(out, "trial", p->best_trial);
    buf_add_text(out, "\"value\": ");
    json_write_number(out, p->best);
    buf_add_text(out, "}, ");
}

static void
add_recent(struct buf *out, const struct recent *r)
{
    buf_add_text(out, "\"recent\": [");
    for (unsigned i = 0; i < recent_count(r); i++) {
        buf_add_text(out, i > 0 ? ", " : "");
        json_write_number(out, recent_at(r, i));
    }
    buf_add_text(out, "], ");
}

static void
add_origin(struct buf *out, const struct trial *t)
{
    if (t->origin.how != ORIGIN_NONE)
        buf_printf(out, "\"from\": \"%05llu\", \"from_how\": \"%s\", ",
                   (unsigned long long)t->origin.from,
                   origin_word(t->origin.how));
    else
        buf_add_text(out, "\"from\": null, \"from_how\": null, ");
}

static void
add_trial(struct buf *out, const struct trial *t, int64_t now_ns)
{
    int64_t end_ns = t->ended_ns > 0 ? t->ended_ns : now_ns;

    buf_add_char(out, '{');
    json_write_text_member(out, "trial", t->id);
    add_uint(out, "attempt", t->attempt);
    json_write_text_member(out, "status",
                           t->stop != STOP_NOT ? "stopping"
                                               : trial_state_name(t->state));
    json_write_number_member(out, "latest",
                             t->final.given    ? t->final.value
                             : t->latest.given ? t->latest.value
                                               : (double)NAN);
    add_uint(out, "reports", t->sent);
    json_write_number_member(
        out, "elapsed_s",
        t->started_ns == 0 ? 0 : (double)(end_ns - t->started_ns) / 1e9);
    add_origin(out, t);
    add_recent(out, &t->recent);
    buf_printf(out, "\"parameters\": %s}", t->parameters);
}

static void
add_trials(struct buf *out, const struct manager *m, uint64_t rows,
           int64_t now_ns)
{
    const struct trial *t = m->live;

    buf_add_text(out, "\"trials\": [");
    for (uint64_t i = 0; t != NULL && i < rows; i++, t = t->next) {
        buf_add_text(out, i > 0 ? ", " : "");
        add_trial(out, t, now_ns);
    }
    buf_add_char(out, ']');
}

void
status_write(const struct manager *m, uint64_t rows, struct buf *out)
{
    int64_t now_ns = clock_monotonic_ns();
    struct budget budget = m->budget;

    budget_count(&budget, now_ns);
    buf_add_char(out, '{');
    json_write_text_member(out, "experiment", m->folder.id);
    json_write_text_member(out, "folder", m->folder.path);
    add_uint(out, "pid", (uint64_t)getpid());
    json_write_text_member(out, "state", state_name(m));
    if (strcmp(state_name(m), "paused") == 0)
        json_write_text_member(out, "reason", failing_why_paused(m));
    add_uint(out, "concurrency", m->scheduler.concurrency);
    if (m->scheduler.max_trials > 0)
        add_uint(out, "max_trials", m->scheduler.max_trials);
    else
        buf_add_text(out, "\"max_trials\": null, ");
    add_limit(out, "max_duration_s", (double)budget.max_ms / 1e3);
    json_write_number_member(out, "elapsed_s", (double)budget.used_ns / 1e9);
    add_uint(out, "done", m->progress.done);
    add_uint(out, "running", m->n_running);
    add_uint(out, "waiting", count_waiting(m));
    add_uint(out, "failed", m->progress.failed);
    add_uint(out, "stopped", m->progress.stopped);
    add_uint(out, "cancelled", m->progress.cancelled);
    add_uint(out, "paused", m->progress.set_aside);
    add_uint(out, "interrupted", m->progress.interrupted);
    json_write_text_member(out, "optimize_mode",
                           m->progress.minimize ? "minimize" : "maximize");
    add_best(out, &m->progress);
    add_trials(out, m, rows, now_ns);
    buf_add_char(out, '}');
}
