/* SPDX-License-Identifier: MIT */
#include "manager/blame.h"

#include "core/err.h"
#include "manager/experiment_folder.h"
#include "manager/progress.h"
#include "manager/trial.h"
#include "runner/runner.h"

void
blame_open(struct blame *b)
{
    struct err err = {0};

    if (machines_load(&b->machines, b->folder->path, &err) != 0)
        progress_warn(b->progress,
                      "tunepipe: warning: %s: no machine is left out now",
                      err.text);
}

static void
keep(struct blame *b)
{
    struct err err = {0};

    if (machines_save(&b->machines, b->folder->path, &err) != 0)
        progress_warn(b->progress, "tunepipe: warning: %s", err.text);
}

static void
say(struct blame *b, const char *machine)
{
    progress_warn(b->progress,
                  "tunepipe: left out: %s (%s); tunepipe machine retry %s %s",
                  machine, machines_why(&b->machines, machine), machine,
                  b->folder->path);
    keep(b);
}

void
blame_run_end(struct blame *b, const struct run_end *end)
{
    const char *machine = end->outcome.node;

    if (end->unfit[0] != '\0' &&
        machines_leave_out(&b->machines, machine, end->unfit))
        say(b, machine);
}

/* What its end tells of its machine, if anything: 1 that it is well, -1 that it
 * is not.  How long a trial took, or that somebody ended it, tells nothing. */
static int
tells(const struct attempt_end *end)
{
    const struct trial *t = end->trial;

    if (t->outcome.machine_failed)
        return -1;
    if (end->how == ATTEMPT_LEFT || t->outcome.kind == OUTCOME_LOST)
        return 0;
    if (end->how == ATTEMPT_REPLACED)
        return end->next->failures > t->failures ? -1 : 0;
    return t->state == TRIAL_FAILED ? -1
           : t->state == TRIAL_SUCCEEDED || t->state == TRIAL_STOPPED ||
                   t->state == TRIAL_PAUSED
               ? 1
               : 0;
}

void
blame_hear_end(void *ctx, const struct attempt_end *end)
{
    const char *machine = end->trial->outcome.node;
    struct blame *b = ctx;
    int how = machine[0] != '\0' ? tells(end) : 0;

    if (how == 0)
        return;
    machines_ended(&b->machines, machine, how > 0);
    while ((machine = machines_judge(&b->machines)) != NULL)
        say(b, machine);
}

int
blame_retry(struct blame *b, const char *machine, struct err *err)
{
    if (machines_retry(&b->machines, machine, err) != 0)
        return -1;
    progress_say(b->progress, "tunepipe: taken back: %s", machine);
    keep(b);
    return 0;
}
