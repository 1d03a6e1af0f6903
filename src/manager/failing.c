/* SPDX-License-Identifier: MIT */
#include "manager/failing.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/file.h"
#include "manager/attempts.h"
#include "manager/budget.h"
#include "manager/dues.h"
#include "manager/ending.h"
#include "manager/experiment_end.h"
#include "manager/experiment_folder.h"
#include "manager/live.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/reading.h"
#include "manager/scheduler.h"
#include "manager/trial_folder.h"
#include "runner/machines.h"
#include "trial/files.h"
#include "trial/stderr_tail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKOFF_MAX_MS 3600000
#define SAME_MAX 3 /* in a row, then something else is wrong than a trial */

/* Doubled after each failure; what has passed since its end counts. */
static int64_t
backoff_ns(const struct failing *f, const struct trial *t)
{
    int64_t ms = f->x->on_failure.backoff_ms, ns, passed;

    for (uint64_t i = 0; i < t->failures && ms < BACKOFF_MAX_MS; i++)
        ms *= 2;
    ns = (ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS) * 1000000;
    if (!t->past.restored || t->outcome.ended_ns == 0)
        return ns;
    passed = clock_realtime_ns() - t->outcome.ended_ns;
    if (passed <= 0)
        return ns; /* the clock was set back */
    return passed < ns ? ns - passed : 0;
}

/* What it reported as its result the tuner has taken as such. */
static bool
has_result(const struct trial *t)
{
    return t->final.given || t->past.told.finals > 0;
}

static void
mark(const struct trial *t, enum trial_state state)
{
    char *path =
        trial_folder_need(t) == 0 ? file_join(t->folder, TRIAL_AGAIN) : NULL;
    char line[600];
    int len = snprintf(line, sizeof line, "%s: %.500s\n",
                       trial_state_name(state), t->why);

    if (path != NULL)
        file_write_plain(path, line, (size_t)len, NULL);
    free(path);
}

static void
show(struct failing *f, const struct trial *t, enum trial_state state,
     double seconds, int64_t wait_ns)
{
    progress_say(f->progress,
                 "trial %s %s: %s (%.1f s); tried again in %.1f s, %llu of "
                 "%llu times",
                 t->id, trial_state_name(state), t->why, seconds,
                 (double)wait_ns / 1e9, (unsigned long long)t->failures + 1,
                 (unsigned long long)f->x->on_failure.retry);
    ending_show_failure(f->ending, t);
}

bool
failing_again(struct failing *f, struct trial *t, enum trial_state state,
              double seconds)
{
    struct trial *next;
    int64_t wait;

    if (!trial_is_failure(state) || t->past.end_told || t->past.recorded ||
        has_result(t) || f->end->known || t->failures >= f->x->on_failure.retry)
        return false;
    next = attempts_next(f->attempts, t);
    if (next == NULL)
        return false;
    wait = backoff_ns(f, t);
    next->failures = t->failures + 1;
    snprintf(next->why, sizeof next->why, "%s", t->why);
    mark(t, state);
    show(f, t, state, seconds, wait);
    attempts_replace(f->attempts, t, next);
    dues_set(f->dues, next, TRIAL_DUE_AGAIN, clock_monotonic_ns() + wait);
    return true;
}

void
failing_found(struct trial *t, const char *experiment_folder, bool judged)
{
    for (uint64_t n = t->attempt + judged; n > 0; n--) {
        struct trial before = {.attempt = n - 1};
        char *path;

        memcpy(before.id, t->id, sizeof before.id);
        if (trial_place(&before, experiment_folder, NULL) != 0)
            return;
        path = file_join(before.folder, TRIAL_AGAIN);
        t->failures += path != NULL && access(path, F_OK) == 0;
        free(path);
        free(before.folder);
    }
}

