/* SPDX-License-Identifier: MIT */
/* What the manager opens before its loop runs, and closes after it. */
#include "manager/state.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/stop_signals.h"
#include "manager/commands.h"
#include "manager/coordinator.h"
#include "manager/delivery.h"
#include "manager/dispatcher.h"
#include "manager/ending.h"
#include "manager/failing.h"
#include "manager/publish.h"
#include "manager/machine.h"
#include "manager/origin.h"
#include "manager/placing.h"
#include "manager/preparing.h"
#include "manager/metrics.h"
#include "manager/reading.h"
#include "manager/restore.h"
#include "manager/trial.h"
#include "runner/runner.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <unistd.h>

static void
close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Opens what is missing of the standard streams, so that nothing opened later
 * gets the number of one. */
static void
hold_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    close_fd(fd);
}

static int
open_sources(struct manager *m, struct err *err)
{
    signal(SIGPIPE, SIG_IGN);
    m->signal_fd = stop_signals_open(err);
    if (m->signal_fd < 0)
        return -1;
    m->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    m->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (m->epoll_fd < 0 || m->inotify_fd < 0 ||
        manager_watch(m, m->signal_fd, EPOLLIN, SOURCE_SIGNAL) != 0 ||
        manager_watch(m, m->inotify_fd, EPOLLIN, SOURCE_INOTIFY) != 0 ||
        manager_watch(m, m->launch.runner->fd, EPOLLIN, SOURCE_RUNNER) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot set up the event loop");
    return 0;
}

/* Allows as many open files as the trials need that may run at a time. */
static int
allow_files(const struct experiment *x, const struct runner_ops *kind,
            struct err *err)
{
    uint64_t most = x->concurrency + preparing_ahead(x);

    if (x->max_trials > 0 && x->max_trials < most)
        most = x->max_trials;
    return machine_allow_files(most, kind->descriptors, err);
}

/* Draws a seed that is short enough to be typed again. */
static int
draw_seed(uint64_t *out, struct err *err)
{
    uint32_t seed;

    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return err_errno(err, ERR_SYSTEM, "cannot draw a seed");
    *out = seed;
    return 0;
}

/* The experiment has its folder: prepares the limits of its trials and says how
 * they are kept to them. */
static int
begin_resources(struct manager *m, struct err *err)
{
    struct resources *r = &m->resources;
    char said[400];

    if (r->event_fd >= 0 &&
        manager_watch(m, r->event_fd, EPOLLIN, SOURCE_RESOURCES) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch the machine");
    if (resources_begin(r, m->folder.path, m->folder.id, said, sizeof said,
                        err) != 0)
        return -1;
    if (said[0] != '\0')
        progress_say(&m->progress, "tunepipe: %s", said);
    return 0;
}

/* Who hears when a trial has ended, in this order: first the dispatcher, then
 * the disk, then whoever may begin or end something because of it. */
static void
subscribe(struct manager *m)
{
    attempt_ends_on(&m->ends, failing_report_value, m);
    attempt_ends_on(&m->ends, ending_send, m);
    attempt_ends_on(&m->ends, ending_record, m);
    attempt_ends_on(&m->ends, scheduler_hear_end, &m->scheduler);
    attempt_ends_on(&m->ends, checkpoints_hear_end, &m->checkpoints);
    attempt_ends_on(&m->ends, origin_hear_end, &m->checkpoints);
    attempt_ends_on(&m->ends, reading_hear_end, m);
    attempt_ends_on(&m->ends, placing_hear_end, m);
    attempt_ends_on(&m->ends, running_hear_end, m);
    attempt_ends_on(&m->ends, ending_show, m);
    attempt_ends_on(&m->ends, coordinator_hear_end, m);
    attempt_ends_on(&m->ends, failing_count, m);
    attempt_ends_on(&m->ends, publish_hear_end, m);
}

int
manager_open(struct manager *m, struct err *err)
{
    const struct experiment *x = m->x;
    const struct runner_ops *kind = m->options->runner != NULL
                                        ? m->options->runner
                                        : runner_kind(x->platform);

    hold_standard_streams();
    if (allow_files(x, kind, err) != 0 ||
        launch_open(&m->launch, kind, x, err) != 0 ||
        resources_open(&m->resources, &x->wishes, err) != 0)
        return -1;
    m->seed = x->seed;
    if (!x->has_seed && m->options->resume == NULL &&
        draw_seed(&m->seed, err) != 0)
        return -1;
    if (x->metrics_pattern != NULL &&
        (m->pattern = pattern_new(x->metrics_pattern, err)) == NULL)
        return -1;
    if (open_sources(m, err) != 0)
        return -1;
    if (m->options->resume != NULL
            ? experiment_folder_open(&m->folder, m->options->resume, m->seed,
                                     err) != 0
            : experiment_folder_make(&m->folder, x, m->seed, err) != 0)
        return -1;
    if (coordinator_restore(m, err) != 0 ||
        checkpoints_open(&m->checkpoints, m->folder.path, &x->checkpoints,
                         x->minimize, err) != 0 ||
        publish_open(m, err) != 0)
        return -1;
    commands_open(m);
    m->checkpoints.lockstep = x->deterministic;
    m->launch.checkpoints = &m->checkpoints;
    m->launch.experiment_folder = m->folder.path;
    m->launch.command = x->trial_command;
    m->launch.prepare_command = x->prepare_command;
    m->launch.cwd = x->trial_folder;
    m->launch.seed = m->seed;
    m->launch.wants_output = m->pattern != NULL;
    subscribe(m);
    m->delivery = x->deterministic ? &delivery_lockstep : &delivery_at_once;
    m->launch.lockstep = x->deterministic;
    m->launch.minimize = x->minimize;
    m->outcome->folder = strdup(m->folder.path);
    progress_say(&m->progress, "tunepipe: experiment %s in %s", m->folder.id,
                 m->folder.path);
    if (begin_resources(m, err) != 0)
        return -1;
    return m->options->resume != NULL ? restore(m, err)
                                      : dispatcher_start(m, err);
}

void
manager_close(struct manager *m)
{
    publish_close(m);
    supervisor_close(&m->dispatcher);
    while (m->live != NULL) {
        struct trial *t = m->live;

        if (t->state == TRIAL_RUNNING || t->state == TRIAL_PREPARING)
            run_stop(t->run, RUN_TERMINATE);
        m->live = t->next;
        trial_free(t);
    }
    control_server_close(&m->control);
    progress_close(&m->progress);
    exchange_close(&m->exchange);
    tail_close(&m->words);
    map_fini(&m->watches);
    map_fini(&m->by_number);
    deadlines_fini(&m->deadlines);
    lockstep_fini(&m->lockstep);
    buf_fini(&m->expected.payload);
    map_fini(&m->taken);
    pattern_free(m->pattern);
    launch_close(&m->launch);
    resources_close(&m->resources);
    checkpoints_close(&m->checkpoints);
    experiment_folder_close(&m->folder);
    close_fd(m->epoll_fd);
    close_fd(m->signal_fd);
    close_fd(m->inotify_fd);
}
