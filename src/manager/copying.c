/* SPDX-License-Identifier: MIT */
#include "manager/copying.h"

#include "core/process.h"
#include "manager/delivery.h"
#include "manager/state.h"
#include "manager/trial_step.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#define AT_ONCE_MAX ((uint64_t)1 << 20) /* bytes */

/* The copy dies with the manager, and leaves no copy of its descriptors behind:
 * locks and leases would look like those of a living one. */
static bool
begin(struct manager *m, struct trial *t)
{
    pid_t pid = process_fork(&t->pidfd);

    if (pid == 0)
        _exit(checkpoints_inherit(&m->checkpoints, t, NULL) == 0 ? 0 : 1);
    if (pid < 0)
        return false;
    t->pid = pid;
    if (manager_watch(m, t->pidfd, EPOLLIN, (uint64_t)(uintptr_t)t) == 0)
        return true;
    kill(t->pid, SIGKILL);
    process_reap(&t->pidfd);
    return false;
}

bool
copying_first(struct manager *m, struct trial *t)
{
    if (t->state == TRIAL_COPYING)
        return true;
    if (t->state != TRIAL_WAITING || t->origin.tried || m->delivery->timeless)
        return false;
    if (checkpoints_to_copy(&m->checkpoints, t) > AT_ONCE_MAX && begin(m, t)) {
        running_step(m, t, TRIAL_ON_COPY);
        return true;
    }
    t->origin.tried = true;
    return false;
}

static void
end(struct manager *m, struct trial *t)
{
    siginfo_t info;

    manager_unwatch(m, t->pidfd);
    info = process_reap(&t->pidfd);
    t->origin.tried = true;
    if (info.si_code == CLD_EXITED && info.si_status == 0)
        checkpoints_inherited(&m->checkpoints, t);
}

void
copying_exited(struct manager *m, struct trial *t)
{
    end(m, t);
    running_step(m, t, TRIAL_ON_COPIED);
}

void
copying_stop(struct manager *m, struct trial *t)
{
    kill(t->pid, SIGKILL);
    end(m, t);
}