void
failing_report_value(void *ctx, const struct attempt_end *end)
{
    struct failing *f = ctx;
    struct trial *t = end->trial;
    const struct on_failure *then = &f->x->on_failure;
    size_t len = strlen(t->why);

    if (end->how != ATTEMPT_JUDGED || !trial_is_failure(t->state) ||
        then->then != FAILURE_REPORT || t->final.given)
        return;
    if (!t->past.end_told && t->past.told.finals == 0)
        reading_tell(f->reading, t,
                     &(struct reported){true, then->value, then->values});
    if (then->values != NULL)
        snprintf(t->why + len, sizeof t->why - len, " (reported as %.200s)",
                 then->values);
    else
        snprintf(t->why + len, sizeof t->why - len, " (reported as %.10g)",
                 then->value);
}

/* Whether there is anything that is not started yet. */
static bool
is_more(const struct failing *f)
{
    const struct scheduler *s = f->scheduler;

    if (!s->exhausted && (s->max_trials == 0 || s->started < s->max_trials))
        return true;
    for (const struct trial *t = f->live->first; t != NULL; t = t->next)
        if (trial_waits(t))
            return true;
    return false;
}

static bool
ends(const struct failing *f)
{
    return f->x->on_repeated == REPEATED_END ||
           (f->x->on_repeated == REPEATED_UNSAID &&
            !progress_is_seen(f->progress));
}

static void
end_it(struct failing *f, const struct trial *t)
{
    experiment_ends(f->end, MANAGER_FAILING,
                    "%d trials in a row failed the same way: %.150s", SAME_MAX,
                    t->why);
    if (f->x->on_repeated == REPEATED_UNSAID)
        progress_warn(f->progress,
                      "tunepipe: without a terminal it does not wait to be "
                      "mended; onRepeatedFailure: pause would");
    ending_show_stderr(f->ending, t);
}

static void
pause_it(struct failing *f, const struct trial *t)
{
    bool retries = !f->x->deterministic; /* else it takes no more trials */

    snprintf(f->paused, sizeof f->paused,
             "%d trials in a row failed the same way: %.150s", SAME_MAX,
             t->why);
    progress_warn(f->progress, "tunepipe: warning: %s: no more are started",
                  f->paused);
    ending_show_stderr(f->ending, t);
    f->scheduler->paused = f->progress->paused = f->budget->halted = true;
    budget_keep(f->budget, f->folder->path, f->progress);
    publish_experiment(f->publish, EVENT_EXPERIMENT_PAUSED, t->why);
    progress_warn(
        f->progress,
        "tunepipe: paused; when it is mended: %s%s%stunepipe continue "
        "%s; Ctrl-C ends the experiment, which tunepipe resume %s "
        "takes up again",
        retries ? "tunepipe trial retry " : "", retries ? f->folder->path : "",
        retries ? " --failed, for those that failed, and " : "",
        f->folder->path, f->folder->path);
}

const char *
failing_why_paused(const struct failing *f)
{
    if (!f->scheduler->paused)
        return "";
    return f->paused[0] != '\0' ? f->paused : "somebody paused it";
}

void
failing_continued(struct failing *f)
{
    f->paused[0] = '\0';
}

void
failing_count(void *ctx, const struct attempt_end *end)
{
    struct failing *f = ctx;
    const struct trial *t = end->trial;
    char how[ENDING_HOW_MAX];

    if (end->how != ATTEMPT_JUDGED || t->past.recorded)
        return;
    if (t->state == TRIAL_CANCELLED ||
        machines_why(f->machines, t->outcome.node) != NULL)
        return;
    if (!trial_is_failure(t->state)) {
        f->same = 0;
        return;
    }
    ending_how(t, how);
    f->same = f->same > 0 && strcmp(how, f->last) == 0 ? f->same + 1 : 1;
    memcpy(f->last, how, sizeof how);
    if (f->same < SAME_MAX || f->end->known || !is_more(f) ||
        f->x->on_failure.then == FAILURE_REPORT ||
        f->x->on_repeated == REPEATED_IGNORE)
        return;
    f->same = 0; /* of those that come after the halt */
    if (ends(f))
        end_it(f, t);
    else
        pause_it(f, t);
}
