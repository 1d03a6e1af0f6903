/* SPDX-License-Identifier: MIT */
/* DESIGN.  Trials on this machine, each phase under a wrapper of its own
 * (trial/files.h) that outlives its manager.  The ends of wrappers are seen by
 * their pidfds, which lie in one epoll.
 *
 * They hold a lease, a FIFO: its end tells them that their manager is gone.
 * Each manager makes one of its own, EXPERIMENT/lease.N, moves those of earlier
 * ones away, to lease.N.held, and holds them, too.  A wrapper that was started
 * and has not come so far yet must neither be taken for dead nor start its
 * trial later, beside a new attempt: it gives up where its lease is no more
 * once it has written its TRIAL_WRAPPER_PID, so that one which is not found
 * there when the lease is away will never be. */
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/number.h"
#include "core/process.h"
#include "runner/local/orphans.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* With no manager to adopt it for so long, a trial ends. */
#define ADOPT_MS 10000
#define COMING_UP_MS 10
#define COMING_UP_TIMES 300
#define LEASE TRIAL_LEASE "."
#define HELD ".held"

extern const struct runner_ops runner_local;

/* The manager's end of a lease. */
struct held {
    int fd;
    char *path;
};

struct local {
    struct runner base;
    char *wrapper; /* the program's path */
    int64_t grace_ms, adopt_ms;
    uint64_t max_output;
    bool synced;
    struct orphans orphans; /* of trials that earlier managers started */
    const char *folder;     /* in which the leases lie; NULL: not settled */
    const char *lease;      /* the path of ours, the last of those held */
    uint64_t number;        /* of that lease */
    struct held *held;
    size_t n_held, cap_held;
    uint64_t n_started;
    int server_fd, server_pidfd; /* of what forks wrappers; -1: there is none */
};

struct local_run {
    struct run base;
    struct runner_phase phase;
    int pidfd;    /* of the wrapper */
    int lease_fd; /* of one that an earlier version started; else -1 */
    bool watched;
};

static struct local *
local_of(const struct run *run)
{
    return (struct local *)run->runner;
}

static void
end_server(struct local *l)
{
    if (l->server_fd < 0)
        return;
    close(l->server_fd); /* which ends it */
    process_kill(l->server_pidfd, SIGKILL);
    process_reap(&l->server_pidfd);
    l->server_fd = -1;
}

static int
open_lease(const char *path)
{
    return open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
}

/* It stays where somebody runs on under it. */
static void
let_go(struct held *h)
{
    int fd;

    close(h->fd);
    fd = open_lease(h->path);
    if (fd >= 0)
        close(fd);
    else if (errno == ENXIO)
        unlink(h->path);
    free(h->path);
}

static void
local_close(struct runner *r)
{
    struct local *l = (struct local *)r;

    if (r->fd >= 0)
        close(r->fd);
    end_server(l);
    while (l->n_held > 0)
        let_go(&l->held[--l->n_held]);
    orphans_fini(&l->orphans);
    free(l->held);
    free(l->wrapper);
    free(l);
}

static int
local_open(struct runner **out, const struct runner_setup *setup,
           struct err *err)
{
    struct local *l = calloc(1, sizeof *l);
    int rc = 0;

