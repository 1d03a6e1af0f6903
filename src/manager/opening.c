/* SPDX-License-Identifier: MIT */
/* What the manager opens before its loop runs, and closes after it. */
#include "manager/state.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "core/filesystem.h"
#include "core/hold.h"
#include "core/stop_signals.h"
#include "manager/commands.h"
#include "manager/machine.h"
#include "manager/origin.h"
#include "manager/parameters.h"
#include "manager/plain_command.h"
#include "manager/restore.h"
#include "runner/runner.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <unistd.h>

/* The end is known: nothing is asked for, or waited for, any more. */
static void
hear_experiment_end(void *ctx)
{
    struct manager *m = ctx;

    scheduler_close(&m->scheduler);
    placing_stir(&m->placing); /* who waits does so no more */
    unread_add_ended(&m->reading);
}

/* The parts that know no other one. */
static void
init_leaves(struct manager *m, const struct experiment *x)
{
    m->folder = EXPERIMENT_FOLDER_CLOSED;
    m->resources = RESOURCES_CLOSED;
    m->control = (struct control_server)CONTROL_SERVER_CLOSED;
    m->sources.epoll_fd = m->signal_fd = -1;
    m->scheduler = (struct scheduler){.concurrency = x->concurrency,
                                      .ahead = preparing_ahead(x),
                                      .max_trials = x->max_trials};
    m->goals = (struct goals){.of = x->objectives,
                              .minimize = x->minimize,
                              .has_stop_value = x->has_stop_value,
                              .stop_value = x->stop_value,
                              .max_without = x->max_without,
                              .max_hours = x->max_trial_hours};
    m->budget = (struct budget){.max_trials = x->max_trials,
                                .max_ms = x->max_experiment_ms};
    m->idle_deadline_ns = INT64_MAX;
    exchange_init(&m->exchange);
}

/* What it is, what people see of it, and how far it goes. */
static void
init_experiment(struct manager *m)
{
    const struct experiment *x = m->x;

    m->end = (struct experiment_end){.outcome = m->outcome,
                                     .progress = &m->progress,
                                     .hear = hear_experiment_end,
                                     .ctx = m};
    m->publish = (struct publish){.x = x,
                                  .folder = &m->folder,
                                  .live = &m->live,
                                  .sources = &m->sources,
                                  .progress = &m->progress,
                                  .outcome = m->outcome,
                                  .resumed = m->options->resume != NULL};
    m->coordinator = (struct coordinator){.folder = &m->folder,
                                          .budget = &m->budget,
                                          .goals = &m->goals,
                                          .scheduler = &m->scheduler,
                                          .launch = &m->launch,
                                          .failing = &m->failing,
                                          .placing = &m->placing,
                                          .publish = &m->publish,
                                          .progress = &m->progress,
                                          .end = &m->end,
                                          .deadline_ns = INT64_MAX};
}

/* Its dispatcher, and when that hears of what. */
static void
init_dispatcher(struct manager *m)
{
    const struct experiment *x = m->x;

    m->dispatcher = (struct dispatcher){.x = x,
                                        .options = m->options,
                                        .folder = &m->folder,
                                        .launch = &m->launch,
                                        .sources = &m->sources,
                                        .exchange = &m->exchange,
                                        .scheduler = &m->scheduler,
                                        .live = &m->live,
                                        .delivery = &m->delivery,
                                        .starting = &m->starting,
                                        .running = &m->running,
                                        .custom = &m->custom,
                                        .checkpoints = &m->checkpoints,
                                        .publish = &m->publish,
                                        .progress = &m->progress,
                                        .end = &m->end,
                                        .process = SUPERVISED_NONE,
                                        .words = {.fd = -1},
                                        .closing_deadline_ns = INT64_MAX};
    m->delivery = (struct delivery){.ops = x->deterministic ? &delivery_lockstep
                                                            : &delivery_at_once,
                                    .reading = &m->reading,
                                    .running = &m->running,
                                    .attempts = &m->attempts,
                                    .starting = &m->starting,
                                    .placing = &m->placing,
                                    .dispatcher = &m->dispatcher,
                                    .scheduler = &m->scheduler,
                                    .exchange = &m->exchange,
                                    .live = &m->live,
                                    .end = &m->end};
}

