/* SPDX-License-Identifier: MIT */
#include "wrapper/spawn.h"

#include "trial/files.h"
#include "wrapper/confine.h"
#include "wrapper/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What goes through the pipe, at once. */
struct failure {
    int code;
    char line[400];
};

/* Ends the child; the parent reads why when it has waited for it. */
static void
give_up(int failure_fd, const char *what, const char *path)
{
    struct failure f = {.code = errno};
    char why[128];

    snprintf(f.line, sizeof(f.line), "%s%s: %s", what, path,
             strerror_r(f.code, why, sizeof(why)));
    while (write(failure_fd, &f, sizeof(f)) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* Opening a FIFO, which would have nobody to read it, does not wait. */
int
spawn_output(int dir_fd, const char *name)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    int fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        fcntl(fd, F_SETFL, O_APPEND) == 0)
        return fd;
    close(fd);
    errno = ENXIO;
    return -1;
}

static void
redirect(int failure_fd, int fd, const char *name, int to)
{
    if (fd < 0 || dup2(fd, to) < 0)
        give_up(failure_fd, "cannot open ", name);
    if (fd != to)
        close(fd);
}

/* dup2() cleared the close-on-exec flag of 0, 1, 2; all else has it set. */
static void
reset_signals(void)
{
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
become(const struct options *options, int dir_fd, int failure_fd, pid_t wrapper)
{
    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        give_up(failure_fd, "cannot be tied to the wrapper", "");
    if (getppid() != wrapper) /* it died before the line above */
        _exit(127);
    redirect(failure_fd, open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null",
             0);
    redirect(failure_fd, spawn_output(dir_fd, TRIAL_STDOUT), TRIAL_STDOUT, 1);
    redirect(failure_fd, spawn_output(dir_fd, TRIAL_STDERR), TRIAL_STDERR, 2);
    if (chdir(options->cwd) != 0)
        give_up(failure_fd, "cannot change to ", options->cwd);
    if (confine_enter(options->cgroup) != 0)
        give_up(failure_fd, "cannot enter the control group ", options->cgroup);
    if (confine_limit(options->limit_bytes) != 0)
        give_up(failure_fd, "cannot limit its memory", "");
    reset_signals();
    execvp(options->program[0], options->program);
    give_up(failure_fd, "", options->program[0]);
}

int
spawn_start(struct spawn *spawn, const struct options *options, int dir_fd)
{
    pid_t wrapper = getpid();
    int ends[2], why;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    /* Not fork(): all that the child does before its exec is ask the kernel for
     * things, and what it writes in our memory nobody reads. */
    spawn->pid = vfork();
    if (spawn->pid == 0)
        become(options, dir_fd, ends[1], wrapper);
    why = errno;
    close(ends[1]);
    spawn->failure_fd = ends[0];
    if (spawn->pid > 0)
        return 0;
    close(ends[0]);
    errno = why;
    return -1;
}

int
spawn_failed(struct spawn *spawn, char *out, size_t size)
{
    struct failure f = {.code = 0};
    ssize_t n;

    do
        n = read(spawn->failure_fd, &f, sizeof(f));
    while (n < 0 && errno == EINTR);
    close(spawn->failure_fd);
    spawn->failure_fd = -1;
    if (n != sizeof(f))
        return 0;
    snprintf(out, size, "%s", f.line);
    return f.code;
}
