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
#include <unistd.h>

/* Ends the child; the parent reads the line when it has waited for it. */
static void
give_up(int failure_fd, const char *what, const char *path)
{
    char why[128], line[512];
    int code = errno;

    snprintf(line, sizeof(line), "%s%s: %s", what, path,
             strerror_r(code, why, sizeof(why)));
    while (write(failure_fd, line, strlen(line)) < 0 && errno == EINTR)
        ;
    _exit(127);
}

static void
redirect(int failure_fd, int dir_fd, const char *name, int flags, int to)
{
    int fd = openat(dir_fd, name, flags, 0600);

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
    const int append = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;

    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        give_up(failure_fd, "cannot be tied to the wrapper", "");
    if (getppid() != wrapper) /* it died before the line above */
        _exit(127);
    redirect(failure_fd, dir_fd, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
    redirect(failure_fd, dir_fd, TRIAL_STDOUT, append, 1);
    redirect(failure_fd, dir_fd, TRIAL_STDERR, append, 2);
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

bool
spawn_failed(struct spawn *spawn, char *out, size_t size)
{
    ssize_t n;

    do
        n = read(spawn->failure_fd, out, size - 1);
    while (n < 0 && errno == EINTR);
    close(spawn->failure_fd);
    spawn->failure_fd = -1;
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}