/* Trials until they run. */
static void
init_waiting(struct manager *m)
{
    const struct experiment *x = m->x;

    m->live = (struct live){.end = &m->end};
    m->placing = (struct placing){.x = x,
                                  .folder = &m->folder,
                                  .resources = &m->resources,
                                  .scheduler = &m->scheduler,
                                  .live = &m->live,
                                  .delivery = &m->delivery,
                                  .copying = &m->copying,
                                  .dues = &m->dues,
                                  .progress = &m->progress};
    m->custom = (struct custom){.x = x,
                                .folder = &m->folder,
                                .launch = &m->launch,
                                .coordinator = &m->coordinator,
                                .scheduler = &m->scheduler,
                                .live = &m->live,
                                .placing = &m->placing,
                                .exchange = &m->exchange,
                                .publish = &m->publish,
                                .progress = &m->progress,
                                .end = &m->end};
    m->copying = (struct copying){.checkpoints = &m->checkpoints,
                                  .sources = &m->sources,
                                  .live = &m->live,
                                  .by_process = !x->deterministic};
    m->preparing = (struct preparing){.x = x,
                                      .launch = &m->launch,
                                      .placing = &m->placing,
                                      .attempts = &m->attempts,
                                      .running = &m->running,
                                      .blame = &m->blame,
                                      .reading = &m->reading,
                                      .delivery = &m->delivery,
                                      .live = &m->live,
                                      .dues = &m->dues,
                                      .resources = &m->resources,
                                      .checkpoints = &m->checkpoints,
                                      .publish = &m->publish,
                                      .progress = &m->progress};
    m->starting = (struct starting){.x = x,
                                    .scheduler = &m->scheduler,
                                    .launch = &m->launch,
                                    .placing = &m->placing,
                                    .preparing = &m->preparing,
                                    .running = &m->running,
                                    .attempts = &m->attempts,
                                    .reading = &m->reading,
                                    .delivery = &m->delivery,
                                    .live = &m->live,
                                    .checkpoints = &m->checkpoints,
                                    .publish = &m->publish,
                                    .progress = &m->progress,
                                    .end = &m->end};
}

/* Trials that run. */
static void
init_running(struct manager *m)
{
    const struct experiment *x = m->x;

    m->running = (struct running){.x = x,
                                  .attempts = &m->attempts,
                                  .reading = &m->reading,
                                  .delivery = &m->delivery,
                                  .placing = &m->placing,
                                  .live = &m->live,
                                  .dues = &m->dues,
                                  .stopping = &m->stopping,
                                  .failing = &m->failing,
                                  .blame = &m->blame,
                                  .resources = &m->resources,
                                  .goals = &m->goals,
                                  .publish = &m->publish,
                                  .progress = &m->progress,
                                  .end = &m->end};
    m->reading = (struct reading){.x = x,
                                  .live = &m->live,
                                  .delivery = &m->delivery,
                                  .exchange = &m->exchange,
                                  .checkpoints = &m->checkpoints,
                                  .absent = &m->absent,
                                  .stopping = &m->stopping,
                                  .publish = &m->publish,
                                  .progress = &m->progress,
                                  .inotify_fd = -1};
    m->stopping = (struct stopping){.dues = &m->dues, .grace_ms = x->grace_ms};
    m->dues = (struct dues){
        .deadlines = &m->deadlines, .end = &m->end, .functions = running_dues};
}

