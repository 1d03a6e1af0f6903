/* SPDX-License-Identifier: MIT */
/* The interface of runners: through the one kind there is, which runs a real
 * wrapper, and through one of our own, which starts nothing and ends what it
 * was given by its clock. */
#include "t.h"

#include "config/configuration.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"
#include "manager/checkpoints.h"
#include "manager/launch.h"
#include "manager/manager.h"
#include "manager/trial.h"
#include "manager/trial_folder.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define PATIENCE_MS 60000

/* ---- on this machine ---- */

/* The test's own folder, absolute. */
static const char *
here(void)
{
    static char path[PATH_MAX];

    CHECK(realpath(".", path) != NULL);
    return path;
}

static struct runner *
open_local(void)
{
    const struct runner_setup setup = {.program_folder = t_build("."),
                                       .grace_ms = PATIENCE_MS};
    struct err err = {0};
    struct runner *r = NULL;

    CHECK_EQ(runner_kind(PLATFORM_local)->open(&r, &setup, &err), 0);
    CHECK_EQ(runner_settle(r, here(), &err), 0);
    return r;
}

static struct runner_phase
make_phase(bool prepares)
{
    struct runner_phase phase = {here(), prepares};

    mkdir(TRIAL_PREPARE, 0700);
    return phase;
}

static struct run *
start_script(struct runner *r, struct runner_phase phase, const char *script)
{
    const char *const command[] = {"/bin/sh", "-c", script, NULL};
    extern char **environ;
    const struct runner_task task = {
        .phase = phase,
        .cwd = phase.folder,
        .command = command,
        .env = environ,
        .cgroup = "",
    };
    struct err err = {0};
    struct run *run = r->ops->start(r, &task, &err);

    CHECK(run != NULL);
    CHECK_EQ(r->ops->watch(run), 0);
    return run;
}

/* Waits for the end of this run, the only one. */
static struct run_end
take_end(struct runner *r, struct run *run)
{
    struct pollfd fd = {.fd = r->fd, .events = POLLIN};
    struct run_end end;
    struct err err = {0};

    CHECK_EQ(poll(&fd, 1, PATIENCE_MS), 1);
    CHECK(r->ops->look(r) == run);
    CHECK_EQ(run_end(&run, &end, &err), 0);
    CHECK(run == NULL);
    CHECK(r->ops->look(r) == NULL);
    return end;
}

/* Until the script has made the file. */
static void
await_file(const char *name)
{
    while (access(name, F_OK) != 0)
        poll(NULL, 0, 1);
}

TEST(runner_local_tells_how_a_phase_ended)
{
    struct runner *r = open_local();
    struct runner_phase phase = make_phase(false);
    struct run_end end;

    CHECK(r->ops->look(r) == NULL);
    end = take_end(r, start_script(r, phase, "exit 3"));
    CHECK_EQ(end.outcome.kind, OUTCOME_EXITED);
    CHECK_EQ(end.outcome.number, 3);
    CHECK(!end.unbegun);
    CHECK(r->ops->adopt(r, NULL, &phase) == NULL); /* it has ended */
    r->ops->close(r);
}

TEST(runner_local_keeps_what_prepares_in_a_folder_of_its_own)
{
    struct runner *r = open_local();
    struct runner_phase phase = make_phase(true);
    struct run_end end;

    end = take_end(r, start_script(r, phase, "exit 0"));
    CHECK_EQ(end.outcome.kind, OUTCOME_EXITED);
    CHECK_EQ(access(TRIAL_PREPARE "/" TRIAL_EXIT, F_OK), 0);
    CHECK(access(TRIAL_EXIT, F_OK) != 0);
    r->ops->close(r);
}

TEST(runner_local_stops_what_runs)
{
    struct runner *r = open_local();
    struct run *run =
        start_script(r, make_phase(false), "> up; exec sleep 1000");
    struct run_end end;

    await_file("up");
    run_stop(run, RUN_TERMINATE);
    end = take_end(r, run);
    CHECK_EQ(end.outcome.kind, OUTCOME_SIGNALLED);
    CHECK_EQ(end.outcome.number, SIGTERM);
    r->ops->close(r);
}

