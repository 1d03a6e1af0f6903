/* SPDX-License-Identifier: MIT */
/* DESIGN.  One epoll loop; each source has one function.  After a round of
 * events the consequences are drawn in one place, settle(): waiting trials
 * are started, the dispatcher is asked for more, the end is recognised, what
 * is to be sent is written.  Deadlines are epoll_wait's timeout. */
#include "manager/manager.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/process.h"
#include "core/visible.h"
#include "manager/commands.h"
#include "manager/state.h"
#include "manager/trial.h"
#include "runner/runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define UNSEEN_MAX ((size_t)128 << 10) /* of what a dispatcher said */
#define IDLE_NS 5000000000 /* with nothing that runs, until that is told */

void
manager_interrupt(struct manager *m)
{
    m->interrupts++;
    if (m->dispatcher.phase == PHASE_CLOSING)
        dispatcher_give_up(&m->dispatcher,
                           m->interrupts > 1 ? SIGKILL : SIGTERM);
    if (m->interrupts > 1) {
        running_hurry_all(&m->running);
        return;
    }
    experiment_ends(&m->end, MANAGER_INTERRUPTED,
                    running_leaves_all(&m->running, m->launch.runner)
                        ? "interrupted: its jobs go on, for tunepipe resume"
                        : "interrupted: trials are being ended (once more: "
                          "killed)");
    running_interrupt_all(&m->running);
}

