/* SPDX-License-Identifier: MIT */
/* DESIGN.  A trial's files are read when inotify says that they grew, and read
 * to their ends when the wrapper is gone, so that all results are used before
 * the end is declared.  While the dispatcher is slow (more than PENDING_MAX
 * bytes wait for it) files are left alone: they are the buffer. */
#include "manager/state.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/number.h"
#include "json.h"
#include "manager/ending.h"
#include "manager/metrics.h"
#include "manager/trial.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#define PENDING_MAX ((size_t)1 << 20)
#define PORTION ((size_t)1 << 20)
#define PAYLOAD_MAX ((size_t)64 << 20)
#define LAUNCHES_FAILED_MAX 3
#define GIVE_UP_NS 5000000000 /* for a wrapper, behind its grace */

struct reading {
    struct manager *m;
    struct trial *t;
};

static void
send_metric(struct manager *m, const struct trial *t,
            const struct metric_line *metric)
{
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    metrics_write(&payload, t->id, t->parameter_id, metric);
    if (buf_check(&payload, "a metric", NULL) == 0)
        exchange_send(&m->exchange, "ME", payload.data, payload.len);
    buf_fini(&payload);
}

static void
take_metric(struct manager *m, struct trial *t,
            const struct metric_line *metric)
{
    if (t->stop != STOP_NOT)
        return; /* it stands in the trial's folder */
    if (metric->final) {
        t->has_final = true;
        t->final = metric->value;
    } else {
        t->has_latest = true;
        t->latest = metric->value;
    }
    send_metric(m, t, metric);
}

static void
complain(struct manager *m, struct trial *t, const char *what)
{
    if (!t->complained)
        progress_say(&m->progress,
                     "tunepipe: warning: trial %s: metrics: %s (reported once; "
                     "bad lines are skipped)",
                     t->id, what);
    t->complained = true;
}

static void
take_report(void *ctx, const char *line, size_t len, bool too_long)
{
    struct reading *r = ctx;
    struct metric_line metric;
    struct err err = {0};

    if (metrics_line(&r->t->metrics, line, len, too_long, &metric, &err) ==
        METRICS_BAD)
        complain(r->m, r->t, err.text);
    else if (r->m->pattern != NULL && !metric.final)
        complain(r->m, r->t,
                 "metrics.pattern is set: intermediate results "
                 "that come another way are not used");
    else
        take_metric(r->m, r->t, &metric);
}

static void
take_output(void *ctx, const char *line, size_t len, bool too_long)
{
    struct metric_line metric = {0};
    struct reading *r = ctx;
    char text[NUMBER_TEXT_MAX];

    (void)len;
    (void)too_long;
    if (!pattern_match(r->m->pattern, line, &metric.value))
        return;
    metric.sequence = r->t->matches++;
    metric.json = text;
    metric.len = number_format(metric.value, text);
    take_metric(r->m, r->t, &metric);
}

static void
feed(struct manager *m, struct trial *t)
{
    struct reading r = {m, t};
    struct err err = {0};
    int more = 0;

    if (exchange_pending(&m->exchange) > PENDING_MAX) {
        m->hungry = true;
        return;
    }
    if (t->report.fd >= 0)
        more |= tail_read(&t->report, PORTION, take_report, &r, &err);
    if (t->out.fd >= 0 && m->pattern != NULL)
        more |= tail_read(&t->out, PORTION, take_output, &r, &err);
    if (more < 0)
        complain(m, t, err.text);
    else if (more > 0)
        m->hungry = true;
}

static void
drain(struct manager *m, struct trial *t)
{
    struct reading r = {m, t};
    struct err err = {0};

    if (t->report.fd >= 0 && tail_drain(&t->report, take_report, &r, &err) != 0)
        complain(m, t, err.text);
    if (t->out.fd < 0 || m->pattern == NULL)
        return;
    if (tail_drain(&t->out, take_output, &r, &err) != 0)
        complain(m, t, err.text);
    tail_rest(&t->out, take_output, &r);
}