    if (l == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    l->base.ops = &runner_local;
    l->server_fd = l->server_pidfd = -1;
    l->base.fd = epoll_create1(EPOLL_CLOEXEC);
    l->grace_ms = setup->grace_ms;
    l->adopt_ms = setup->adopt_ms > 0 ? setup->adopt_ms : ADOPT_MS;
    l->max_output = setup->max_output;
    l->synced = setup->synced;
    l->wrapper = runner_wrapper(setup->program_folder, err);
    if (l->base.fd < 0)
        rc = err_errno(err, ERR_SYSTEM, "cannot watch for the ends of trials");
    else if (l->wrapper == NULL)
        rc = -1;
    if (rc == 0)
        *out = &l->base;
    else
        local_close(&l->base);
    return rc;
}

/* ---- leases ---- */

/* Takes the path. */
static int
hold(struct local *l, int fd, char *path, struct err *err)
{
    if (GROW(l->held, l->n_held, l->cap_held) != 0) {
        close(fd);
        free(path);
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    l->held[l->n_held++] = (struct held){fd, path};
    return 0;
}

/* Moves an earlier manager's lease away, and holds it; one that no wrapper has
 * open is removed. */
static int
take_lease(struct local *l, const char *name, bool held, struct err *err)
{
    char *path = file_join(l->folder, name), *to = NULL;
    int rc = 0, fd;

    if (path == NULL || asprintf(&to, "%s%s", path, held ? "" : HELD) < 0)
        to = NULL;
    if (to == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (!held && rename(path, to) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot move", path);
    else if ((fd = open_lease(to)) >= 0) {
        free(path);
        return hold(l, fd, to, err);
    } else if (errno == ENXIO)
        unlink(to);
    else
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot open", to);
    free(path);
    free(to);
    return rc;
}

static int
make_lease(struct local *l, struct err *err)
{
    char *path;
    int fd;

    if (asprintf(&path, "%s/" LEASE "%llu", l->folder,
                 (unsigned long long)l->number) < 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (mkfifo(path, 0600) != 0)
        err_errno(err, ERR_SYSTEM,
                  "%s: cannot make the FIFO by which trials see that their "
                  "manager lives (another experimentWorkingDirectory may have "
                  "a file system that can)",
                  path);
    else if ((fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)) < 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    else {
        l->lease = path;
        return hold(l, fd, path, err);
    }
    unlink(path);
    free(path);
    return -1;
}

static int
local_settle(struct runner *r, const char *folder, struct err *err)
{
    struct local *l = (struct local *)r;
    DIR *all = opendir(folder);
    struct dirent *entry;
    int rc =
        all == NULL ? err_errno(err, ERR_SYSTEM, "%s: cannot read", folder) : 0;

    l->folder = folder;
    while (rc == 0 && (entry = readdir(all)) != NULL) {
        const char *digits = entry->d_name + sizeof LEASE - 1;
        size_t len;
        uint64_t number;

        if (strncmp(entry->d_name, LEASE, sizeof LEASE - 1) != 0)
            continue;
        len = strcspn(digits, ".");
        if (!number_parse_u64(digits, len, &number) ||
            (digits[len] != '\0' && strcmp(digits + len, HELD) != 0))
            continue;
        if (number >= l->number)
            l->number = number + 1;
        rc = take_lease(l, entry->d_name, digits[len] != '\0', err);
    }
    if (all != NULL)
        closedir(all);
    return rc == 0 ? make_lease(l, err) : -1;
}

/* ---- a run ---- */

static struct local_run *
run_new(struct runner *r, struct trial *t, const struct runner_phase *phase)
{
    struct local_run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return NULL;
    run->base = (struct run){.runner = r, .trial = t};
    run->phase = *phase;
    run->pidfd = run->lease_fd = -1;
    return run;
}

static void
unwatch(struct local_run *run)
{
    if (run->watched)
        epoll_ctl(run->base.runner->fd, EPOLL_CTL_DEL, run->pidfd, NULL);
    run->watched = false;
}

static void
local_leave(struct run *base)
{
    struct local_run *run = (struct local_run *)base;

    unwatch(run);
    if (run->pidfd >= 0)
        close(run->pidfd);
    if (run->lease_fd >= 0)
        close(run->lease_fd);
    free(run);
}

static int
local_watch(struct run *base)
{
    struct local_run *run = (struct local_run *)base;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = base};

    if (epoll_ctl(base->runner->fd, EPOLL_CTL_ADD, run->pidfd, &e) != 0)
        return -1;
    run->watched = true;
    return 0;
}

static struct run *
local_look(struct runner *r)
{
    struct epoll_event e;

    return epoll_wait(r->fd, &e, 1, 0) == 1 ? e.data.ptr : NULL;
}

/* Never a stranger, even when the wrapper is nobody's child any more. */
static void
local_stop(struct run *base, enum run_stop how)
{
    process_kill(((struct local_run *)base)->pidfd,
                 how == RUN_GIVE_UP ? SIGKILL : SIGTERM);
}

/* The orphans of a lost trial are ended before the wrapper is waited for: until
 * then its id is no stranger's. */
static int
local_end(struct run *base, struct run_end *out, struct err *err)
{
    struct local_run *run = (struct local_run *)base;
    char *home = runner_phase_folder(&run->phase);
    siginfo_t info;
    int rc;

    *out = (struct run_end){.outcome = {.kind = OUTCOME_LOST}};
    rc = home == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                      : outcome_read(home, &out->outcome, err);
    free(home);
    if (out->outcome.kind == OUTCOME_LOST)
        orphans_kill(run->phase.folder, base->pid);
    unwatch(run);
    info = process_reap(&run->pidfd);
    out->unbegun = out->outcome.kind == OUTCOME_LOST &&
                   info.si_code == CLD_EXITED &&
                   info.si_status == TRIAL_WRAPPER_LATER;
    local_leave(base);
    return rc;
}

/* ---- started ---- */

/* The arguments of a wrapper; they borrow, but for themselves. */
struct words {
    const char **argv;
    char grace[32], adopt[32], limit[32], output[32];
};

static int
write_words(struct words *w, const struct local *l, const char *home,
            const struct runner_task *task)
{
    bool grouped = task->cgroup[0] != '\0';
    const char *const first[] = {l->wrapper,
                                 "--dir",
                                 home,
                                 "--cwd",
                                 task->cwd,
                                 "--grace-ms",
                                 w->grace,
                                 "--adopt-ms",
                                 w->adopt,
                                 "--lease",
                                 l->lease,
                                 "--output-bytes",
                                 w->output,
                                 "--synced",
                                 l->synced ? "1" : "0",
                                 grouped ? "--cgroup" : "--limit-bytes",
                                 grouped ? task->cgroup : w->limit,
                                 "--"};
    size_t n = 0;

    while (task->command[n] != NULL)
        n++;
    w->argv = malloc(sizeof first + (n + 1) * sizeof *w->argv);
    if (w->argv == NULL)
        return -1;
    memcpy(w->argv, first, sizeof first);
    memcpy(w->argv + sizeof first / sizeof *first, task->command,
           (n + 1) * sizeof *w->argv);
    snprintf(w->grace, sizeof w->grace, "%lld", (long long)l->grace_ms);
    snprintf(w->adopt, sizeof w->adopt, "%lld", (long long)l->adopt_ms);
    snprintf(w->output, sizeof w->output, "%llu",
             (unsigned long long)l->max_output);
    snprintf(w->limit, sizeof w->limit, "%llu",
             (unsigned long long)task->limit);
    return 0;
}

/* Starts it as a program. */
static pid_t
spawn_wrapper(struct local_run *run, const char *home, const char *const argv[],
              char *const *env)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
    char *words = file_join(home, TRIAL_STDERR);
    struct process_spawn how = {
        .argv = argv,
        .env = env,
        .files = {PROCESS_NULL, PROCESS_NULL, -1},
        .session = true,
        .blocked = SIGTERM, /* until it is ready: a stop may come at once */
    };
    pid_t pid = -1;
    int why;

    how.files[2] = words == NULL ? -1 : open(words, flags | O_CLOEXEC, 0600);
    if (how.files[2] >= 0)
        pid = process_spawn(&how, &run->pidfd, NULL);
    why = errno;
    if (how.files[2] >= 0)
        close(how.files[2]);
    free(words);
    errno = why;
    return pid;
}

/* ---- forked by a server ---- */

#define ROOM 1024 /* for what ps(1) shows */
#define PATIENCE_S 10

static void
begin_server(struct local *l)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    const int type = SOCK_SEQPACKET | SOCK_CLOEXEC;
    char room[ROOM];
    const char *const argv[] = {l->wrapper, TRIAL_WRAPPER_SERVE, room, NULL};
    int ends[2];

    memset(room, '.', sizeof room - 1);
    room[sizeof room - 1] = '\0';
    if (socketpair(AF_UNIX, type, 0, ends) != 0)
        return;
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (process_spawn(&(struct process_spawn){.argv = argv,
                                              .files = {ends[1], PROCESS_NULL,
                                                        PROCESS_NULL},
                                              .session = true,
                                              .blocked = SIGTERM},
                      &l->server_pidfd, NULL) > 0)
        l->server_fd = ends[0];
    else
        close(ends[0]);
    close(ends[1]);
}

static void
add_texts(struct buf *out, const char *const texts[], uint32_t *n)
{
    for (; *texts != NULL; texts++, ++*n)
        buf_add(out, *texts, strlen(*texts) + 1);
}

/* -1: errno; 0: it is to be started otherwise. */
static pid_t
order_wrapper(struct local_run *run, const char *const argv[], char *const *env)
{
    struct local *l = local_of(&run->base);
    uint32_t n_args = 0, n_env = 0;
    struct buf order;
    int32_t pid = 0;

    buf_init(&order, TRIAL_WRAPPER_ORDER_MAX);
    buf_add(&order, &n_args, sizeof n_args);
    add_texts(&order, argv, &n_args);
    add_texts(&order, (const char *const *)env, &n_env);
    if (!order.failed) {
        memcpy(order.data, &n_args, sizeof n_args);
        if (send(l->server_fd, order.data, order.len, MSG_NOSIGNAL) < 0 ||
            recv(l->server_fd, &pid, sizeof pid, 0) != sizeof pid) {
            end_server(l);
            pid = 0;
        }
    }
    buf_fini(&order);
    if (pid < 0)
        errno = -pid;
    if (pid > 0 && (run->pidfd = process_watch(pid)) < 0) {
        int why = errno;

        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        errno = why;
        pid = -1;
    }
    return pid < 0 ? -1 : pid;
}

/* The first is started as a program, and so are all where no server can be had:
 * of one trial alone nobody needs it. */
static int
start_wrapper(struct local_run *run, const char *home,
              const struct runner_task *task, struct err *err)
{
    struct local *l = local_of(&run->base);
    struct words w;
    pid_t pid = 0;

    if (write_words(&w, l, home, task) != 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (l->n_started == 1)
        begin_server(l);
    l->n_started++;
    if (l->server_fd >= 0)
        pid = order_wrapper(run, w.argv, task->env);
    if (pid == 0)
        pid = spawn_wrapper(run, home, w.argv, task->env);
    if (pid > 0)
        run->base.pid = pid;
    else
        err_errno(err, ERR_SYSTEM, "%s: cannot start", l->wrapper);
    free(w.argv);
    return pid > 0 ? 0 : -1;
}

static struct run *
local_start(struct runner *r, const struct runner_task *task, struct err *err)
{
    struct local_run *run = run_new(r, task->trial, &task->phase);
    char *home = runner_phase_folder(&task->phase);
    int rc = run == NULL || home == NULL
                 ? err_set(err, ERR_MEMORY, "out of memory")
                 : 0;

    if (rc == 0)
        rc = start_wrapper(run, home, task, err);
    free(home);
    if (rc == 0)
        return &run->base;
    if (run != NULL)
        local_leave(&run->base);
    return NULL;
}

/* ---- adopted ---- */

/* `ticks`: since boot, when the wrapper began. */
static int64_t
monotonic_of(unsigned long long ticks)
{
    int64_t hz = sysconf(_SC_CLK_TCK), lived;
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    lived = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
            (int64_t)ticks * (1000000000 / (hz > 0 ? hz : 100));
    return clock_monotonic_ns() - (lived > 0 ? lived : 0);
}

/* What the wrapper wrote is believed when the process began as it says. */
static bool
find_process(struct local_run *run, const char *home)
{
    unsigned long long start;
    pid_t pid = orphans_wrapper(home, &start);

    if (pid == 0)
        return false;
    run->pidfd = process_open(pid, start);
    if (run->pidfd < 0)
        return false;
    run->base.pid = pid;
    run->base.started_ns = monotonic_of(start);
    return true;
}

/* Whether there is a file in which a wrapper writes just now. */
static bool
is_being_written(const char *home)
{
    unsigned long long start;

    return file_has(home, TRIAL_WRAPPER_PID) &&
           orphans_wrapper(home, &start) == 0;
}

static bool
find_wrapper_of(struct local_run *run, const char *home)
{
    char *lease;
    bool found;

    for (int i = 0; i < COMING_UP_TIMES && is_being_written(home); i++)
        poll(NULL, 0, COMING_UP_MS);
    found = !file_has(home, TRIAL_EXIT) && find_process(run, home);
    lease = found ? file_join(home, TRIAL_LEASE) : NULL;
    if (lease != NULL)
        run->lease_fd = open_lease(lease);
    free(lease);
    return found;
}

static struct run *
local_adopt(struct runner *r, struct trial *t, const struct runner_phase *phase)
{
    struct local_run *run = run_new(r, t, phase);
    char *home = runner_phase_folder(phase);
    bool found = run != NULL && home != NULL && find_wrapper_of(run, home);

    free(home);
    if (found)
        return &run->base;
    if (run != NULL)
        local_leave(&run->base);
    return NULL;
}

static void
local_clear(struct runner *r, const struct runner_phase *phase)
{
    char *home = runner_phase_folder(phase);

    if (home != NULL)
        orphans_kill_old(&((struct local *)r)->orphans, phase->folder, home);
    free(home);
}

const struct runner_ops runner_local = {
    .name = "local",
    .can =
        RUNNER_CHECKPOINTS | RUNNER_MEMORY | RUNNER_DEVICES | RUNNER_PROGRAMS,
    .descriptors = 1,
    .open = local_open,
    .close = local_close,
    .settle = local_settle,
    .start = local_start,
    .adopt = local_adopt,
    .clear = local_clear,
    .watch = local_watch,
    .look = local_look,
    .stop = local_stop,
    .end = local_end,
    .leave = local_leave,
};
