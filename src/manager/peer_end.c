/* SPDX-License-Identifier: MIT */
/* The dispatcher's death: who was at work, and whether it is started again. */
#include "manager/peer.h"

#include "config/experiment.h"
#include "core/err.h"
#include "log/lock.h"
#include "manager/deaths.h"
#include "manager/happened.h"
#include "manager/origin.h"
#include "manager/state.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_LOG 5 /* as in PROTOCOL.md */

/* "exit status 3" or "signal 9"; the status, or -1. */
static int
reap(struct manager *m, char *text, size_t size, int *signal)
{
    siginfo_t info = {0};

    waitid(P_PIDFD, (id_t)m->dispatcher_fd, &info, WEXITED);
    manager_unwatch(m, m->dispatcher_fd);
    close(m->dispatcher_fd);
    m->dispatcher_fd = -1;
    *signal = 0;
    if (info.si_code == CLD_EXITED) {
        snprintf(text, size, "exit status %d", info.si_status);
        return info.si_status;
    }
    *signal = info.si_status;
    snprintf(text, size, "signal %d", info.si_status);
    return -1;
}

static const char *
name_of(const struct algorithm *a)
{
    if (a->class_name != NULL)
        return a->class_name;
    return a->name != NULL ? a->name : a->plugin;
}

/* Whether the last one to have the log was ours. */
static bool
is_writer(const struct manager *m)
{
    struct lockfile at;

    return lockfile_read(m->folder.path, &at) &&
           at.writer.pid == (uint64_t)m->dispatcher_pid;
}

/* Who was at work when it died, as far as its lock file tells. */
static void
read_slots(const struct manager *m, uint64_t out[LOCKFILE_SLOTS])
{
    struct lockfile at;
    bool good = lockfile_read(m->folder.path, &at);

    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        out[i] = good ? at.slots[i] : 0;
}

static void
name_worker(const struct manager *m, int worker, char *text, size_t size)
{
    if (worker == LOCKFILE_DEFAULT)
        snprintf(text, size, "tuner %.200s%s", name_of(&m->x->tuner),
                 m->x->n_filters > 0 ? " (or a filter around it)" : "");
    else
        snprintf(text, size, "assessor %.200s", name_of(&m->x->assessor));
}

/* Before the first command they are made, one after the other. */
static void
blame_start(const struct manager *m, char *text, size_t size)
{
    const char *tuner = name_of(&m->x->tuner);
    const char *assessor = name_of(&m->x->assessor);

    if (assessor == NULL)
        snprintf(text, size, " while tuner %.200s was being set up", tuner);
    else
        snprintf(text, size,
                 " while tuner %.120s and assessor %.120s were being set up",
                 tuner, assessor);
}

static void
name_work(uint64_t at, char *text, size_t size)
{
    if (at == LOCKFILE_SAVING)
        snprintf(text, size, "being saved");
    else if (at == LOCKFILE_LOADING)
        snprintf(text, size, "being loaded");
    else
        snprintf(text, size, "at command %llu", (unsigned long long)at);
}

void
peer_blame(const struct manager *m, char *text, size_t size)
{
    uint64_t at[LOCKFILE_SLOTS];
    char who[256], work[40];
    size_t len = 0;

    text[0] = '\0';
    read_slots(m, at);
    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        if (at[i] != 0 && len < size) {
            name_worker(m, i, who, sizeof who);
            name_work(at[i], work, sizeof work);
            len += (size_t)snprintf(text + len, size - len, "%s %s was %s",
                                    len == 0 ? " while" : " and", who, work);
        }
    if (text[0] == '\0' && m->phase == PHASE_STARTING)
        blame_start(m, text, size);
}

/* These are its own decisions, and would be the same again. */
static bool
is_decision(const struct manager *m, int status)
{
    static const int statuses[] = {0, 2, 3, 5, 6, 129, 130, 143};

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i] == status)
            return true;
    return m->phase == PHASE_CLOSING && status >= 0;
}