/* The ends of trials, and what follows. */
static void
init_ends(struct manager *m)
{
    const struct experiment *x = m->x;

    m->attempts = (struct attempts){.live = &m->live,
                                    .placing = &m->placing,
                                    .delivery = &m->delivery,
                                    .dues = &m->dues,
                                    .exchange = &m->exchange,
                                    .end = &m->end};
    m->blame = (struct blame){.folder = &m->folder, .progress = &m->progress};
    m->failing = (struct failing){.x = x,
                                  .folder = &m->folder,
                                  .attempts = &m->attempts,
                                  .live = &m->live,
                                  .scheduler = &m->scheduler,
                                  .budget = &m->budget,
                                  .dues = &m->dues,
                                  .reading = &m->reading,
                                  .ending = &m->ending,
                                  .machines = &m->blame.machines,
                                  .publish = &m->publish,
                                  .progress = &m->progress,
                                  .end = &m->end};
    m->ending = (struct ending){.folder = &m->folder,
                                .exchange = &m->exchange,
                                .delivery = &m->delivery,
                                .publish = &m->publish,
                                .progress = &m->progress,
                                .live = &m->live,
                                .deadlines = &m->deadlines,
                                .end = &m->end,
                                .syncing = {.deadlines = &m->deadlines,
                                            .policy = &x->sync,
                                            .fd = &m->folder.results_fd},
                                .has_pattern = x->n_patterns > 0,
                                .has_assessor = x->assessor.line != 0,
                                .brief = x->platform == PLATFORM_client};
    m->packing = (struct packing){.x = x,
                                  .folder = &m->folder,
                                  .exchange = &m->exchange,
                                  .hooks = &m->publish.hooks,
                                  .progress = &m->progress,
                                  .sources = &m->sources,
                                  .deadlines = &m->deadlines,
                                  .wake = {.fd = -1}};
    m->repeat = (struct repeat){.custom = &m->custom,
                                .folder = &m->folder,
                                .live = &m->live,
                                .progress = &m->progress};
    m->study = (struct study){.x = x,
                              .options = m->options,
                              .launch = &m->launch,
                              .control = &m->control,
                              .dispatcher = &m->dispatcher,
                              .folder = &m->folder,
                              .end = &m->end,
                              .live = &m->live,
                              .placing = &m->placing,
                              .reading = &m->reading,
                              .running = &m->running,
                              .scheduler = &m->scheduler};
    m->absent = (struct absent){.x = x, .progress = &m->progress};
    m->saved_from = (struct saved_from){.progress = &m->progress};
}

void
manager_init(struct manager *m, const struct experiment *x,
             const struct manager_options *options,
             struct manager_outcome *outcome)
{
    *m = (struct manager){.x = x, .options = options, .outcome = outcome};
    init_leaves(m, x);
    init_experiment(m);
    init_dispatcher(m);
    init_waiting(m);
    init_running(m);
    init_ends(m);
    events_init(&m->publish.events, NULL, NULL);
    hooks_init(&m->publish.hooks);
}

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
    m->sources.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    m->reading.inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (m->sources.epoll_fd < 0 || m->reading.inotify_fd < 0 ||
        sources_watch(&m->sources, m->signal_fd, EPOLLIN, SOURCE_SIGNAL) != 0 ||
        sources_watch(&m->sources, m->reading.inotify_fd, EPOLLIN,
                      SOURCE_INOTIFY) != 0 ||
        sources_watch(&m->sources, m->launch.runner->fd, EPOLLIN,
                      SOURCE_RUNNER) != 0)
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

static int
open_folder(struct manager *m, struct err *err)
{
    const struct manager_options *o = m->options;
    uint64_t seed = m->x->seed;

    if (o->resume != NULL)
        return experiment_folder_open(&m->folder, o->resume, seed, err);
    if (!m->x->has_seed && draw_seed(&seed, err) != 0)
        return -1;
    return experiment_folder_make(&m->folder, m->x, o->into, seed, err);
}

static bool
is_nni(const char *command, const char *cwd)
{
    return command != NULL && plain_command_is_nni(command, cwd);
}

/* Says what the folder's file system lacks.  What that of the log does, the
 * dispatcher says. */
