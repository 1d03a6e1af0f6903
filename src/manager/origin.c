/* SPDX-License-Identifier: MIT */
#include "manager/origin.h"

#include "core/err.h"
#include "core/number.h"
#include "manager/checkpoints.h"
#include "manager/parameters.h"
#include "manager/progress.h"
#include "manager/resume_log.h"
#include "manager/trial.h"

#include <stdio.h>
#include <string.h>

/* A clone waits only for a trial that was told to end; a promoted trial is the
 * same one as `from`, and cannot run twice at a time. */
bool
origin_waits(const struct trial *from, const struct trial *t, char *why,
             size_t size)
{
    if (t->origin.how == ORIGIN_NONE || t->attempt > 0 || from == NULL ||
        (t->origin.how == ORIGIN_CLONED && !trial_stops_well(from)))
        return false;
    snprintf(why, size,
             "trial %s, from whose checkpoint it goes on, has not "
             "ended",
             from->id);
    return true;
}

void
origin_pin(struct checkpoints *c, const struct trial *t)
{
    if (t->origin.how != ORIGIN_NONE)
        checkpoints_pin(c, t->origin.from);
}

/* Says that the trial begins at its first step.  Its program may know better:
 * PBT's folders are not ours. */
static void
warn_no_checkpoint(struct progress *p, const struct trial *t)
{
    if (p->no_checkpoint_once)
        return;
    p->no_checkpoint_once = true;
    progress_warn(p,
                  "tunepipe: warning: trial %s goes on from trial %05llu, "
                  "which has saved no checkpoint (tunepipe trial checkpoint): "
                  "it begins at its first step, as others like it will",
                  t->id, (unsigned long long)t->origin.from);
}

/* Says that a step is done twice. */
static void
warn_early(struct progress *p, const struct trial *t)
{
    char who[32] = "it";

    if (p->early_checkpoint_once)
        return;
    p->early_checkpoint_once = true;
    if (t->attempt == 0)
        snprintf(who, sizeof who, "trial %05llu",
                 (unsigned long long)t->origin.from);
    progress_warn(p,
                  "tunepipe: warning: trial %s goes on from a checkpoint that "
                  "%s saved one report before its last, so that a step is done "
                  "twice: save behind the step's report, or with it (tunepipe "
                  "trial report --checkpoint FILE VALUE, in Python "
                  "report(value, checkpoint=FILE))",
                  t->id, who);
}

void
origin_unpin(struct checkpoints *c, struct progress *p, struct trial *t)
{
    if (p != NULL && checkpoints_are_early(c, t))
        warn_early(p, t);
    if (t->origin.how == ORIGIN_NONE || t->origin.settled)
        return;
    t->origin.settled = true;
    if (p != NULL && t->restore == 0)
        warn_no_checkpoint(p, t);
    checkpoints_unpin(c, t->origin.from,
                      p != NULL && t->origin.how == ORIGIN_PROMOTED);
}

void
origin_hear_end(void *ctx, const struct attempt_end *end)
{
    if (end->how == ATTEMPT_JUDGED)
        origin_unpin(ctx, NULL, end->trial);
}

static void
release(struct checkpoints *c, const struct map *live, uint64_t number)
{
    checkpoints_release(c, number,
                        map_get(live, &number, sizeof number) == NULL);
}

/* Where this trial is a promotion that was started, the trial that it was
 * promoted from needs its checkpoints no more. */
static void
release_promoted(struct checkpoints *c, const struct map *live,
                 const struct logged_trial *p)
{
    struct suggestion s;

    if (p->record == NULL || !p->started ||
        suggestion_read(p->record, strlen(p->record), &s, NULL) != 0)
        return;
    if (s.origin.how == ORIGIN_PROMOTED)
        release(c, live, s.origin.from);
    suggestion_fini(&s);
}

void
origin_release(struct checkpoints *c, const struct map *live,
               const struct resume_log *log)
{
    if (c->n == 0)
        return;
    for (const struct logged_trial *p = log->first; p != NULL; p = p->next) {
        uint64_t number;

        release_promoted(c, live, p);
        if (p->released && number_parse_u64(p->id, strlen(p->id), &number))
            release(c, live, number);
    }
}

void
origin_release_again(struct checkpoints *c, const struct map *live,
                     const char *folder)
{
    struct resume_log log = {0};

    if (c->n == 0)
        return;
    c->deferred = true;
    if (resume_log_load(&log, folder, NULL) == 0)
        origin_release(c, live, &log);
    resume_log_fini(&log);
}
