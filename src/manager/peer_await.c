/* SPDX-License-Identifier: MIT */
/* The end of an earlier manager's dispatcher, which may not have come as far
 * as its lock. */
#include "manager/peer.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "log/lock.h"
#include "manager/state.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DISPATCHER_PID "dispatcher.pid"
#define PID_TEXT_MAX ((size_t)1 << 20)
#define LINGERS_MS 10
#define LINGERS_TIMES 300
#define OLD_ONE_MS 20000 /* a grace, and time to write what it has */

void
peer_record(const struct manager *m, pid_t pid)
{
    char *path = file_join(m->folder.path, DISPATCHER_PID);
    char text[64];
    int len = snprintf(text, sizeof text, "%d %llu\n", (int)pid,
                       (unsigned long long)process_start(pid));

    if (path != NULL)
        file_write(path, text, (size_t)len, NULL);
    free(path);
}

static void
await_recorded(const struct manager *m)
{
    char *path = file_join(m->folder.path, DISPATCHER_PID);
    struct pollfd gone = {.fd = -1, .events = POLLIN};
    unsigned long long start;
    struct buf text;
    int pid;

    buf_init(&text, PID_TEXT_MAX);
    if (path != NULL && file_read(path, 64, &text, NULL) == 0 &&
        sscanf(buf_text(&text), "%d %llu", &pid, &start) == 2)
        gone.fd = process_open(pid, start);
    if (gone.fd >= 0)
        poll(&gone, 1, OLD_ONE_MS);
    if (gone.fd >= 0)
        close(gone.fd);
    buf_fini(&text);
    free(path);
}

int
peer_await_end(const struct manager *m, struct err *err)
{
    int fd = lockfile_open(m->folder.path);
    struct lockfile at = {.writer = {0, 0}};
    struct pollfd gone = {.fd = -1, .events = POLLIN};

    await_recorded(m);
    if (fd < 0)
        return 0;
    if (lockfile_is_locked(fd) && lockfile_load(fd, &at))
        gone.fd = process_open((pid_t)at.writer.pid, at.writer.start);
    if (gone.fd >= 0 && lockfile_is_locked(fd))
        poll(&gone, 1, OLD_ONE_MS);
    if (gone.fd >= 0)
        close(gone.fd);
    /* A program that it was starting has the lock with it for a moment. */
    for (int i = 0; i < LINGERS_TIMES && lockfile_is_locked(fd); i++)
        poll(NULL, 0, LINGERS_MS);
    if (!lockfile_is_locked(fd)) {
        close(fd);
        return 0;
    }
    close(fd);
    return err_set(err, ERR_SYSTEM,
                   "%s: its dispatcher (process %llu) still lives, expected "
                   "it to end with its manager",
                   m->folder.path, (unsigned long long)at.writer.pid);
}
