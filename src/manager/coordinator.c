/* SPDX-License-Identifier: MIT */
#include "manager/coordinator.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "manager/descriptors.h"
#include "manager/ending.h"
#include "manager/failing.h"
#include "manager/happened.h"
#include "manager/placing.h"
#include "manager/state.h"
#include "manager/trial.h"

/* Writes down what there is now; the budget has it already. */
static int
keep(struct manager *m, struct err *err)
{
    budget_count(&m->budget, clock_monotonic_ns());
    return budget_save(&m->budget, m->folder.path, err);
}

/* There may be more to do at once. */
static void
stir(struct manager *m)
{
    placing_wake(m);
    progress_touch(&m->progress);
}

static int
check_open(const struct manager *m, struct err *err)
{
    if (!m->end_known)
        return 0;
    return err_set(err, ERR_INPUT, "the experiment ends already: %s",
                   m->outcome->reason);
}

int
coordinator_resize(struct manager *m, uint64_t concurrency, struct err *err)
{
    uint64_t before = m->budget.concurrency;

    if (concurrency == 0)
        return err_set(err, ERR_INPUT,
                       "trialConcurrency: expected at least 1, got 0; to begin "
                       "no more trials: tunepipe pause");
    if (check_open(m, err) != 0 ||
        descriptors_allow(concurrency + m->scheduler.ahead, err) != 0)
        return -1;
    m->budget.concurrency = concurrency;
    if (keep(m, err) != 0) {
        m->budget.concurrency = before;
        return -1;
    }
    m->scheduler.concurrency = concurrency;
    stir(m);
    return 0;
}

static int
set_paused(struct manager *m, bool paused, struct err *err)
{
    struct budget before = m->budget;
    bool was = m->scheduler.paused;

    if (check_open(m, err) != 0)
        return -1;
    m->budget.paused = paused;
    m->budget.halted = paused && before.halted;
    if (keep(m, err) != 0) {
        m->budget.paused = before.paused;
        m->budget.halted = before.halted;
        return -1;
    }
    m->scheduler.paused = m->progress.paused = paused;
    if (!paused)
        failing_continued(m);
    stir(m);
    if (paused != was)
        happened_experiment(
            m, paused ? EVENT_EXPERIMENT_PAUSED : EVENT_EXPERIMENT_CONTINUED,
            NULL);
    return 0;
}

int
coordinator_pause(struct manager *m, struct err *err)
{
    return set_paused(m, true, err);
}

int
coordinator_continue(struct manager *m, struct err *err)
{
    return set_paused(m, false, err);
}

int
coordinator_limit(struct manager *m, uint64_t max_trials, int64_t max_ms,
                  struct err *err)
{
    struct budget before = m->budget;

    if (check_open(m, err) != 0)
        return -1;
    if (max_trials > 0)
        m->budget.max_trials = max_trials;
    if (max_ms > 0)
        m->budget.max_ms = max_ms;
    if (keep(m, err) != 0) {
        m->budget.max_trials = before.max_trials;
        m->budget.max_ms = before.max_ms;
        return -1;
    }
    m->scheduler.max_trials = m->progress.max_trials = m->budget.max_trials;
    m->experiment_deadline_ns = budget_deadline(&m->budget);
    stir(m);
    return 0;
}

int
coordinator_restore(struct manager *m, struct err *err)
{
    struct budget kept = {0};

    budget_load(&kept, m->folder.path);
    m->budget.used_ns = kept.used_ns;
    m->budget.concurrency = kept.concurrency;
    m->budget.paused = kept.paused;
    m->scheduler.paused = m->progress.paused = kept.paused;
    m->experiment_deadline_ns = budget_deadline(&m->budget);
    if (kept.concurrency > 0) {
        m->scheduler.concurrency = kept.concurrency;
        if (descriptors_allow(kept.concurrency + m->scheduler.ahead, err) != 0)
            return -1;
    }
    return budget_save(&m->budget, m->folder.path, err);
}

void
coordinator_hear_end(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;
    bool judged = end->how == ATTEMPT_JUDGED;
    struct finish_end counted = {.trial = t->id, .seconds = end->seconds};
    struct manager *m = ctx;

    if (t->started_ns != 0)
        finish_left(&m->finish, t->started_ns);
    if (end->how == ATTEMPT_LEFT || (judged && t->past.recorded))
        return;
    if (judged) { /* else its hours count, and nothing else */
        counted.counts = ending_counts(t->state);
        counted.has_value = t->final.given;
        counted.value = t->final.value;
    }
    finish_ended(&m->finish, &counted);
    if (judged)
        coordinator_judge(m, clock_monotonic_ns());
}

void
coordinator_judge(struct manager *m, int64_t now_ns)
{
    char why[200];

    if (!m->end_known && finish_reached(&m->finish, now_ns, why, sizeof why))
        manager_end(m, MANAGER_REACHED, "%s", why);
}
