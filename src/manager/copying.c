/* SPDX-License-Identifier: MIT */
#include "manager/copying.h"

#include "core/process.h"

#include "manager/sources.h"
#include "manager/live.h"
#include "manager/checkpoints.h"
#include <signal.h>
#include <unistd.h>

#define AT_ONCE_MAX ((uint64_t)1 << 20) /* bytes */

/* The copy dies with the manager, and leaves no copy of its descriptors behind:
 * locks and leases would look like those of a living one. */
static bool
begin(struct copying *c, struct trial *t)
{
    pid_t pid = process_fork(&t->copier_fd);

    if (pid == 0)
        _exit(checkpoints_inherit(c->checkpoints, t, NULL) == 0 ? 0 : 1);
    if (pid < 0)
        return false;
    t->copier = pid;
    if (sources_watch(c->sources, t->copier_fd, EPOLLIN,
                      (uint64_t)(uintptr_t)t) == 0)
        return true;
    kill(t->copier, SIGKILL);
    process_reap(&t->copier_fd);
    return false;
}

bool
copying_first(struct copying *c, struct trial *t)
{
    if (t->state == TRIAL_COPYING)
        return true;
    if (t->state != TRIAL_WAITING || t->origin.tried || !c->by_process)
        return false;
    if (checkpoints_to_copy(c->checkpoints, t) > AT_ONCE_MAX && begin(c, t)) {
        live_step(c->live, t, TRIAL_ON_COPY);
        return true;
    }
    t->origin.tried = true;
    return false;
}

static void
end(struct copying *c, struct trial *t)
{
    siginfo_t info;

    sources_unwatch(c->sources, t->copier_fd);
    info = process_reap(&t->copier_fd);
    t->origin.tried = true;
    if (info.si_code == CLD_EXITED && info.si_status == 0)
        checkpoints_inherited(c->checkpoints, t);
}

void
copying_exited(struct copying *c, struct trial *t)
{
    end(c, t);
    live_step(c->live, t, TRIAL_ON_COPIED);
}

void
copying_hear_end(void *ctx, const struct attempt_end *of)
{
    if (of->trial->copier_fd < 0)
        return;
    kill(of->trial->copier, SIGKILL);
    end(ctx, of->trial);
}
