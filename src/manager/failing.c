/* SPDX-License-Identifier: MIT */
#include "manager/failing.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/file.h"
#include "manager/ending.h"
#include "manager/publish.h"
#include "trial/stderr_tail.h"
#include "manager/reading.h"
#include "manager/state.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKOFF_MAX_MS 3600000
#define SAME_MAX 3 /* in a row, then something else is wrong than a trial */

/* Doubled after each failure; what has passed since its end counts. */
static int64_t
backoff_ns(const struct manager *m, const struct trial *t)
{
    int64_t ms = m->x->on_failure.backoff_ms, ns, passed;

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
    char *path = file_join(t->folder, TRIAL_AGAIN);
    char line[600];
    int len = snprintf(line, sizeof line, "%s: %.500s\n",
                       trial_state_name(state), t->why);

    if (path != NULL)
        file_write_plain(path, line, (size_t)len, NULL);
    free(path);
}

static void
show(struct manager *m, const struct trial *t, enum trial_state state,
     double seconds, int64_t wait_ns)
{
    progress_say(&m->progress,
                 "trial %s %s: %s (%.1f s); tried again in %.1f s, %llu of "
                 "%llu times",
                 t->id, trial_state_name(state), t->why, seconds,
                 (double)wait_ns / 1e9, (unsigned long long)t->failures + 1,
                 (unsigned long long)m->x->on_failure.retry);
    ending_show_first(m, t);
}

bool
failing_again(struct manager *m, struct trial *t, enum trial_state state,
              double seconds)
{
    struct trial *next;
    int64_t wait;

    if (!trial_is_failure(state) || t->past.end_told || t->past.recorded ||
        has_result(t) || m->end_known || t->failures >= m->x->on_failure.retry)
        return false;
    next = running_next(m, t);
    if (next == NULL)
        return false;
    wait = backoff_ns(m, t);
    next->failures = t->failures + 1;
    snprintf(next->why, sizeof next->why, "%s", t->why);
    mark(t, state);
    show(m, t, state, seconds, wait);
    running_replace(m, t, next);
    running_due(m, next, TRIAL_DUE_AGAIN, clock_monotonic_ns() + wait);
    return true;
}

void
failing_found(struct trial *t, const char *experiment_folder)
{
    bool there = true;

    for (uint64_t attempt = t->attempt; attempt > 0 && there; attempt--) {
        struct trial before = {.attempt = attempt - 1};
        char *path;

        memcpy(before.id, t->id, sizeof before.id);
        if (trial_place(&before, experiment_folder, NULL) != 0)
            return;
        path = file_join(before.folder, TRIAL_AGAIN);
        t->failures += path != NULL && access(path, F_OK) == 0;
        there = access(before.folder, F_OK) == 0;
        free(path);
        free(before.folder);
    }
}

void
failing_report_value(void *ctx, const struct attempt_end *end)
{
    struct manager *m = ctx;
    struct trial *t = end->trial;
    const struct on_failure *f = &m->x->on_failure;
    size_t len = strlen(t->why);

    if (end->how != ATTEMPT_JUDGED || !trial_is_failure(t->state) ||
        f->then != FAILURE_REPORT || t->final.given)
        return;
    if (!t->past.end_told && t->past.told.finals == 0)
        reading_tell(m, t, f->value);
    snprintf(t->why + len, sizeof t->why - len, " (reported as %.10g)",
             f->value);
}

/* Whether there is anything that is not started yet. */
static bool
is_more(const struct manager *m)
{
    const struct scheduler *s = &m->scheduler;

    if (!s->exhausted && (s->max_trials == 0 || s->started < s->max_trials))
        return true;
    for (const struct trial *t = m->live; t != NULL; t = t->next)
        if (trial_waits(t))
            return true;
    return false;
}

static bool
ends(const struct manager *m)
{
    return m->x->on_repeated == REPEATED_END ||
           (m->x->on_repeated == REPEATED_UNSAID &&
            !progress_is_seen(&m->progress));
}

static void
end_it(struct manager *m, const struct trial *t)
{
    manager_end(m, MANAGER_FAILING,
                "%d trials in a row failed the same way: %.150s", SAME_MAX,
                t->why);
    if (m->x->on_repeated == REPEATED_UNSAID)
        progress_warn(&m->progress,
                      "tunepipe: without a terminal it does not wait to be "
                      "mended; onRepeatedFailure: pause would");
    if (t->folder != NULL)
        ending_show_stderr(m, t);
}

static void
say_how_to_go_on(struct manager *m)
{
    progress_warn(&m->progress,
                  "tunepipe: paused: %s; when it is mended: tunepipe continue "
                  "%s; Ctrl-C ends the experiment, which tunepipe resume %s "
                  "takes up again",
                  m->failing.paused, m->folder.path, m->folder.path);
}

static void
pause_it(struct manager *m, const struct trial *t)
{
    struct failing *f = &m->failing;

    snprintf(f->paused, sizeof f->paused,
             "%d trials in a row failed the same way: %.150s", SAME_MAX,
             t->why);
    progress_warn(&m->progress, "tunepipe: warning: %s: no more are started",
                  f->paused);
    if (t->folder != NULL)
        ending_show_stderr(m, t);
    m->scheduler.paused = m->progress.paused = m->budget.halted = true;
    manager_keep_budget(m);
    publish_experiment(m, EVENT_EXPERIMENT_PAUSED, t->why);
    say_how_to_go_on(m);
    f->reminds = m->n_running > 0;
}

const char *
failing_why_paused(const struct manager *m)
{
    if (!m->scheduler.paused)
        return "";
    return m->failing.paused[0] != '\0' ? m->failing.paused
                                        : "somebody paused it";
}

void
failing_continued(struct manager *m)
{
    m->failing.paused[0] = '\0';
    m->failing.reminds = false;
}

void
failing_count(void *ctx, const struct attempt_end *end)
{
    struct manager *m = ctx;
    const struct trial *t = end->trial;
    struct failing *f = &m->failing;
    char how[FAILING_TEXT_MAX], line[400] = "";

    if (end->how != ATTEMPT_JUDGED || t->past.recorded)
        return;
    if (f->reminds && m->n_running == 0 && !m->end_known) {
        f->reminds = false;
        say_how_to_go_on(m);
    }
    if (t->state == TRIAL_CANCELLED)
        return;
    if (!trial_is_failure(t->state)) {
        f->same = 0;
        return;
    }
    if (t->folder != NULL)
        stderr_tail_line(t->folder, line, sizeof line);
    snprintf(how, sizeof how, "%s\n%s", t->why, line);
    f->same = f->same > 0 && strcmp(how, f->last) == 0 ? f->same + 1 : 1;
    memcpy(f->last, how, sizeof how);
    if (f->same < SAME_MAX || m->end_known || !is_more(m) ||
        m->x->on_failure.then == FAILURE_REPORT ||
        m->x->on_repeated == REPEATED_IGNORE)
        return;
    f->same = 0; /* of those that come after the halt */
    if (ends(m))
        end_it(m, t);
    else
        pause_it(m, t);
}
