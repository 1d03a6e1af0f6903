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
add_best(struct buf *out, const struct results *r)
{
    const struct result *best = results_best(r);
    double value;

    if (best == NULL) {
        buf_add_text(out, "\"best\": null, ");
        return;
    }
    buf_add_text(out, "\"best\": {");
    json_write_text_member(out, "trial", best->trial);
    buf_add_text(out, "\"value\": ");
    results_value(best, &value);
    json_write_number(out, value);
    buf_add_text(out, "}, ");
}

static void
add_limits(struct buf *out, const struct budget *b)
{
    buf_add_text(out, "\"max_trials\": ");
    if (b->max_trials > 0)
        buf_printf(out, "%llu", (unsigned long long)b->max_trials);
    else
        buf_add_text(out, "null");
    buf_add_text(out, ", ");
    json_write_number_member(out, "max_duration_s",
                             b->max_ms > 0 ? (double)b->max_ms / 1e3
                                           : (double)NAN);
    json_write_number_member(out, "elapsed_s", (double)b->used_ns / 1e9);
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
    struct budget b = {0};

    budget_load(&b, r->folder);
    buf_add_char(out, '{');
    json_write_text_member(out, "experiment", r->id);
    json_write_text_member(out, "folder", r->folder);
    json_write_text_member(out, "pid", NULL);
    json_write_text_member(out, "state", states[r->state]);
    json_write_text_member(out, "reason", r->reason);
    json_write_text_member(out, "concurrency", NULL);
    add_limits(out, &b);
    buf_printf(out,
               "\"done\": %zu, \"running\": 0, \"waiting\": 0, "
               "\"failed\": %zu, \"stopped\": %zu, \"cancelled\": %zu, "
               "\"paused\": %zu, \"interrupted\": %zu, \"unended\": %zu, ",
               r->n - count(r, is_interrupted), count(r, is_failed),
               count(r, is_stopped), count(r, is_cancelled),
               count(r, is_paused), count(r, is_interrupted), r->unended);
    json_write_text_member(out, "optimize_mode",
                           r->minimize ? "minimize" : "maximize");
    add_best(out, r);
    buf_add_text(out, "\"trials\": []}");
}
