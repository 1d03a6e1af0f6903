/* SPDX-License-Identifier: MIT */
#include "manager/coordinator.h"

#include "core/clock.h"
#include "core/err.h"
#include "manager/budget.h"
#include "manager/ending.h"
#include "manager/experiment_end.h"
#include "manager/experiment_folder.h"
#include "manager/failing.h"
#include "manager/goals.h"
#include "manager/results.h"
#include "manager/launch.h"
#include "manager/machine.h"
#include "manager/placing.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/scheduler.h"
#include "manager/trial.h"

/* Writes down what there is now; the budget has it already. */
static int
keep(struct coordinator *c, struct err *err)
{
    budget_count(c->budget, clock_monotonic_ns());
    return budget_save(c->budget, c->folder->path, err);
}

/* There may be more to do at once. */
static void
stir(struct coordinator *c)
{
    placing_wake(c->placing);
    progress_touch(c->progress);
}

static int
check_open(const struct coordinator *c, struct err *err)
{
    if (!c->end->known)
        return 0;
    return err_set(err, ERR_INPUT, "the experiment ends already: %s",
                   c->end->outcome->reason);
}

int
coordinator_resize(struct coordinator *c, uint64_t concurrency, struct err *err)
{
    uint64_t before = c->budget->concurrency;

    if (concurrency == 0)
        return err_set(err, ERR_INPUT,
                       "trialConcurrency: expected at least 1, got 0; to begin "
                       "no more trials: tunepipe pause");
    if (check_open(c, err) != 0 ||
        machine_allow_files(concurrency + c->scheduler->ahead,
                            c->launch->descriptors, err) != 0)
        return -1;
    c->budget->concurrency = concurrency;
    if (keep(c, err) != 0) {
        c->budget->concurrency = before;
        return -1;
    }
    c->scheduler->concurrency = concurrency;
    stir(c);
    return 0;
}

static int
set_paused(struct coordinator *c, bool paused, struct err *err)
{
    struct budget before = *c->budget;
    bool was = c->scheduler->paused;

    if (check_open(c, err) != 0)
        return -1;
    c->budget->paused = paused;
    c->budget->halted = paused && before.halted;
    if (keep(c, err) != 0) {
        c->budget->paused = before.paused;
        c->budget->halted = before.halted;
        return -1;
    }
    c->scheduler->paused = c->progress->paused = paused;
    if (!paused)
        failing_continued(c->failing);
    stir(c);
    if (paused != was)
        publish_experiment(c->publish,
                           paused ? EVENT_EXPERIMENT_PAUSED
                                  : EVENT_EXPERIMENT_CONTINUED,
                           NULL);
    return 0;
}

int
coordinator_pause(struct coordinator *c, struct err *err)
{
    return set_paused(c, true, err);
}

int
coordinator_continue(struct coordinator *c, struct err *err)
{
    return set_paused(c, false, err);
}

int
coordinator_limit(struct coordinator *c, uint64_t max_trials, int64_t max_ms,
                  struct err *err)
{
    struct budget before = *c->budget;

    if (check_open(c, err) != 0)
        return -1;
    if (max_trials > 0)
        c->budget->max_trials = max_trials;
    if (max_ms > 0)
        c->budget->max_ms = max_ms;
    if (keep(c, err) != 0) {
        c->budget->max_trials = before.max_trials;
        c->budget->max_ms = before.max_ms;
        return -1;
    }
    c->scheduler->max_trials = c->progress->max_trials = c->budget->max_trials;
    c->deadline_ns = budget_deadline(c->budget);
    stir(c);
    return 0;
}

int
coordinator_restore(struct coordinator *c, struct err *err)
{
    struct budget kept = {0};

    budget_load(&kept, c->folder->path);
    c->budget->used_ns = kept.used_ns;
    c->budget->concurrency = kept.concurrency;
    c->budget->paused = kept.paused;
    c->scheduler->paused = c->progress->paused = kept.paused;
    c->deadline_ns = budget_deadline(c->budget);
    if (kept.concurrency > 0) {
        c->scheduler->concurrency = kept.concurrency;
        if (machine_allow_files(kept.concurrency + c->scheduler->ahead,
                                c->launch->descriptors, err) != 0)
            return -1;
    }
    return budget_save(c->budget, c->folder->path, err);
}

void
coordinator_count_end(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;
    bool judged = end->how == ATTEMPT_JUDGED;
    struct goals_trial counted = {.trial = t->id, .seconds = end->seconds};
    struct objective_values values;
    struct result result;
    double value;
    struct coordinator *c = ctx;

    if (t->started_ns != 0)
        goals_trial_left(c->goals, t->started_ns);
    if (end->how == ATTEMPT_LEFT || (judged && t->past.recorded))
        return;
    if (judged) { /* else its hours count, and nothing else */
        counted.counts = ending_counts(t->state);
        counted.has_value = t->final.given;
        counted.value = t->final.value;
        result = results_of_trial(t);
        counted.budget = t->budget;
        if (c->goals->of != NULL && results_value(&result, &value) &&
            results_values(c->goals->of, &result, &values))
            counted.values = &values;
    }
    goals_trial_ended(c->goals, &counted);
}

void
coordinator_hear_end(void *ctx, const struct attempt_end *end)
{
    struct coordinator *c = ctx;

    if (end->how == ATTEMPT_JUDGED && !end->trial->past.recorded)
        coordinator_judge(c, clock_monotonic_ns());
}

void
coordinator_judge(struct coordinator *c, int64_t now_ns)
{
    char why[200];

    if (!c->end->known && goals_reached(c->goals, now_ns, why, sizeof why))
        experiment_ends(c->end, MANAGER_REACHED, "%s", why);
}