void
running_hungry(struct manager *m)
{
    m->hungry = false;
    for (struct trial *t = m->live; t != NULL; t = t->next)
        if (t->state == TRIAL_RUNNING)
            feed(m, t);
}

void
running_files(struct manager *m)
{
    char events[16384] __attribute__((aligned(8)));
    const struct inotify_event *e;
    ssize_t n = read(m->inotify_fd, events, sizeof events);

    for (ssize_t at = 0; at < n; at += (ssize_t)sizeof *e + e->len) {
        struct trial *t;

        e = (const struct inotify_event *)(const void *)(events + at);
        if (e->mask & IN_Q_OVERFLOW) {
            m->hungry = true; /* whose they were is lost: look at all */
            continue;
        }
        t = map_get(&m->watches, &e->wd, sizeof e->wd);
        if (t != NULL)
            feed(m, t);
    }
}

static int
watch_file(struct manager *m, struct trial *t, const char *name)
{
    char path[4096];
    int watch;

    snprintf(path, sizeof path, "%s/%s", t->folder, name);
    watch = inotify_add_watch(m->inotify_fd, path, IN_MODIFY);
    if (watch >= 0 && map_put(&m->watches, &watch, sizeof watch, t) == 0)
        return watch;
    m->hungry = true;
    return -1;
}

static void
unwatch_file(struct manager *m, int watch)
{
    if (watch < 0)
        return;
    map_remove(&m->watches, &watch, sizeof watch);
    inotify_rm_watch(m->inotify_fd, watch);
}

static void
set_deadline(struct manager *m, struct trial *t)
{
    t->started_ns = clock_monotonic_ns();
    if (m->x->max_trial_ms > 0)
        t->deadline_ns = t->started_ns + m->x->max_trial_ms * 1000000;
}

/* The end, whatever kind it is: told, recorded, shown; t is freed. */
static void
conclude(struct manager *m, struct trial *t)
{
    double seconds = t->started_ns == 0
                         ? 0
                         : (double)(clock_monotonic_ns() - t->started_ns) / 1e9;
    struct err err = {0};
    struct trial **link = &m->live;

    ending_send(m, t);
    if (experiment_folder_add_result(&m->folder, t, seconds, &err) != 0)
        manager_end(m, MANAGER_UNABLE, "%s", err.text);
    scheduler_ended(&m->scheduler);
    ending_show(m, t, seconds);
    unwatch_file(m, t->report_watch);
    unwatch_file(m, t->out_watch);
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    trial_free(t);
}

static void
start(struct manager *m, struct trial *t)
{
    struct err err = {0};
    char detail[64];

    if (launch_trial(&m->launch, t, &err) != 0) {
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
        trial_enter(t, TRIAL_FAILED);
        if (++m->launches_failed >= LAUNCHES_FAILED_MAX)
            manager_end(m, MANAGER_UNABLE, "trials cannot be started: %s",
                        err.text);
        conclude(m, t);
        return;
    }
    m->launches_failed = 0;
    trial_enter(t, TRIAL_RUNNING);
    m->n_running++;
    set_deadline(m, t);
    t->report_watch = watch_file(m, t, "metrics");
    if (m->pattern != NULL)
        t->out_watch = watch_file(m, t, "stdout");
    if (manager_watch(m, t->pidfd, EPOLLIN, (uint64_t)(uintptr_t)t) != 0)
        manager_end(m, MANAGER_UNABLE, "cannot watch a trial");
    snprintf(detail, sizeof detail, "\"pid\": %d", (int)t->pid);
    manager_note(m, "started", t, detail);
    feed(m, t); /* what came before the watch stood */
    progress_touch(&m->progress);
}

void
running_take(struct manager *m, struct trial *t)
{
    struct trial **link = &m->live;

    while (*link != NULL)
        link = &(*link)->next;
    *link = t;
    running_start_waiting(m);
}

