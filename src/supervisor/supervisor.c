/* SPDX-License-Identifier: MIT */
#include "supervisor/supervisor.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "log/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 80
#define RECORD_NAME "dispatcher.pid"
#define RECORD_MAX 64    /* of the file dispatcher.pid */
#define EARLIER_MS 20000 /* a grace, and time to write what is left */
#define LINGERS_MS 10
#define LINGERS_TIMES 300

/* ---- its start ---- */

int
supervisor_start(struct supervised *s, const char *program, const char *folder,
                 const char *const words[], struct supervised_pipes *out,
                 struct err *err)
{
    char *own = program == NULL ? file_join(folder, "tunepipe") : NULL;
    const char *argv[WORDS_MAX] = {program != NULL ? program : own,
                                   "dispatch",
                                   "--in-fd",
                                   "0",
                                   "--out-fd",
                                   "1"};
    int pipes[3];
    const struct process_spawn how = {
        .argv = argv,
        .files = {PROCESS_PIPE, PROCESS_PIPE, PROCESS_PIPE},
        .pipes = pipes};
    struct process_failure failure;
    pid_t pid = -1;
    int rc = 0;

    for (size_t n = 6; n + 1 < WORDS_MAX && *words != NULL; n++)
        argv[n] = *words++;
    if (argv[0] == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if ((pid = process_spawn(&how, &s->pidfd, &failure)) < 0)
        rc = failure.step == PROCESS_PIPED
                 ? err_errno(err, ERR_SYSTEM, "cannot make a pipe")
                 : err_errno(err, ERR_SYSTEM, "%s: cannot start", argv[0]);
    free(own);
    if (rc != 0)
        return -1;
    s->pid = pid;
    *out = (struct supervised_pipes){pipes[0], pipes[1], pipes[2]};
    /* our ends do not block; the dispatcher's keep their flags */
    for (int i = 0; i < 3; i++)
        fcntl(pipes[i], F_SETFL, O_NONBLOCK);
    return 0;
}

int
supervisor_fork(struct supervised *s, struct err *err)
{
    *s = SUPERVISED_NONE;
    s->pid = process_fork(&s->pidfd);
    if (s->pid < 0)
        return err_errno(err, ERR_SYSTEM, "cannot fork");
    return s->pid > 0;
}

/* ---- its end ---- */

void
supervisor_signal(const struct supervised *s, int number)
{
    if (s->pidfd >= 0)
        process_kill(s->pidfd, number);
}

bool
supervisor_ends_within(const struct supervised *s, int ms)
{
    const int64_t until = clock_monotonic_ns() + ms * INT64_C(1000000);
    struct pollfd fd = {.fd = s->pidfd, .events = POLLIN};
    int64_t left;

    while ((left = until - clock_monotonic_ns()) > 0)
        if (poll(&fd, 1, (int)(left / 1000000) + 1) > 0)
            return true;
    return process_ended(s->pidfd);
}

void
supervisor_end(const struct supervised *s, struct supervised_end *out)
{
    siginfo_t end;

    do
        end = (siginfo_t){.si_pid = 0};
    while (waitid(PROCESS_PIDFD, (id_t)s->pidfd, &end, WEXITED | WNOWAIT) !=
               0 &&
           errno == EINTR);
    *out = (struct supervised_end){.status = -1};
    if (end.si_code == CLD_EXITED)
        out->status = end.si_status;
    else
        out->signal = end.si_status;
    snprintf(out->how, sizeof out->how, "%s %d",
             out->signal == 0 ? "exit status" : "signal", end.si_status);
}

void
supervisor_close(struct supervised *s)
{
    if (s->pidfd < 0)
        return;
    supervisor_signal(s, SIGKILL);
    process_reap(&s->pidfd);
}

/* ---- what it was at ---- */

bool
supervisor_is_writer(const struct supervised *s, const struct lockfile *lock)
{
    return lock->writer.pid == (uint64_t)s->pid;
}

const char *
supervisor_work(uint64_t slot, char *text, size_t size)
{
    if (slot == LOCKFILE_SAVING)
        snprintf(text, size, "being saved");
    else if (slot == LOCKFILE_LOADING)
        snprintf(text, size, "being loaded");
    else
        snprintf(text, size, "at command %llu", (unsigned long long)slot);
    return text;
}

/* ---- the one of an earlier process ---- */

void
supervisor_record(const struct supervised *s, const char *folder)
{
    char *path = file_join(folder, RECORD_NAME);
    char text[RECORD_MAX];
    int len = snprintf(text, sizeof text, "%d %llu\n", (int)s->pid,
                       (unsigned long long)process_start(s->pid));

    if (path != NULL)
        file_write(path, text, (size_t)len, NULL);
    free(path);
}

/* Waits for the process; closes the pidfd, which may be -1. */
static void
await(int pidfd)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};

    if (pidfd < 0)
        return;
    poll(&end, 1, EARLIER_MS);
    close(pidfd);
}

/* Waits for a recorded process that may not have come as far as its lock. */
static void
await_recorded(const char *folder)
{
    char *path = file_join(folder, RECORD_NAME);
    unsigned long long start;
    struct buf text;
    int pid;

    buf_init(&text, (size_t)1 << 20);
    if (path != NULL && file_read(path, RECORD_MAX, &text, NULL) == 0 &&
        sscanf(buf_text(&text), "%d %llu", &pid, &start) == 2)
        await(process_open(pid, start));
    buf_fini(&text);
    free(path);
}

int
supervisor_await_earlier(const char *folder, struct err *err)
{
    int fd = lockfile_open(folder);
    struct lockfile at = {.writer = {0, 0}};
    int writer = -1, rc = 0;

    await_recorded(folder);
    if (fd < 0)
        return 0;
    if (lockfile_is_locked(fd) && lockfile_load(fd, &at))
        writer = process_open((pid_t)at.writer.pid, at.writer.start);
    if (writer >= 0 && lockfile_is_locked(fd))
        await(writer);
    else if (writer >= 0)
        close(writer);
    /* A program that the dispatcher was just starting has the lock with it for
     * a moment. */
    for (int i = 0; i < LINGERS_TIMES && lockfile_is_locked(fd); i++)
        poll(NULL, 0, LINGERS_MS);
    if (lockfile_is_locked(fd))
        rc = err_set(err, ERR_SYSTEM,
                     "%s: its dispatcher (process %llu) still lives, expected "
                     "it to end with its manager",
                     folder, (unsigned long long)at.writer.pid);
    close(fd);
    return rc;
}