TEST(runner_local_adopts_what_another_left)
{
    struct runner *first = open_local(), *second;
    struct runner_phase phase = make_phase(false);
    struct run *run = start_script(first, phase, "> up; exec sleep 1000");
    pid_t pid = run_pid(run);
    struct run_end end;

    await_file("up");
    run_leave(&run);
    CHECK(run == NULL);
    first->ops->close(first);
    second = open_local();
    CHECK(access(TRIAL_LEASE ".0", F_OK) != 0); /* who comes late gives up */
    CHECK_EQ(access(TRIAL_LEASE ".0.held", F_OK), 0);
    run = second->ops->adopt(second, NULL, &phase);
    CHECK(run != NULL);
    CHECK_EQ(run_pid(run), pid);
    CHECK(run->started_ns > 0);
    CHECK_EQ(second->ops->watch(run), 0);
    run_stop(run, RUN_TERMINATE);
    end = take_end(second, run);
    CHECK_EQ(end.outcome.number, SIGTERM);
    second->ops->close(second);
    second = open_local();
    CHECK(access(TRIAL_LEASE ".0.held", F_OK) != 0); /* nobody has it */
    second->ops->close(second);
}

/* The child of this process that forks wrappers; 0: there is none. */
static pid_t
find_server(void)
{
    FILE *f = popen("pgrep -f -P $PPID -- 'wrapper --serv[e]'", "r");
    int pid = 0;

    CHECK(f != NULL);
    if (fscanf(f, "%d", &pid) != 1)
        pid = 0;
    pclose(f);
    return pid;
}

/* The second wrapper and those behind it are forked; where that ends, programs
 * are started again. */
TEST(runner_local_forks_wrappers)
{
    struct runner *r = open_local();
    struct runner_phase phase = make_phase(false);
    pid_t server;

    for (int i = 0; i < 4; i++) {
        struct run *run = start_script(
            r, phase, "echo $PPID \"$A\" >> said; test \"$A\" = 2");
        pid_t pid = run_pid(run);
        struct run_end end = take_end(r, run);
        char want[64];
        FILE *f;

        CHECK_EQ(end.outcome.kind, OUTCOME_EXITED);
        CHECK_EQ(end.outcome.number, i == 2 ? 0 : 1);
        snprintf(want, sizeof want, "grep -q '^%d ' said", (int)pid);
        CHECK_EQ(system(want), 0);
        f = fopen(TRIAL_EXIT, "r");
        CHECK(f != NULL);
        fclose(f);
        CHECK_EQ(unlink(TRIAL_EXIT), 0);
        setenv("A", i == 1 ? "2" : "3", 1);
        server = find_server();
        CHECK_EQ(server > 0, i == 1 || i == 2);
        if (i == 2)
            CHECK_EQ(kill(server, SIGKILL), 0);
    }
    r->ops->close(r);
    CHECK_EQ(find_server(), 0);
}

/* A wrapper that is given up takes its trial with it: what has left the
 * trial's first process, too. */
TEST(runner_local_leaves_nothing_of_what_was_lost)
{
    struct runner *r = open_local();
    struct run *run = start_script(
        r, make_phase(false), "sleep 1000 & echo $! > pid; mv pid up; wait");
    struct run_end end;
    char path[64];
    int pid = 0;
    FILE *up;

    await_file("up");
    up = fopen("up", "r");
    CHECK(up != NULL && fscanf(up, "%d", &pid) == 1);
    fclose(up);
    run_stop(run, RUN_GIVE_UP);
    end = take_end(r, run);
    CHECK_EQ(end.outcome.kind, OUTCOME_LOST);
    CHECK(!end.unbegun);
    snprintf(path, sizeof path, "/proc/%d/cwd", pid); /* none of a zombie */
    while (access(path, F_OK) == 0)
        poll(NULL, 0, 1);
    r->ops->close(r);
}

TEST(runner_local_needs_its_wrapper)
{
    const struct runner_setup setup = {.program_folder = "/none"};
    struct runner *r = NULL;
    struct err err = {0};

    CHECK(runner_kind(PLATFORM_local)->open(&r, &setup, &err) != 0);
    CHECK(r == NULL);
    CHECK_HAS(err.text, "tunepipe-wrapper is neither in /none nor in ");
}

/* ---- of another kind ---- */

#define TICK_NS 1000000 /* at each the trial that is the first one ends */

