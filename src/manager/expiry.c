/* SPDX-License-Identifier: MIT */
#include "manager/state.h"

#include "core/clock.h"
#include "core/err.h"
#include "manager/coordinator.h"
#include "manager/peer.h"

#include <signal.h>

#define IDLE_NS 5000000000 /* with nothing that runs, until that is told */

/* Nothing runs because the dispatcher owes an answer: it may be a tuner that
 * takes its time, or one that never returns; the user is told which. */
static void
watch_idle(struct manager *m, int64_t now)
{
    bool idle = m->phase == PHASE_STARTING ||
                (m->phase == PHASE_RUNNING && m->scheduler.live == 0 &&
                 !m->scheduler.paused);
    char who[300];

    if (!idle || m->idle_told)
        m->idle_deadline_ns = INT64_MAX;
    else if (m->idle_deadline_ns == INT64_MAX)
        m->idle_deadline_ns = now + IDLE_NS;
    if (now < m->idle_deadline_ns)
        return;
    m->idle_told = true;
    m->idle_deadline_ns = INT64_MAX;
    peer_blame(m, who, sizeof who);
    progress_warn(&m->progress,
                  "tunepipe: warning: no trial has run for %d seconds%s; "
                  "Ctrl-C ends the experiment",
                  (int)(IDLE_NS / 1000000000), who);
}

void
manager_keep_budget(struct manager *m)
{
    struct err err = {0};

    budget_count(&m->budget, clock_monotonic_ns());
    if (budget_save(&m->budget, m->folder.path, &err) != 0)
        progress_warn(&m->progress, "tunepipe: warning: %s", err.text);
}

void
manager_expire(struct manager *m)
{
    int64_t now = clock_monotonic_ns();

    if (now >= m->budget.save_ns)
        manager_keep_budget(m);
    events_expire(&m->events, now);
    deadlines_run(&m->deadlines, now, m);
    coordinator_judge(m, now);
    peer_retry(m, now);
    watch_idle(m, now);
    if (now >= m->experiment_deadline_ns) {
        m->experiment_deadline_ns = INT64_MAX;
        manager_end(m, MANAGER_DURATION,
                    "finished: maxExperimentDuration is over");
    }
    if (m->phase == PHASE_CLOSING && !m->dispatcher_retry.due &&
        now >= m->closing_deadline_ns) {
        m->closing_deadline_ns = INT64_MAX;
        m->dispatcher_given_up = true;
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher does not end: killed");
        manager_signal_dispatcher(m, SIGKILL);
    }
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int
manager_timeout(struct manager *m)
{
    int64_t now = clock_monotonic_ns(), at;

    if (m->unread.first != NULL && exchange_pending(&m->exchange) == 0)
        return 0;
    at = least(progress_paint(&m->progress, now),
               deadlines_nearest(&m->deadlines));
    at = least(at, m->experiment_deadline_ns);
    at = least(at, m->idle_deadline_ns);
    at = least(at, peer_deadline(m));
    if (!m->end_known)
        at = least(at, finish_deadline(&m->finish, now));
    at = least(at, m->budget.save_ns);
    at = least(at, events_deadline(&m->events));
    at = least(at, hooks_deadline(&m->hooks));
    at = least(at, control_server_settle(&m->control, now));
    if (m->phase == PHASE_CLOSING && !m->dispatcher_retry.due)
        at = least(at, m->closing_deadline_ns);
    if (at == INT64_MAX)
        return -1;
    if (at <= now)
        return 0;
    at = (at - now + 999999) / 1000000;
    return at > 3600000 ? 3600000 : (int)at;
}
