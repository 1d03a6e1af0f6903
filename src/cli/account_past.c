/* SPDX-License-Identifier: MIT */
/* The account of an experiment that no manager runs. */
#include "cli/account_view.h"

#include "core/buf.h"
#include "manager/budget.h"
#include "manager/results.h"
#include "manager/trial.h"

#include <math.h>
#include <stdint.h>

#define FRONT_MAX 1000 /* points that are listed */

static void
add_best(struct json_writer *w, const struct results *r)
{
    const struct result *best = results_best(r);
    double value, budget = results_best_budget(r);

    if (r->objectives != NULL) {
        pareto_write_best(&r->front, FRONT_MAX, NULL, NULL, w);
        json_add_unsigned(w, "front", r->front.n);
        pareto_write_growth(&r->front, pareto_hypervolume(&r->front), w);
        return;
    }
    if (!json_open_object_if(w, "best", best != NULL))
        return;
    results_value(best, &value);
    json_add_text(w, "trial", best->trial);
    json_add_number(w, "value", value);
    if (budget > 0)
        json_add_number(w, "budget", budget);
    json_close(w);
}

static void
add_limits(struct json_writer *w, const struct budget *b)
{
    json_add_unsigned_if(w, "max_trials", b->max_trials > 0, b->max_trials);
    json_add_number(w, "max_duration_s",
                    b->max_ms > 0 ? (double)b->max_ms / 1e3 : (double)NAN);
    json_add_number(w, "elapsed_s", (double)b->used_ns / 1e9);
}

/* Adds how many trials ended how. */
static void
add_counts(struct json_writer *w, const struct results *r)
{
    const size_t *n = r->n_ended;
    uint64_t failed = 0, named;

    for (int state = 0; state < TRIAL_STATES; state++)
        failed += trial_is_failure((enum trial_state)state) ? n[state] : 0;
    named = n[TRIAL_SUCCEEDED] + failed + n[TRIAL_TIMED_OUT] +
            n[TRIAL_CANCELLED] + n[TRIAL_PAUSED] + n[TRIAL_INTERRUPTED];
    json_add_unsigned(w, "done", r->n - n[TRIAL_INTERRUPTED]);
    json_add_unsigned(w, "running", 0);
    json_add_unsigned(w, "waiting", 0);
    json_add_unsigned(w, "failed", failed);
    json_add_unsigned(w, "stopped", r->n - named);
    json_add_unsigned(w, "timed_out", n[TRIAL_TIMED_OUT]);
    json_add_unsigned(w, "cancelled", n[TRIAL_CANCELLED]);
    json_add_unsigned(w, "paused", n[TRIAL_PAUSED]);
    json_add_unsigned(w, "interrupted", n[TRIAL_INTERRUPTED]);
    json_add_unsigned(w, "unended", r->unended);
}

void
account_of_results(const struct results *r, struct buf *out)
{
    static const char *const states[] = {
        [RESULTS_RUNNING] = "running", /* its manager lives and does not listen
                                        */
        [RESULTS_ENDED] = "ended",     [RESULTS_DIED] = "died",
        [RESULTS_QUEUED] = "queued",   [RESULTS_FORKED] = "forked",
    };
    struct json_writer w = json_begin_object(out);
    struct budget b = {0};

    budget_load(&b, r->folder);
    json_add_text(&w, "experiment", r->id);
    json_add_text(&w, "folder", r->folder);
    json_add_text(&w, "pid", NULL);
    json_add_text(&w, "state", states[r->state]);
    json_add_text(&w, "reason",
                  r->state == RESULTS_FORKED ? "not started" : r->reason);
    json_add_text(&w, "concurrency", NULL);
    add_limits(&w, &b);
    add_counts(&w, r);
    json_add_text(&w, "optimize_mode", r->minimize ? "minimize" : "maximize");
    add_best(&w, r);
    json_add_raw(&w, "trials", "[]");
    json_close(&w);
}
