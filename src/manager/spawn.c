/* SPDX-License-Identifier: MIT */
#include "manager/spawn.h"

#include "core/err.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void
spawn_signals(posix_spawnattr_t *attr, int blocked, short flags)
{
    sigset_t set;

    sigemptyset(&set);
    if (blocked != 0)
        sigaddset(&set, blocked);
    posix_spawnattr_setsigmask(attr, &set);
    sigemptyset(&set);
    for (int i = 1; i < SIGRTMIN; i++)
        if (i != SIGKILL && i != SIGSTOP)
            sigaddset(&set, i);
    posix_spawnattr_setsigdefault(attr, &set);
    posix_spawnattr_setflags(
        attr, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | flags));
}

int
spawn_start(const char *program, posix_spawn_file_actions_t *files,
            const posix_spawnattr_t *attr, char *const argv[],
            char *const env[], pid_t *pid, struct err *err)
{
    int number = posix_spawn(pid, program, files, attr, argv, env);

    if (number == 0)
        return 0;
    errno = number;
    return err_errno(err, ERR_SYSTEM, "%s: cannot start", program);
}

int
spawn_pidfd(pid_t pid, int *out, struct err *err)
{
    *out = (int)syscall(SYS_pidfd_open, pid, 0);
    if (*out >= 0)
        return 0;
    err_errno(err, ERR_SYSTEM, "cannot watch process %d", (int)pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return -1;
}