/* By a signal that ends whatever it reaches, and will reach us, too. */
static bool
is_told_to_stop(int status)
{
    return status == 128 + SIGHUP || status == 128 + SIGINT ||
           status == 128 + SIGTERM;
}

/* Nothing would be saved by another try. */
static bool
dies_at_start(const struct manager *m, int signal)
{
    return m->phase == PHASE_STARTING && m->options->resume == NULL &&
           (signal == 0 || deaths_is_fault(signal));
}

static void
skip(struct manager *m, int worker, uint64_t number)
{
    char who[256];

    name_worker(m, worker, who, sizeof who);
    progress_warn(&m->progress,
                  "tunepipe: warning: %s kills the dispatcher at command %llu, "
                  "again and again: the command is skipped",
                  who, (unsigned long long)number);
    if (m->n_skips < DISPATCHER_SKIPS_MAX)
        m->skips[m->n_skips++] = (struct skip){worker, number};
}

static bool
go_on(struct manager *m)
{
    struct err err = {0};

    exchange_hold(&m->exchange);
    tail_close(&m->words);
    origin_repeat(m);
    if (peer_resume(m, &err) == 0)
        return true;
    progress_warn(&m->progress, "tunepipe: error: %s", err.text);
    return false;
}

/* An earlier manager's was only about to take the lock when we looked whether
 * it had ended: it was faster than ours, and ends with its input. */
static bool
wait_for_another(struct manager *m, int status)
{
    struct err err = {0};

    bool began = !m->exchange.held && m->phase != PHASE_STARTING;

    if (status != EXIT_LOG || began || m->options->resume == NULL ||
        m->waited_for_another || is_writer(m))
        return false;
    m->waited_for_another = true;
    return peer_await_end(m, &err) == 0 && go_on(m);
}

/* Whether another one was started. */
static bool
start_again(struct manager *m, const char *how, const char *who, int signal,
            const uint64_t at[LOCKFILE_SLOTS])
{
    /* Whoever ends it by _exit() does wrong, too. */
    bool fault = signal == 0 || deaths_is_fault(signal);
    int worker = 0;

    switch (deaths_add(&m->deaths, fault, at, &worker)) {
    case DEATHS_OVER:
        return false;
    case DEATHS_RESTART:
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher died (%s)%s: it is "
                      "started again from its log",
                      how, who);
        break;
    case DEATHS_SKIP:
        skip(m, worker, at[worker]);
        break;
    }
    if (!fault)
        scheduler_pardon(&m->scheduler); /* a program's answers died with it */
    if (!go_on(m))
        return false;
    happened_text(m, EVENT_DISPATCHER_RESTARTED, how, strlen(how));
    return true;
}

void
peer_ended(struct manager *m)
{
    uint64_t at[LOCKFILE_SLOTS];
    char how[64], who[300];
    int signal, status = reap(m, how, sizeof how, &signal);

    m->outcome->dispatcher_status = status;
    if (m->phase == PHASE_CLOSING && status == 0)
        return;
    if (wait_for_another(m, status))
        return;
    read_slots(m, at);
    peer_blame(m, who, sizeof who);
    if (!is_decision(m, status) && !dies_at_start(m, signal) &&
        !m->dispatcher_given_up && !deaths_repeat(&m->deaths, status, at) &&
        start_again(m, how, who, signal, at))
        return;
    if (m->phase == PHASE_CLOSING) {
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher ended with %s%s", how,
                      who);
        return;
    }
    if (is_told_to_stop(status))
        manager_end(m, MANAGER_INTERRUPTED,
                    "interrupted: the dispatcher was told to stop (signal %d)",
                    status - 128);
    manager_end(
        m, MANAGER_DISPATCHER,
        "the dispatcher ended by itself (%s)%s; what it said is in " FOLDER_DISPATCHER_LOG,
        how, who);
    running_interrupt_all(m);
}