struct tick {
    struct run base;
    struct tick *next;
};

struct clockwork {
    struct runner base;
    struct tick *first, **last;
};

static const struct runner_ops clockwork;
static char seen_command[32]; /* of the task that was started last */
static bool saw_checkpoints;

static int
clockwork_open(struct runner **out, const struct runner_setup *setup,
               struct err *err)
{
    const struct itimerspec when = {{0, TICK_NS}, {0, TICK_NS}};
    struct clockwork *c = calloc(1, sizeof *c);

    (void)setup;
    (void)err;
    CHECK(c != NULL);
    c->last = &c->first;
    c->base.ops = &clockwork;
    c->base.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    CHECK(c->base.fd >= 0);
    timerfd_settime(c->base.fd, 0, &when, NULL);
    *out = &c->base;
    return 0;
}

static void
clockwork_close(struct runner *r)
{
    CHECK(((struct clockwork *)r)->first == NULL);
    close(r->fd);
    free(r);
}

/* The trial reports at once, so to speak. */
static struct run *
clockwork_start(struct runner *r, const struct runner_task *task,
                struct err *err)
{
    struct clockwork *c = (struct clockwork *)r;
    struct tick *tick = calloc(1, sizeof *tick);
    char *path = file_join(task->phase.folder, TRIAL_METRICS);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

    (void)err;
    CHECK(tick != NULL && fd >= 0);
    CHECK_EQ(write(fd, "final 0.5\n", 10), 10);
    close(fd);
    free(path);
    snprintf(seen_command, sizeof seen_command, "%s", task->command[2]);
    saw_checkpoints = false;
    for (char *const *var = task->env; *var != NULL; var++)
        saw_checkpoints |= strncmp(*var, TRIAL_ENV_CHECKPOINT "=",
                                   strlen(TRIAL_ENV_CHECKPOINT "=")) == 0;
    tick->base = (struct run){.runner = r, .trial = task->trial};
    *c->last = tick;
    c->last = &tick->next;
    return &tick->base;
}

static struct run *
clockwork_adopt(struct runner *r, struct trial *t,
                const struct runner_phase *phase)
{
    (void)r;
    (void)t;
    (void)phase;
    return NULL;
}

static void
clockwork_clear(struct runner *r, const struct runner_phase *phase)
{
    (void)r;
    (void)phase;
}

static int
clockwork_watch(struct run *run)
{
    (void)run;
    return 0;
}

static struct run *
clockwork_look(struct runner *r)
{
    struct clockwork *c = (struct clockwork *)r;
    uint64_t times;

    return read(r->fd, &times, sizeof times) > 0 && c->first != NULL
               ? &c->first->base
               : NULL;
}

static void
clockwork_stop(struct run *run, enum run_stop how)
{
    (void)run; /* its time comes */
    (void)how;
}

static void
clockwork_leave(struct run *run)
{
    struct clockwork *c = (struct clockwork *)run->runner;
    struct tick **at = &c->first;

    while (&(*at)->base != run)
        at = &(*at)->next;
    *at = (*at)->next;
    if (*at == NULL)
        c->last = at;
    free(run);
}

static int
clockwork_end(struct run *run, struct run_end *out, struct err *err)
{
    (void)err;
    *out = (struct run_end){.outcome = {.kind = OUTCOME_EXITED}};
    clockwork_leave(run);
    return 0;
}

static const struct runner_ops clockwork = {
    .name = "clockwork",
    .can = RUNNER_MEMORY | RUNNER_PROGRAMS,
    .open = clockwork_open,
    .close = clockwork_close,
    .start = clockwork_start,
    .adopt = clockwork_adopt,
    .clear = clockwork_clear,
    .watch = clockwork_watch,
    .look = clockwork_look,
    .stop = clockwork_stop,
    .end = clockwork_end,
    .leave = clockwork_leave,
};

/* A trial of `exit 0` that a runner of this kind is given. */
static struct trial *
launch_one(struct launch *l, const struct runner_ops *kind,
           struct checkpoints *c)
{
    static const struct checkpoint_policy policy = {CHECKPOINTS_LAST, 0, 0};
    static struct trial_needs needs;
    static const char record[] = "{\"parameter_id\": 0, \"parameters\": {}}";
    struct trial *t = trial_new(0, record, strlen(record), "0", "{}");
    struct experiment x = {.grace_ms = PATIENCE_MS};
    const char *folder = here();
    struct err err = {0};

