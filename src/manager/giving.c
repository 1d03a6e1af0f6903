/* SPDX-License-Identifier: MIT */
#include "manager/giving.h"

#include "core/err.h"
#include "manager/spawn.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE_MAX ((uint64_t)1 << 20) /* bytes */

/* Whoever dies leaves no copy of the manager's descriptors behind: locks and
 * leases would look like those of a living one. */
static _Noreturn void
copy(struct manager *m, const struct trial *t, pid_t manager)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != manager)
        _exit(1);
    _exit(checkpoints_inherit(&m->checkpoints, t, NULL) == 0 ? 0 : 1);
}

static bool
begin(struct manager *m, struct trial *t)
{
    pid_t manager = getpid();

    t->pid = fork();
    if (t->pid == 0)
        copy(m, t, manager);
    if (t->pid < 0)
        return false;
    if (spawn_pidfd(t->pid, &t->pidfd, NULL) == 0 &&
        manager_watch(m, t->pidfd, EPOLLIN, (uint64_t)(uintptr_t)t) == 0)
        return true;
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
    if (t->pidfd >= 0)
        close(t->pidfd);
    t->pidfd = -1;
    return false;
}

bool
giving_first(struct manager *m, struct trial *t)
{
    if (t->state != TRIAL_WAITING || t->origin.tried || m->lockstep.on)
        return false;
    if (t->pidfd >= 0)
        return true;
    if (checkpoints_to_copy(&m->checkpoints, t) > AT_ONCE_MAX && begin(m, t))
        return true;
    t->origin.tried = true;
    return false;
}

static void
end(struct manager *m, struct trial *t)
{
    siginfo_t info = {0};

    waitid(P_PIDFD, (id_t)t->pidfd, &info, WEXITED);
    manager_unwatch(m, t->pidfd);
    close(t->pidfd);
    t->pidfd = -1;
    t->origin.tried = true;
    if (info.si_code == CLD_EXITED && info.si_status == 0)
        checkpoints_inherited(&m->checkpoints, t);
}

void
giving_exited(struct manager *m, struct trial *t)
{
    end(m, t);
    placing_wake(m);
}

/* One that waits has no other process. */
void
giving_stop(struct manager *m, struct trial *t)
{
    if (t->pidfd < 0 || t->folder != NULL)
        return;
    kill(t->pid, SIGKILL);
    end(m, t);
}
