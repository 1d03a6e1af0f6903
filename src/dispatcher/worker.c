/* SPDX-License-Identifier: MIT */
#include "dispatcher/worker.h"

#include "command.h"
#include "core/wake.h"
#include "dispatcher/gauge.h"
#include "dispatcher/queue.h"
#include "log/lock.h"

#include <errno.h>
#include <signal.h>

static void
handle(struct worker *w, struct command *cmd)
{
    size_t cost = cmd->cost;

    lockslot_set(w->slot, cmd->arrival);
    if (w->job.handle(w->job.ctx, cmd, &w->err) != 0) {
        atomic_store(&w->failed, true);
        wake_signal(w->wake);
        return; /* the slot keeps that command's number */
    }
    lockslot_set(w->slot, 0);
    gauge_subtract(w->gauge, cost);
}

static void *
work(void *arg)
{
    struct worker *w = arg;
    struct command *cmd = NULL;

    while (!atomic_load(&w->failed) && (cmd = queue_pop(w->queue, cmd)) != NULL)
        handle(w, cmd);
    command_free(cmd); /* the command that failed, if any */
    atomic_store(&w->finished, true);
    wake_signal(w->wake);
    return NULL;
}

int
worker_start(struct worker *w, struct queue *queue, struct worker_job job,
             struct gauge *gauge, const struct wake *wake,
             const struct lockslot *slot, struct err *err)
{
    sigset_t all, before;
    int rc;

    w->queue = queue;
    w->job = job;
    w->gauge = gauge;
    w->wake = wake;
    w->slot = slot;
    atomic_init(&w->finished, false);
    atomic_init(&w->failed, false);
    err_clear(&w->err);
    /* signals are for the main thread, through its signalfd */
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    rc = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    w->started = rc == 0;
    errno = rc;
    return rc == 0 ? 0 : err_errno(err, ERR_SYSTEM, "cannot start a thread");
}

void
worker_join(struct worker *w)
{
    if (w->started)
        pthread_join(w->thread, NULL);
    w->started = false;
}