static void
tell_lacks(struct manager *m)
{
    char name[FILESYSTEM_NAME_MAX];

    if (m->folder.hold.note == NULL)
        return;
    filesystem_name(m->folder.path, name);
    progress_warn(&m->progress,
                  "tunepipe: warning: %s: its file system (%s) has " HOLD_LACKS
                  ": " FOLDER_EXPERIMENT HOLD_ENDING
                  ", which names process and "
                  "machine, stands for one",
                  m->folder.path, name);
}

/* What trials are launched with; the folder is open. */
static void
tell_launch(struct manager *m)
{
    const struct experiment *x = m->x;
    struct launch *l = &m->launch;

    l->checkpoints = &m->checkpoints;
    l->experiment_folder = m->folder.path;
    l->command = x->trial_command.text;
    l->prepare_command = x->prepare_command.text;
    l->cwd = x->trial_folder;
    l->seed = m->folder.seed;
    l->needs = m->reading.needs = &m->needs;
    m->needs = (struct trial_needs){
        .output = m->reading.patterns != NULL,
        .nni = is_nni(x->trial_command.text, l->cwd) ||
               is_nni(x->prepare_command.text, l->cwd),
        .lockstep = x->deterministic,
        .elsewhere = l->runner->ops->can & RUNNER_ELSEWHERE,
    };
    l->lockstep = x->deterministic;
    l->minimize = x->minimize;
    l->objectives = x->objectives;
    l->space = parameters_space(x->search_space);
}

/* The experiment has its folder: prepares the limits of its trials and says how
 * they are kept to them. */
static int
begin_resources(struct manager *m, struct err *err)
{
    struct resources *r = &m->resources;
    char said[400];

    if (r->event_fd >= 0 &&
        sources_watch(&m->sources, r->event_fd, EPOLLIN, SOURCE_RESOURCES) != 0)
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
    struct attempt_ends *ends = &m->attempts.ends;

    attempt_ends_on(ends, copying_hear_end, &m->copying);
    attempt_ends_on(ends, failing_report_value, &m->failing);
    attempt_ends_on(ends, ending_send, &m->ending);
    attempt_ends_on(ends, ending_record, &m->ending);
    attempt_ends_on(ends, scheduler_hear_end, &m->scheduler);
    attempt_ends_on(ends, coordinator_count_end, &m->coordinator);
    attempt_ends_on(ends, checkpoints_hear_end, &m->checkpoints);
    attempt_ends_on(ends, origin_hear_end, &m->checkpoints);
    attempt_ends_on(ends, reading_hear_end, &m->reading);
    attempt_ends_on(ends, placing_hear_end, &m->placing);
    attempt_ends_on(ends, attempts_hear_end, &m->attempts);
    attempt_ends_on(ends, ending_show, &m->ending);
    attempt_ends_on(ends, absent_hear_end, &m->absent);
    if (launch_has_programs(&m->launch)) /* who asks notes no files */
        attempt_ends_on(ends, saved_from_hear_end, &m->saved_from);
    attempt_ends_on(ends, coordinator_hear_end, &m->coordinator);
    attempt_ends_on(ends, blame_hear_end, &m->blame);
    attempt_ends_on(ends, failing_count, &m->failing);
    attempt_ends_on(ends, publish_hear_end, &m->publish);
    attempt_ends_on(ends, study_hear_end, &m->study);
    attempt_ends_on(ends, packing_hear_end, &m->packing);
}

/* What trials want of this machine. */
static const struct wishes *
wishes_here(struct manager *m, const struct runner_ops *kind)
{
    m->wishes = m->x->wishes;
    if (kind->can & RUNNER_ELSEWHERE) {
        m->wishes.memory = m->wishes.device_memory = 0;
        m->wishes.memory_auto = m->wishes.devices_managed = false;
        m->wishes.devices = 0;
    }
    return &m->wishes;
}

/* What a runner says. */
static void
say(void *ctx, const char *line)
{
    struct manager *m = ctx;

    progress_warn(&m->progress, "%s", line);
}