    CHECK_EQ(mkdir("trials", 0700), 0);
    CHECK_EQ(launch_open(l, kind, &x, &err), 0);
    l->runner->ops = kind;
    CHECK_EQ(checkpoints_open(c, folder, &policy, false, &err), 0);
    l->checkpoints = c;
    l->needs = &needs;
    l->experiment_folder = l->cwd = folder;
    l->command = "exit 0";
    CHECK(t != NULL);
    CHECK_EQ(launch_trial(l, t, &err), 0);
    CHECK(t->run != NULL);
    CHECK(t->run->trial == t);
    return t;
}

TEST(runner_of_another_kind_is_given_what_a_trial_needs)
{
    struct checkpoints c = {0};
    struct launch l = {0};
    struct trial *t = launch_one(&l, &clockwork, &c);

    CHECK_STR(seen_command, "exit 0");
    CHECK(!saw_checkpoints); /* which this kind does not hand over */
    CHECK(access("checkpoints/00000", F_OK) != 0);
    CHECK_EQ(run_pid(t->run), 0);
    CHECK(access(TRIAL_LEASE ".0", F_OK) != 0); /* local's own */
    CHECK_EQ(take_end(l.runner, t->run).outcome.kind, OUTCOME_EXITED);
    t->run = NULL;
    trial_free(t);
    launch_close(&l);
    checkpoints_close(&c);
}

TEST(runner_that_can_hands_over_checkpoints)
{
    struct runner_ops able = clockwork;
    struct checkpoints c = {0};
    struct launch l = {0};
    struct trial *t;

    able.can |= RUNNER_CHECKPOINTS;
    t = launch_one(&l, &able, &c);
    CHECK(saw_checkpoints);
    CHECK_EQ(access("checkpoints/00000", F_OK), 0);
    trial_free(t); /* which leaves the run */
    launch_close(&l);
    checkpoints_close(&c);
}

TEST(runner_that_cannot_what_is_wanted_is_refused)
{
    struct experiment x = {.wishes = {.devices = 1}};
    struct launch l = {0};
    struct err err = {0};

    CHECK(launch_open(&l, &clockwork, &x, &err) != 0);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_STR(err.text, "trialGpuNumber: is not supported by "
                        "trainingService.platform 'clockwork'");
    launch_close(&l);
    x.wishes.devices = 0;
    x.wishes.memory = 1;
    CHECK_EQ(launch_open(&l, &clockwork, &x, &err), 0);
    launch_close(&l);
}

/* From the first suggestion to the last result, with a real dispatcher. */
TEST(runner_of_another_kind_runs_an_experiment)
{
    static const char text[] = "searchSpace: {x: {_type: uniform, _value: "
                               "[0, 1]}}\n"
                               "trialCommand: exit 1\n"
                               "trialConcurrency: 3\n"
                               "maxTrialNumber: 8\n"
                               "direction: maximize\n"
                               "tuner: {name: random}\n"
                               "experimentWorkingDirectory: here\n"
                               "trainingService: {platform: local}\n";
    struct manager_options options = {.dispatcher = t_build("tunepipe"),
                                      .runner = &clockwork};
    int said = open("said", O_CREAT | O_WRONLY | O_APPEND, 0600);
    struct manager_outcome outcome;
    struct problems problems = {0};
    struct experiment *x;
    struct err err = {0};

    CHECK_EQ(file_write("e.yml", text, strlen(text), &err), 0);
    x = experiment_read("e.yml", EXPERIMENT_RUN, &problems, NULL, &err);
    CHECK_STR(err.text, "");
    options.out_fd = options.err_fd = said;
    CHECK_EQ(manager_run(x, &options, &outcome, &err), 0);
    CHECK_EQ(outcome.end, MANAGER_COMPLETE);
    CHECK(outcome.ok);
    CHECK_EQ(system("test 8 = \"$(grep -c '\"status\": \"succeeded\".*"
                    "\"value\": 0.5' here/*/results.jsonl)\""),
             0);
    problems_fini(&problems);
    free(outcome.folder);
    experiment_free(x);
}