void
running_start_waiting(struct manager *m)
{
    struct trial *t = m->live, *next;

    for (; t != NULL; t = next) {
        next = t->next;
        if (t->state != TRIAL_WAITING)
            continue;
        if (m->end_known) {
            trial_enter(t, TRIAL_CANCELLED);
            conclude(m, t);
        } else if (m->n_running < m->x->concurrency) {
            start(m, t);
        }
    }
}

/* A trial that ended well and named no final result has its last value. */
static void
promote_latest(struct manager *m, struct trial *t,
               const struct outcome *outcome)
{
    struct metric_line metric = {.final = true, .value = t->latest};
    char text[NUMBER_TEXT_MAX];

    if (!m->x->last_is_final || t->has_final || !t->has_latest ||
        t->stop != STOP_NOT || outcome->kind != OUTCOME_EXITED ||
        outcome->number != 0)
        return;
    metric.sequence = t->metrics.finals;
    metric.json = text;
    metric.len = number_format(t->latest, text);
    take_metric(m, t, &metric);
}

void
running_exited(struct manager *m, struct trial *t)
{
    struct outcome outcome;
    struct err err = {0};
    siginfo_t info = {0};
    char detail[64];

    waitid(P_PIDFD, (id_t)t->pidfd, &info, WEXITED);
    manager_unwatch(m, t->pidfd);
    if (outcome_read(t->folder, &outcome, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    drain(m, t);
    promote_latest(m, t, &outcome);
    trial_enter(t, trial_judge(t, &outcome));
    m->n_running--;
    if (outcome.kind == OUTCOME_LOST)
        snprintf(detail, sizeof detail, "\"status\": \"lost\"");
    else
        snprintf(detail, sizeof detail, "\"status\": \"%s %d\"",
                 outcome.kind == OUTCOME_EXITED      ? "exited"
                 : outcome.kind == OUTCOME_SIGNALLED ? "signalled"
                                                     : "unstarted",
                 outcome.number);
    manager_note(m, "exited", t, detail);
    conclude(m, t);
}

void
running_stop(struct manager *m, struct trial *t, int stop)
{
    if (t->state != TRIAL_RUNNING || t->stop != STOP_NOT)
        return;
    feed(m, t); /* what it reported before still counts */
    t->stop = (enum trial_stop)stop;
    t->deadline_ns = INT64_MAX;
    t->kill_ns = clock_monotonic_ns() + m->x->grace_ms * 1000000 + GIVE_UP_NS;
    kill(t->pid, SIGTERM);
}

void
running_stop_all(struct manager *m)
{
    for (struct trial *t = m->live; t != NULL; t = t->next)
        running_stop(m, t, STOP_CANCEL);
    running_start_waiting(m);
}

/* A second SIGTERM ends the wrapper's grace. */
void
running_hurry_all(struct manager *m)
{
    for (struct trial *t = m->live; t != NULL; t = t->next)
        if (t->state == TRIAL_RUNNING) {
            t->kill_ns = clock_monotonic_ns() + GIVE_UP_NS;
            kill(t->pid, SIGTERM);
        }
}

void
running_expire(struct manager *m, int64_t now_ns)
{
    for (struct trial *t = m->live; t != NULL; t = t->next) {
        if (now_ns >= t->deadline_ns)
            running_stop(m, t, STOP_TIMEOUT);
        if (now_ns >= t->kill_ns) {
            t->kill_ns = INT64_MAX;
            kill(t->pid, SIGKILL);
        }
    }
}

int64_t
running_deadline(const struct manager *m)
{
    int64_t nearest = INT64_MAX;

    for (const struct trial *t = m->live; t != NULL; t = t->next) {
        if (t->deadline_ns < nearest)
            nearest = t->deadline_ns;
        if (t->kill_ns < nearest)
            nearest = t->kill_ns;
    }
    return nearest;
}