int
manager_open(struct manager *m, struct err *err)
{
    const struct experiment *x = m->x;
    const struct runner_ops *kind = m->options->runner != NULL
                                        ? m->options->runner
                                        : runner_kind(x->platform);

    hold_standard_streams();
    m->launch.machines = &m->blame.machines;
    m->launch.say = say;
    m->launch.ctx = m;
    m->launch.resumes = m->options->resume != NULL;
    if (allow_files(x, kind, err) != 0 ||
        launch_open(&m->launch, kind, x, err) != 0 ||
        resources_open(&m->resources, wishes_here(m, kind), err) != 0)
        return -1;
    if (x->n_patterns > 0 &&
        (m->reading.patterns = patterns_new(x, err)) == NULL)
        return -1;
    if (open_sources(m, err) != 0)
        return -1;
    if (open_folder(m, err) != 0)
        return -1;
    m->folder.objectives = x->objectives;
    if (x->max_output > 0 && !file_can_be_holed(m->folder.path))
        return err_set(err, ERR_CONFIG,
                       "maxTrialOutput: %s lies on a file system that cannot "
                       "give back the middle of a file, expected one like "
                       "ext4, xfs, btrfs or tmpfs: leave it out, or choose "
                       "another experimentWorkingDirectory",
                       m->folder.path);
    if (coordinator_restore(&m->coordinator, err) != 0 ||
        checkpoints_open(&m->checkpoints, m->folder.path, &x->checkpoints,
                         x->minimize, err) != 0 ||
        publish_open(&m->publish, m->launch.program_folder, err) != 0)
        return -1;
    if (x->objectives != NULL)
        m->checkpoints.front = &m->goals.front;
    if (study_open(&m->study, m->folder.path, err) != 0 ||
        commands_open(m, err) != 0)
        return -1;
    m->checkpoints.lockstep = x->deterministic;
    m->checkpoints.told = kind->can & RUNNER_ELSEWHERE;
    tell_launch(m);
    blame_open(&m->blame);
    if (runner_settle(m->launch.runner, m->folder.path, err) != 0)
        return -1;
    subscribe(m);
    m->outcome->folder = strdup(m->folder.path);
    progress_say(&m->progress, "tunepipe: experiment %s in %s", m->folder.id,
                 m->folder.path);
    tell_lacks(m);
    if (begin_resources(m, err) != 0)
        return -1;
    return m->options->resume != NULL ? restore(m, err)
                                      : dispatcher_start(&m->dispatcher, err);
}

void
manager_close(struct manager *m)
{
    publish_close(&m->publish);
    supervisor_close(&m->dispatcher.process);
    while (m->live.first != NULL) {
        struct trial *t = m->live.first;

        if (t->state == TRIAL_RUNNING || t->state == TRIAL_PREPARING)
            run_stop(t->run, RUN_TERMINATE);
        m->live.first = t->next;
        trial_free(t);
    }
    packing_close(&m->packing);
    control_server_close(&m->control);
    study_close(&m->study);
    progress_close(&m->progress);
    exchange_close(&m->exchange);
    tail_close(&m->dispatcher.words);
    map_fini(&m->reading.watches);
    syncing_close(&m->ending.syncing);
    deadlines_fini(&m->deadlines);
    lockstep_fini(&m->delivery.lockstep);
    buf_fini(&m->delivery.expected.payload);
    live_fini(&m->live);
    goals_fini(&m->goals);
    map_fini(&m->ending.shown);
    patterns_free(m->reading.patterns);
    absent_close(&m->absent);
    saved_from_close(&m->saved_from);
    launch_close(&m->launch);
    machines_fini(&m->blame.machines);
    resources_close(&m->resources);
    checkpoints_close(&m->checkpoints);
    experiment_folder_close(&m->folder);
    close_fd(m->sources.epoll_fd);
    close_fd(m->signal_fd);
    close_fd(m->reading.inotify_fd);
}
