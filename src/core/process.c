/* SPDX-License-Identifier: MIT */
/* DESIGN.  A program is started by vfork(2): the memory of a process that is
 * large is not copied, and all that the new process does before its exec(2) is
 * ask the kernel for things.  What it fails at comes through a pipe that exec
 * closes, and not through the memory that both have: sanitizers make vfork a
 * fork.  All signals are blocked meanwhile, or a handler could run in the new
 * process. */
#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STAT_MAX 2048
#define N_FILES 3

extern char **environ;

/* ---- the new process, before it is the program ---- */

/* Puts the files in the places of 0, 1 and 2; one that lies where another has
 * to go is moved out of the way first. */
static int
place_files(const int files[N_FILES])
{
    int from[N_FILES];

    for (int i = 0; i < N_FILES; i++) {
        from[i] = files[i];
        if (from[i] == PROCESS_NULL)
            from[i] =
                open("/dev/null", (i == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
        else if (from[i] == PROCESS_OURS)
            continue;
        if (from[i] >= 0 && from[i] < N_FILES && from[i] != i)
            from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, N_FILES);
        if (from[i] < 0)
            return -1;
    }
    for (int i = 0; i < N_FILES; i++) {
        int rc = from[i] == PROCESS_OURS ? 0
                 : from[i] == i          ? fcntl(i, F_SETFD, 0)
                                         : dup2(from[i], i);

        if (rc < 0)
            return -1;
    }
    return 0;
}

static void
reset_signals(int blocked)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t set;

    for (int number = 1; number < NSIG; number++)
        sigaction(number, &by_default, NULL);
    sigemptyset(&set);
    if (blocked != 0)
        sigaddset(&set, blocked);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

/* Has the new process killed when the parent's thread ends, which may have
 * happened already. */
static int
tie(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return -1;
    if (getppid() != parent)
        _exit(127);
    return 0;
}

/* Becomes the program, in the new process.  Returns only on a failure: the step
 * that failed. */
static enum process_step
become(const struct process_spawn *how, pid_t parent, int *ready)
{
    char *const *argv = (char *const *)how->argv;
    char *const *env = how->env != NULL ? how->env : environ;

    if (how->session)
        setsid();
    else
        setpgid(0, 0);
    if (how->tied && tie(parent) != 0)
        return PROCESS_TIED;
    if (place_files(how->files) != 0)
        return PROCESS_FILES;
    if (how->folder != NULL && chdir(how->folder) != 0)
        return PROCESS_FOLDER;
    if (how->ready != NULL && (*ready = how->ready(how->arg)) != 0)
        return PROCESS_READY;
    reset_signals(how->blocked);
    if (how->along_path)
        execvpe(argv[0], argv, env);
    else
        execve(argv[0], argv, env);
    return PROCESS_BEGUN;
}

static pid_t
begin(const struct process_spawn *how, pid_t parent, int failure_fd)
{
    pid_t pid = vfork();

    if (pid == 0) {
        struct process_failure f = {.ready = 0};

        f.step = become(how, parent, &f.ready);
        f.number = errno;
        _exit(write(failure_fd, &f, sizeof f) > 0 ? 127 : 126);
    }
    return pid;
}

/* ---- the one that starts it ---- */

static void
await(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Reads what failed in the new process.  False: nothing, the program has
 * begun. */
static bool
read_failure(int fd, struct process_failure *out)
{
    ssize_t n;

    do
        n = read(fd, out, sizeof *out);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *out;
}

/* A pidfd for a new child, which is killed if none can be had. */
static pid_t
watch_or_end(pid_t pid, int *pidfd)
{
    int why;

    *pidfd = process_watch(pid);
    if (*pidfd >= 0)
        return pid;
    why = errno;
    kill(pid, SIGKILL);
    await(pid);
    errno = why;
    return -1;
}

static pid_t
spawn(const struct process_spawn *how, struct process_failure *f)
{
    sigset_t all, before;
    int ends[2];
    pid_t pid;

    f->step = PROCESS_MADE;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = begin(how, getpid(), ends[1]);
    f->number = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid > 0 && read_failure(ends[0], f)) {
        await(pid);
        pid = -1;
    }
    close(ends[0]);
    errno = f->number;
    return pid;
}

/* Opens the pipes for the program: its ends go into files, ours into pipes. */
static int
open_pipes(struct process_spawn *how)
{
    int ends[2];

    for (int i = 0; i < N_FILES && how->pipes != NULL; i++)
        how->pipes[i] = -1;
    for (int i = 0; i < N_FILES; i++) {
        if (how->files[i] != PROCESS_PIPE)
            continue;
        if (pipe2(ends, O_CLOEXEC) != 0)
            return -1;
        how->files[i] = ends[i == 0 ? 0 : 1];
        how->pipes[i] = ends[i == 0 ? 1 : 0];
    }
    return 0;
}

static void
close_pipes(const int ends[N_FILES], const int wanted[N_FILES])
{
    for (int i = 0; i < N_FILES; i++)
        if (wanted[i] == PROCESS_PIPE && ends[i] >= 0)
            close(ends[i]);
}

pid_t
process_spawn(const struct process_spawn *how, int *pidfd,
              struct process_failure *failure)
{
    struct process_failure f = {.step = PROCESS_PIPED};
    struct process_spawn with = *how;
    pid_t pid = -1;

    if (open_pipes(&with) == 0)
        pid = spawn(&with, &f);
    if (pid > 0 && pidfd != NULL)
        pid = watch_or_end(pid, pidfd);
    f.number = errno;
    close_pipes(with.files, how->files);
    if (pid < 0 && how->pipes != NULL)
        close_pipes(how->pipes, how->files);
    if (failure != NULL)
        *failure = f;
    errno = f.number;
    return pid;
}

pid_t
process_fork(int *pidfd)
{
    pid_t parent = getpid(), pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0 && tie(parent) != 0)
        _exit(127);
    return pid > 0 && pidfd != NULL ? watch_or_end(pid, pidfd) : pid;
}

