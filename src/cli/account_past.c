/* SPDX-License-Identifier: MIT */
/* The account of an experiment that no manager runs. */
#include "cli/account_view.h"

#include "core/buf.h"
#include "manager/budget.h"
#include "manager/results.h"
#include "manager/trial.h"

#include <math.h>
#include <string.h>

static size_t
count(const struct results *r, bool (*is)(const char *status))
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += is(r->items[i].status);
    return n;
}

static bool
is_failed(const char *status)
{
    return trial_is_failure(trial_state_of(status));
}

static bool
is_cancelled(const char *status)
{
    return trial_state_of(status) == TRIAL_CANCELLED;
}

static bool
is_paused(const char *status)
{
    return trial_state_of(status) == TRIAL_PAUSED;
}

static bool
is_interrupted(const char *status)
{
    return trial_state_of(status) == TRIAL_INTERRUPTED;
}

static bool
is_stopped(const char *status)
{
    return !is_failed(status) && strcmp(status, "succeeded") != 0 &&
           !is_cancelled(status) && !is_paused(status) &&
           !is_interrupted(status);
}

static void
add_best(struct json_writer *w, const struct results *r)
{
    const struct result *best = results_best(r);
    double value;

    if (!json_open_object_if(w, "best", best != NULL))
        return;
    results_value(best, &value);
    json_add_text(w, "trial", best->trial);
    json_add_number(w, "value", value);
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

void
account_of_results(const struct results *r, struct buf *out)
{
    static const char *const states[] = {
        [RESULTS_RUNNING] =
            "running", /* its manager lives and does not listen */
        [RESULTS_ENDED] = "ended",
        [RESULTS_DIED] = "died",
    };
    struct json_writer w = json_begin_object(out);
    struct budget b = {0};

    budget_load(&b, r->folder);
    json_add_text(&w, "experiment", r->id);
    json_add_text(&w, "folder", r->folder);
    json_add_text(&w, "pid", NULL);
    json_add_text(&w, "state", states[r->state]);
    json_add_text(&w, "reason", r->reason);
    json_add_text(&w, "concurrency", NULL);
    add_limits(&w, &b);
    json_add_unsigned(&w, "done", r->n - count(r, is_interrupted));
    json_add_unsigned(&w, "running", 0);
    json_add_unsigned(&w, "waiting", 0);
    json_add_unsigned(&w, "failed", count(r, is_failed));
    json_add_unsigned(&w, "stopped", count(r, is_stopped));
    json_add_unsigned(&w, "cancelled", count(r, is_cancelled));
    json_add_unsigned(&w, "paused", count(r, is_paused));
    json_add_unsigned(&w, "interrupted", count(r, is_interrupted));
    json_add_unsigned(&w, "unended", r->unended);
    json_add_text(&w, "optimize_mode", r->minimize ? "minimize" : "maximize");
    add_best(&w, r);
    json_add_raw(&w, "trials", "[]");
    json_close(&w);
}
