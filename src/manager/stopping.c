/* SPDX-License-Identifier: MIT */
#include "manager/stopping.h"

#include "core/clock.h"
#include "manager/dues.h"
#include "manager/trial_step.h"
#include "runner/runner.h"

/* For a wrapper, behind its grace; on another machine. */
#define GIVE_UP_NS 5000000000
#define GIVE_UP_FAR_NS 60000000000

/* SIGTERM, now, and what follows where that does not help. */
static void
terminate_within(const struct stopping *s, struct trial *t, int64_t ns)
{
    bool far = t->run->runner->ops->can & RUNNER_ELSEWHERE;

    dues_set(s->dues, t, TRIAL_DUE_TERM, INT64_MAX);
    dues_set(s->dues, t, TRIAL_DUE_KILL,
             clock_monotonic_ns() + ns + (far ? GIVE_UP_FAR_NS : GIVE_UP_NS));
    run_stop(t->run, RUN_TERMINATE);
}

/* A second SIGTERM would end the grace that the first one began. */
void
stopping_terminate(const struct stopping *s, struct trial *t)
{
    if (t->due[TRIAL_DUE_KILL].place == 0)
        terminate_within(s, t, s->grace_ms * 1000000);
}

void
stopping_hurry(const struct stopping *s, struct trial *t)
{
    terminate_within(s, t, 0);
}

void
stopping_defied(const struct stopping *s, struct trial *t)
{
    if (trial_step(t, TRIAL_ON_DEFIANCE).effects & TRIAL_TERMINATE)
        stopping_terminate(s, t);
}

void
stopping_done(const struct stopping *s, struct trial *t)
{
    t->done = true;
    dues_set(s->dues, t, TRIAL_DUE_LIMIT, INT64_MAX);
    dues_set(s->dues, t, TRIAL_DUE_IDLE, INT64_MAX);
    if (trial_step(t, TRIAL_ON_DONE).effects & TRIAL_TERMINATE)
        stopping_terminate(s, t);
}