static bool
is_named(const char *var, const char *name, size_t len)
{
    return strncmp(var, name, len) == 0 && var[len] == '=';
}

static bool
is_replaced(const char *var, char *const ours[], const char *const unset[])
{
    for (; *ours != NULL; ours++)
        if (is_named(var, *ours, strcspn(*ours, "=")))
            return true;
    for (; unset != NULL && *unset != NULL; unset++)
        if (is_named(var, *unset, strlen(*unset)))
            return true;
    return false;
}

char **
process_environment(char *const ours[], const char *const unset[])
{
    size_t n = 0, n_ours = 0;
    char **all;

    while (ours[n_ours] != NULL)
        n_ours++;
    while (environ[n] != NULL)
        n++;
    all = calloc(n_ours + n + 1, sizeof *all);
    if (all == NULL)
        return NULL;
    memcpy(all, ours, n_ours * sizeof *all);
    for (char **var = environ; *var != NULL; var++)
        if (!is_replaced(*var, ours, unset))
            all[n_ours++] = *var;
    return all;
}

bool
process_close_others(unsigned int flags)
{
    return syscall(__NR_close_range, 3U, ~0U, flags) == 0;
}

/* ---- its end ---- */

siginfo_t
process_reap(int *pidfd)
{
    siginfo_t end;

    do
        end = (siginfo_t){.si_pid = 0};
    while (waitid(PROCESS_PIDFD, (id_t)*pidfd, &end, WEXITED) != 0 &&
           errno == EINTR);
    close(*pidfd);
    *pidfd = -1;
    return end;
}

/* ---- processes of others ---- */

struct stat_line {
    int parent;
    unsigned long long start;
};

static struct stat_line
read_stat(pid_t pid)
{
    struct stat_line s = {0, 0};
    char path[64], text[STAT_MAX];
    const char *at;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return s;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    /* the command's name in front of it may hold spaces and parentheses */
    at = strrchr(text, ')');
    if (at != NULL)
        sscanf(at + 1,
               " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
               "%*d %*d %*d %*d %llu",
               &s.parent, &s.start);
    return s;
}

uint64_t
process_start(pid_t pid)
{
    return read_stat(pid).start;
}

pid_t
process_parent(pid_t pid)
{
    return read_stat(pid).parent;
}

int
process_watch(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int
process_open(pid_t pid, uint64_t start)
{
    int fd = pid > 0 ? process_watch(pid) : -1;

    if (fd >= 0 && start != 0 && process_start(pid) == start)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool
process_ended(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

bool
process_kill(int pidfd, int number)
{
    return syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) == 0;
}
