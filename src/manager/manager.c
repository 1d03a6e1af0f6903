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
#include "core/process.h"
#include "manager/commands.h"
#include "manager/coordinator.h"
#include "manager/delivery.h"
#include "manager/dispatcher.h"
#include "manager/publish.h"
#include "manager/placing.h"
#include "manager/preparing.h"
#include "manager/reading.h"
#include "manager/state.h"
#include "manager/trial.h"
#include "runner/runner.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define ASK_MAX 65536      /* a dispatcher refuses more */
#define IDLE_NS 5000000000 /* with nothing that runs, until that is told */

int
manager_watch(struct manager *m, int fd, uint32_t events, uint64_t what)
{
    struct epoll_event e = {.events = events, .data = {.u64 = what}};

    return epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

void
manager_unwatch(struct manager *m, int fd)
{
    if (fd >= 0)
        epoll_ctl(m->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void
manager_end(struct manager *m, enum manager_end end, const char *fmt, ...)
{
    struct manager_outcome *out = m->outcome;
    va_list ap;

    scheduler_close(&m->scheduler);
    if (m->end_known)
        return;
    m->end_known = true;
    placing_stir(m); /* who waits does so no more */
    unread_add_ended(m);
    out->end = end;
    va_start(ap, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, ap);
    va_end(ap);
    if (end > MANAGER_DURATION)
        progress_warn(&m->progress, "tunepipe: %s%s",
                      end == MANAGER_INTERRUPTED ? "" : "error: ", out->reason);
}

void
manager_send_note(struct manager *m, const char *event, const struct trial *t,
                  const struct event_field *detail)
{
    struct json_writer w;
    struct buf payload;

    buf_init(&payload, 65536);
    w = json_begin_object(&payload);
    json_add_text(&w, "event", event);
    json_add_text(&w, "trial_job_id", t->id);
    json_add_raw(&w, "parameter_id", t->parameter_id);
    json_add_unsigned(&w, "attempt", t->attempt);
    events_write_fields(&w, detail);
    json_close(&w);
    if (buf_check(&payload, "a note", NULL) == 0)
        exchange_send(&m->exchange, "NT", payload.data, payload.len);
    buf_fini(&payload);
}

void
manager_taken(struct manager *m, const char *parameter_id)
{
    if (map_put(&m->taken, parameter_id, strlen(parameter_id), m) != 0)
        manager_end(m, MANAGER_UNABLE, "out of memory");
}

void
manager_signal_dispatcher(struct manager *m, int sig)
{
    supervisor_signal(&m->dispatcher, sig);
}

void
manager_interrupt(struct manager *m)
{
    m->interrupts++;
    if (m->phase == PHASE_CLOSING) {
        m->dispatcher_given_up = true;
        m->dispatcher_retry.due = false;
        manager_signal_dispatcher(m, m->interrupts > 1 ? SIGKILL : SIGTERM);
    }
    if (m->interrupts > 1) {
        running_hurry_all(m);
        return;
    }
    manager_end(m, MANAGER_INTERRUPTED,
                "interrupted: trials are being ended (once more: killed)");
    running_interrupt_all(m);
}

static void
take_signals(struct manager *m)
{
    struct signalfd_siginfo info;

    while (read(m->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        manager_interrupt(m);
}

static void
take_room(struct manager *m)
{
    (void)m; /* settle() writes */
}

static void
take_resources(struct manager *m)
{
    resources_awake(&m->resources);
    placing_wake(m);
}

static void
take_hooks(struct manager *m)
{
    hooks_take(&m->hooks);
}

static void
take_trash(struct manager *m)
{
    manager_unwatch(m, m->checkpoints.trash.pidfd);
    trash_reap(&m->checkpoints.trash);
}

static void
clear_away(struct manager *m)
{
    struct trash *t = &m->checkpoints.trash;

    if (!trash_wants(t))
        return;
    trash_begin(t);
    if (t->pidfd >= 0 && manager_watch(m, t->pidfd, EPOLLIN, SOURCE_TRASH) != 0)
        trash_reap(t);
}

/* Takes in the ends of at most so many runs; the others come with the next turn
 * of the loop, so that answers and deadlines have theirs between. */
static void
take_runs(struct manager *m)
{
    struct runner *r = m->launch.runner;
    struct run *run;

    for (int i = 0; i < EVENTS_MAX && (run = r->ops->look(r)) != NULL; i++)
        running_exited(m, run->trial);
}

/* What came before it in this turn may have freed the trial, and begun another
 * in its place. */
static void
take_copy(struct manager *m, const void *of)
{
    for (struct trial *t = m->live; t != NULL; t = t->next)
        if (t == of && t->copier_fd >= 0 && process_ended(t->copier_fd)) {
            running_exited(m, t);
            return;
        }
}

static void
take_event(struct manager *m, const struct epoll_event *e)
{
    static void (*const takers[SOURCE_COUNT])(struct manager *) = {
        [SOURCE_SIGNAL] = take_signals,
        [SOURCE_INOTIFY] = reading_files,
        [SOURCE_RUNNER] = take_runs,
        [SOURCE_FRAMES_IN] = dispatcher_read_frames,
        [SOURCE_FRAMES_OUT] = take_room,
        [SOURCE_WORDS] = dispatcher_read_stderr,
        [SOURCE_DISPATCHER] = dispatcher_exited,
        [SOURCE_HOOKS] = take_hooks,
        [SOURCE_CONTROL] = commands_serve,
        [SOURCE_RESOURCES] = take_resources,
        [SOURCE_TRASH] = take_trash,
    };

    if (e->data.u64 < SOURCE_COUNT)
        takers[e->data.u64](m);
    else
        take_copy(m, (const void *)(uintptr_t)e->data.u64);
}

uint64_t
manager_ask(struct manager *m)
{
    uint64_t n = scheduler_wants(&m->scheduler);
    char text[32];

    if (m->phase != PHASE_RUNNING || m->exchange.held || n == 0)
        return 0;
    if (n > ASK_MAX)
        n = ASK_MAX; /* the rest with the next round */
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    exchange_send(&m->exchange, "GE", text, strlen(text));
    scheduler_asked(&m->scheduler, n);
    return n;
}

static void
recognise_end(struct manager *m)
{
    unsigned long long n = m->n_trials;

    if (m->lockstep.expects && !m->interrupting)
        return; /* what the last end leads to is a part of the log */
    if (m->dispatcher_retry.due && !m->interrupting &&
        (m->outcome->initialized || m->options->resume != NULL))
        return; /* the next dispatcher is to be told of these ends */
    switch (scheduler_end(&m->scheduler)) {
    case SCHEDULER_GOING:
        return;
    case SCHEDULER_COMPLETE:
        manager_end(m, MANAGER_COMPLETE, "finished: %llu trials", n);
        break;
    case SCHEDULER_EXHAUSTED:
        manager_end(m, MANAGER_EXHAUSTED,
                    "finished: nothing more to try after %llu trials", n);
        break;
    case SCHEDULER_REFUSED:
        manager_end(m, MANAGER_REFUSED,
                    "the tuner gives no parameters any more");
        break;
    case SCHEDULER_CLOSED:
        break;
    }
    m->phase = PHASE_CLOSING;
    m->dispatcher_retry.due = false; /* what it is not told `resume` tells */
    m->closing_deadline_ns = clock_monotonic_ns() + CLOSING_NS;
    exchange_send(&m->exchange, "TE", "", 0);
}

static void
flush(struct manager *m)
{
    int fd = m->exchange.to;
    struct err err = {0};
    bool wanted;

    if (fd < 0 || m->exchange.held)
        return;
    if (exchange_flush(&m->exchange, &err) != 0) {
        m->writable_asked = false; /* closing took it out of epoll */
        return;                    /* the dispatcher's end tells why */
    }
    wanted = exchange_pending(&m->exchange) > 0;
    if (m->phase == PHASE_CLOSING && !wanted) { /* TE was the last word */
        manager_unwatch(m, fd);
        exchange_close_to(&m->exchange);
        return;
    }
    if (wanted && !m->writable_asked) /* what fails is asked next turn */
        m->writable_asked =
            manager_watch(m, fd, EPOLLOUT, SOURCE_FRAMES_OUT) == 0;
    if (!wanted && m->writable_asked) {
        manager_unwatch(m, fd);
        m->writable_asked = false;
    }
}

/* ---- deadlines ---- */

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
    dispatcher_blame(m, who, sizeof who);
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

static void
expire(struct manager *m)
{
    int64_t now = clock_monotonic_ns();

    if (now >= m->budget.save_ns)
        manager_keep_budget(m);
    events_expire(&m->events, now);
    deadlines_run(&m->deadlines, now, m);
    coordinator_judge(m, now);
    dispatcher_retry(m, now);
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

static int
timeout(struct manager *m)
{
    int64_t now = clock_monotonic_ns(), at;

    if (m->unread.first != NULL && exchange_pending(&m->exchange) == 0)
        return 0;
    at = least(progress_paint(&m->progress, now),
               deadlines_nearest(&m->deadlines));
    at = least(at, m->experiment_deadline_ns);
    at = least(at, m->idle_deadline_ns);
    at = least(at, dispatcher_deadline(m));
    if (!m->end_known)
        at = least(at, goals_deadline(&m->goals, now));
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

/* ---- the loop ---- */

static void
settle(struct manager *m)
{
    expire(m);
    if (m->unread.first != NULL)
        unread_feed(m);
    running_start_waiting(m);
    if (m->phase == PHASE_RUNNING && !m->exchange.held)
        m->delivery->go(m);
    m->progress.running = m->n_running;
    if (m->phase == PHASE_STARTING || m->phase == PHASE_RUNNING)
        recognise_end(m);
    if (m->phase == PHASE_CLOSING && m->dispatcher.pidfd < 0 &&
        !m->dispatcher_retry.due && (!m->results_held || m->interrupts > 0))
        m->phase = PHASE_DONE; /* else results wait for room on the disk */
    hooks_go(&m->hooks, clock_monotonic_ns());
    clear_away(m);
    flush(m);
}

int
manager_turn(struct manager *m, struct err *err)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(m->epoll_fd, events, EVENTS_MAX, timeout(m));

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
    publish_experiment(m, EVENT_EXPERIMENT_STARTED, NULL);
    settle(m);
    while (m->phase != PHASE_DONE)
        if (manager_turn(m, err) != 0)
            return -1;
    return 0;
}

/* The price of lock step. */
static void
say_lockstep(struct manager *m)
{
    const struct lockstep *l = &m->lockstep;
    double waited = (double)l->waited_ns / 1e9;

    if (l->rounds == 0)
        return;
    progress_say(&m->progress,
                 "lock step: %llu rounds; trials waited %.1f s for others, and "
                 "lasted %.1f s, all together",
                 (unsigned long long)l->rounds, waited,
                 (double)m->trials_ns / 1e9);
}

static void
say_late(struct manager *m)
{
    const struct late *l = &m->late;

    if (l->stops + l->reports > 0)
        progress_say(&m->progress,
                     "came too late and are not used: %llu reports of trials "
                     "that were to end, %llu stops for trials that had ended",
                     (unsigned long long)l->reports,
                     (unsigned long long)l->stops);
}

static int
finish(struct manager *m, struct err *err)
{
    struct manager_outcome *out = m->outcome;

    experiment_folder_flush(&m->folder, NULL);
    manager_keep_budget(m);
    if (out->end <= MANAGER_DURATION)
        checkpoints_over(&m->checkpoints);
    if (out->end == MANAGER_INTERRUPTED)
        snprintf(out->reason, sizeof out->reason,
                 "interrupted after %llu trials",
                 (unsigned long long)m->n_trials);
    say_lockstep(m);
    say_late(m);
    out->ok = out->end <= MANAGER_DURATION && m->n_results > 0;
    return experiment_folder_finish(&m->folder, out->ok,
                                    out->end <= MANAGER_DURATION, out->reason,
                                    (double)m->budget.used_ns / 1e9, err);
}

int
manager_run(const struct experiment *x, const struct manager_options *options,
            struct manager_outcome *out, struct err *err)
{
    struct manager m = {
        .x = x,
        .options = options,
        .outcome = out,
        .folder = EXPERIMENT_FOLDER_CLOSED,
        .words = {.fd = -1},
        .dispatcher = SUPERVISED_NONE,
        .control = CONTROL_SERVER_CLOSED,
        .resources = RESOURCES_CLOSED,
        .scheduler = {.concurrency = x->concurrency,
                      .ahead = preparing_ahead(x),
                      .max_trials = x->max_trials},
        .goals = {.minimize = x->minimize,
                  .has_stop_value = x->has_stop_value,
                  .stop_value = x->stop_value,
                  .max_without = x->max_without,
                  .max_hours = x->max_trial_hours},
        .epoll_fd = -1,
        .signal_fd = -1,
        .inotify_fd = -1,
        .budget = {.max_trials = x->max_trials, .max_ms = x->max_experiment_ms},
        .experiment_deadline_ns = INT64_MAX,
        .idle_deadline_ns = INT64_MAX,
    };
    int rc;

    exchange_init(&m.exchange);
    events_init(&m.events, NULL, NULL);
    hooks_init(&m.hooks);
    *out = (struct manager_outcome){.dispatcher_status = -1};
    budget_start(&m.budget, clock_monotonic_ns());
    progress_open(&m.progress, options->out_fd, options->err_fd, x->minimize,
                  x->max_trials, x->debug);
    rc = manager_open(&m, err);
    if (rc == 0)
        rc = loop(&m, err);
    if (rc == 0) {
        rc = finish(&m, err);
        publish_finish(&m);
    } else if (m.folder.results_fd >= 0) { /* it is ours, and nobody died */
        experiment_folder_finish(&m.folder, false, false, err->text,
                                 (double)m.budget.used_ns / 1e9, NULL);
    }
    manager_close(&m);
    return rc;
}