static void
take_signals(struct manager *m)
{
    struct signalfd_siginfo info;

    while (read(m->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        manager_interrupt(m);
}

static void
take_files(struct manager *m)
{
    reading_files(&m->reading);
}

static void
take_frames(struct manager *m)
{
    dispatcher_read_frames(&m->dispatcher);
}

static void
take_room(struct manager *m)
{
    (void)m; /* settle() writes */
}

static void
take_words(struct manager *m)
{
    dispatcher_read_stderr(&m->dispatcher);
}

static void
take_dispatcher(struct manager *m)
{
    dispatcher_exited(&m->dispatcher);
}

static void
take_resources(struct manager *m)
{
    resources_awake(&m->resources);
    placing_wake(&m->placing);
}

static void
take_hooks(struct manager *m)
{
    hooks_take(&m->publish.hooks);
}

static void
take_trash(struct manager *m)
{
    sources_unwatch(&m->sources, m->checkpoints.trash.pidfd);
    trash_reap(&m->checkpoints.trash);
}

static void
take_packed(struct manager *m)
{
    packing_take(&m->packing);
}

static void
clear_away(struct manager *m)
{
    struct trash *t = &m->checkpoints.trash;

    if (!trash_wants(t))
        return;
    trash_begin(t);
    if (t->pidfd >= 0 &&
        sources_watch(&m->sources, t->pidfd, EPOLLIN, SOURCE_TRASH) != 0)
        trash_reap(t);
}

/* Takes in the ends of at most so many runs; the others come with the next turn
 * of the loop, so that answers and deadlines have theirs between. */
static void
take_runs(struct manager *m)
{
    struct runner *r = m->launch.runner;
    struct run *run;

    r->most = scheduler_most(&m->scheduler);
    for (int i = 0; i < EVENTS_MAX && (run = r->ops->look(r)) != NULL; i++)
        if (run->news == RUN_BEGUN && run->trial->state == TRIAL_PREPARING)
            preparing_begun(&m->preparing, run->trial, clock_monotonic_ns());
        else if (run->news == RUN_BEGUN)
            running_since(&m->running, run->trial, clock_monotonic_ns());
        else if (run->news == RUN_FILES)
            running_look(&m->running, run->trial);
        else if (run->trial->state == TRIAL_PREPARING)
            preparing_exited(&m->preparing, run->trial);
        else
            running_exited(&m->running, run->trial);
}

/* What came before it in this turn may have freed the trial, and begun another
 * in its place. */
static void
take_copy(struct manager *m, const void *of)
{
    for (struct trial *t = m->live.first; t != NULL; t = t->next)
        if (t == of && t->copier_fd >= 0 && process_ended(t->copier_fd)) {
            copying_exited(&m->copying, t);
            placing_wake(&m->placing);
            return;
        }
}

static void
take_event(struct manager *m, const struct epoll_event *e)
{
    static void (*const takers[SOURCE_COUNT])(struct manager *) = {
        [SOURCE_SIGNAL] = take_signals,
        [SOURCE_INOTIFY] = take_files,
        [SOURCE_RUNNER] = take_runs,
        [SOURCE_FRAMES_IN] = take_frames,
        [SOURCE_FRAMES_OUT] = take_room,
        [SOURCE_WORDS] = take_words,
        [SOURCE_DISPATCHER] = take_dispatcher,
        [SOURCE_HOOKS] = take_hooks,
        [SOURCE_CONTROL] = commands_serve,
        [SOURCE_RESOURCES] = take_resources,
        [SOURCE_TRASH] = take_trash,
        [SOURCE_PACKING] = take_packed,
    };

    if (e->data.u64 < SOURCE_COUNT)
        takers[e->data.u64](m);
    else
        take_copy(m, (const void *)(uintptr_t)e->data.u64);
}

static void
recognise_end(struct manager *m)
{
    unsigned long long n = m->live.n_numbers;

    if (m->delivery.lockstep.expects && !m->end.interrupting)
        return; /* what the last end leads to is a part of the log */
    if (m->dispatcher.retry.due && !m->end.interrupting &&
        (m->outcome->initialized || m->options->resume != NULL))
        return; /* the next dispatcher is to be told of these ends */
    if (study_holds(&m->study))
        return;
    switch (scheduler_end(&m->scheduler)) {
    case SCHEDULER_GOING:
        return;
    case SCHEDULER_COMPLETE:
        experiment_ends(&m->end, MANAGER_COMPLETE, "finished: %llu trials", n);
        break;
    case SCHEDULER_EXHAUSTED:
        experiment_ends(&m->end, MANAGER_EXHAUSTED,
                        "finished: nothing more to try after %llu trials", n);
        break;
    case SCHEDULER_REFUSED:
        experiment_ends(&m->end, MANAGER_REFUSED,
                        "the tuner gives no parameters any more");
        break;
    case SCHEDULER_CLOSED:
        break;
    }
    dispatcher_close(&m->dispatcher);
}

/* ---- deadlines ---- */

/* Nothing runs because the dispatcher owes an answer: it may be a tuner that
 * takes its time, or one that never returns; the user is told which. */
static void
watch_idle(struct manager *m, int64_t now)
{
    bool idle =
        m->dispatcher.phase == PHASE_STARTING ||
        (m->dispatcher.phase == PHASE_RUNNING && m->scheduler.live == 0 &&
         !m->scheduler.paused && (!m->study.serves || m->study.n_asks > 0));
    char who[300];

    if (!idle || m->idle_told)
        m->idle_deadline_ns = INT64_MAX;
    else if (m->idle_deadline_ns == INT64_MAX)
        m->idle_deadline_ns = now + IDLE_NS;
    if (now < m->idle_deadline_ns)
        return;
    m->idle_told = true;
    m->idle_deadline_ns = INT64_MAX;
    dispatcher_blame(&m->dispatcher, who, sizeof who);
    progress_warn(&m->progress,
                  "tunepipe: warning: no trial has run for %d seconds%s; "
                  "Ctrl-C ends the experiment",
                  (int)(IDLE_NS / 1000000000), who);
}

static void
expire(struct manager *m)
{
    int64_t now = clock_monotonic_ns();

    if (now >= m->budget.save_ns)
        budget_keep(&m->budget, m->folder.path, &m->progress);
    events_expire(&m->publish.events, now);
    deadlines_run(&m->deadlines, now, &m->running);
    coordinator_judge(&m->coordinator, now);
    dispatcher_expire(&m->dispatcher, now);
    watch_idle(m, now);
    study_expire(&m->study, now);
    if (now >= m->coordinator.deadline_ns) {
        m->coordinator.deadline_ns = INT64_MAX;
        experiment_ends(&m->end, MANAGER_DURATION,
                        "finished: maxExperimentDuration is over");
    }
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int
timeout(struct manager *m)
{
    int64_t now = clock_monotonic_ns(), at;

    if (m->reading.unread.first != NULL && exchange_pending(&m->exchange) == 0)
        return 0;
    at = least(progress_paint(&m->progress, now),
               deadlines_nearest(&m->deadlines));
    at = least(at, m->coordinator.deadline_ns);
    at = least(at, m->idle_deadline_ns);
    at = least(at, study_deadline(&m->study, now));
    at = least(at, dispatcher_deadline(&m->dispatcher));
    if (!m->end.known)
        at = least(at, goals_deadline(&m->goals, now));
    at = least(at, m->budget.save_ns);
    at = least(at, events_deadline(&m->publish.events));
    at = least(at, hooks_deadline(&m->publish.hooks));
    at = least(at, control_server_settle(&m->control, now));
    if (at == INT64_MAX)
        return -1;
    if (at <= now)
        return 0;
    at = (at - now + 999999) / 1000000;
    return at > 3600000 ? 3600000 : (int)at;
}

/* ---- the loop ---- */

static void
settle(struct manager *m)
{
    expire(m);
    if (m->reading.unread.first != NULL)
        running_read_on(&m->running);
    study_count(&m->study);
    starting_go(&m->starting);
    if (m->dispatcher.phase == PHASE_RUNNING && !m->exchange.held)
        m->delivery.ops->go(&m->delivery);
    study_ready(&m->study);
    m->progress.running = m->live.running;
    if (m->dispatcher.phase == PHASE_STARTING ||
        m->dispatcher.phase == PHASE_RUNNING)
        recognise_end(m);
    if (m->dispatcher.phase == PHASE_CLOSING &&
        m->dispatcher.process.pidfd < 0 && !m->dispatcher.retry.due &&
        (!m->ending.holds || m->interrupts > 0))
        m->dispatcher.phase = PHASE_DONE; /* else results wait for room */
    hooks_go(&m->publish.hooks, clock_monotonic_ns());
    clear_away(m);
    packing_go(&m->packing);
    dispatcher_flush(&m->dispatcher); /* it computes while others answer */
    study_settle(&m->study);
}

/* Waits for events, takes them, draws the consequences. */
static int
turn(struct manager *m, struct err *err)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(m->sources.epoll_fd, events, EVENTS_MAX, timeout(m));

    if (n < 0 && errno != EINTR)
        return err_errno(err, ERR_SYSTEM, "cannot wait for events");
    for (int i = 0; i < n; i++)
        take_event(m, &events[i]);
    m->control.changed |= n > 0;
    settle(m);
    return 0;
}

static int
loop(struct manager *m, struct err *err)
{
    publish_experiment(&m->publish, EVENT_EXPERIMENT_STARTED, NULL);
    settle(m);
    while (m->dispatcher.phase != PHASE_DONE)
        if (turn(m, err) != 0)
            return -1;
    return 0;
}

/* The price of lock step. */
static void
say_lockstep(struct manager *m)
{
    const struct lockstep *l = &m->delivery.lockstep;
    double waited = (double)l->waited_ns / 1e9;

    if (l->rounds == 0)
        return;
    progress_say(&m->progress,
                 "lock step: %llu rounds; trials waited %.1f s for others, and "
                 "lasted %.1f s, all together",
                 (unsigned long long)l->rounds, waited,
                 (double)m->attempts.run_ns / 1e9);
}

static void
say_late(struct manager *m)
{
    uint64_t reports = m->reading.late, stops = m->dispatcher.late;

    if (stops + reports > 0)
        progress_say(&m->progress,
                     "came too late and are not used: %llu reports of trials "
                     "that were to end, %llu stops for trials that had ended",
                     (unsigned long long)reports, (unsigned long long)stops);
}

static int
finish(struct manager *m, struct err *err)
{
    struct manager_outcome *out = m->outcome;

    experiment_folder_flush(&m->folder, NULL);
    packing_finish(&m->packing, out->dispatcher_status == 0);
    budget_keep(&m->budget, m->folder.path, &m->progress);
    if (out->end <= MANAGER_DURATION)
        checkpoints_over(&m->checkpoints);
    if (out->end == MANAGER_INTERRUPTED)
        snprintf(out->reason, sizeof out->reason,
                 m->study.idle ? "nobody asks for more than %llu trials"
                               : "interrupted after %llu trials",
                 (unsigned long long)m->live.n_numbers);
    say_lockstep(m);
    say_late(m);
    out->ok = out->end <= MANAGER_DURATION && m->ending.n_results > 0;
    return experiment_folder_finish(&m->folder, out->ok,
                                    out->end <= MANAGER_DURATION, out->reason,
                                    (double)m->budget.used_ns / 1e9, err);
}

/* The experiment has ended: tells so, and waits for its hooks, each as long as
 * it may take; a signal ends the waiting. */
static void
wait_for_hooks(struct manager *m)
{
    struct hooks *h = &m->publish.hooks;
    unsigned interrupts = m->interrupts;

    publish_ended(&m->publish, NULL);
    events_close(&m->publish.events);
    hooks_go(h, clock_monotonic_ns());
    if (hooks_busy(h) && m->progress.terminal)
        progress_say(&m->progress,
                     "tunepipe: hooks still run (Ctrl-C ends them)");
    while (hooks_busy(h) && m->interrupts == interrupts && turn(m, NULL) == 0)
        continue;
    hooks_give_up(h);
    hooks_say(h);
}

/* Shows what the dispatcher, or a program of its, said and nobody has seen. */
static void
show_unseen(struct manager *m)
{
    char *path = file_join(m->folder.path, FOLDER_DISPATCHER_LOG), *rest, *line;
    struct buf text;

    buf_init(&text, UNSEEN_MAX);
    if (path != NULL &&
        file_read_plain(path, UNSEEN_MAX / 2, &text, NULL) == 0) {
        buf_text(&text);
        rest = text.data;
        while ((line = strsep(&rest, "\n")) != NULL) {
            visible_line(line);
            if (line[0] != '\0' && !dispatcher_shows(line))
                progress_warn(&m->progress, "    | %.200s", line);
        }
    }
    buf_fini(&text);
    free(path);
}

/* A mistake in the configuration, which the dispatcher or the machine showed,
 * is to leave nothing that looks like an experiment. */
static void
discard(struct manager *m)
{
    struct manager_outcome *out = m->outcome;

    show_unseen(m);
    progress_warn(&m->progress, "tunepipe: nothing was started, %s is removed",
                  m->folder.path);
    m->folder.unbegun = true;
    free(out->folder);
    out->folder = NULL;
}

static bool
is_unbegun(const struct manager *m)
{
    return m->options->resume == NULL && m->live.n_numbers == 0;
}

/* The dispatcher refused what it is to do. */
static void
tell_refused(struct manager *m)
{
    if (is_unbegun(m))
        discard(m);
    else
        progress_warn(&m->progress,
                      "tunepipe: error: %s; what it said is in "
                      "%s/" FOLDER_DISPATCHER_LOG,
                      m->outcome->reason, m->folder.path);
}

int
manager_run(const struct experiment *x, const struct manager_options *options,
            struct manager_outcome *out, struct err *err)
{
    struct manager m;
    int rc;

    manager_init(&m, x, options, out);
    *out = (struct manager_outcome){.dispatcher_status = -1};
    budget_start(&m.budget, clock_monotonic_ns());
    progress_open(&m.progress, options->out_fd, options->err_fd, x->minimize,
                  x->max_trials, x->debug);
    if (x->objectives != NULL)
        m.progress.goals = &m.goals;
    rc = manager_open(&m, err);
    if (rc == 0)
        rc = loop(&m, err);
    if (rc == 0) {
        rc = finish(&m, err);
        wait_for_hooks(&m);
        packing_finish(&m.packing, false); /* what they may have read */
        if (out->end == MANAGER_CONFIG)
            tell_refused(&m);
    } else if (m.folder.results_fd >= 0) { /* it is ours, and nobody died */
        if (err->code == ERR_CONFIG && is_unbegun(&m))
            discard(&m);
        else
            experiment_folder_finish(&m.folder, false, false, err->text,
                                     (double)m.budget.used_ns / 1e9, NULL);
    }
    manager_close(&m);
    return rc;
}
