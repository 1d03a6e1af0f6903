/* SPDX-License-Identifier: MIT */
#include "cli/follow_experiment.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/hold.h"
#include "history/folder.h"
#include "log/log.h"
#include "log/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define NICE 10

/* Waits until then: a log grows with each metric, and an update for each would
 * cost more than the experiment. */
static void
rest_until(int64_t when_ns)
{
    const struct timespec t = {.tv_sec = when_ns / 1000000000,
                               .tv_nsec = when_ns % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
}

/* Waits until the manager is gone.  It holds a lock while it lives, and writes
 * the summary behind the end of its dispatcher. */
static int
await_manager(const char *folder, struct err *err)
{
    char *path = file_join(folder, FOLDER_EXPERIMENT);
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    struct hold hold = {NULL};
    int rc;

    if (fd < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s/" FOLDER_EXPERIMENT ": cannot open",
                       folder);
    else
        rc = hold_wait(&hold, fd, path, LOCK_SH, err);
    hold_drop(&hold);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

static int
follow_log(struct log_watch *f, int64_t rest_ns, follow_update *update,
           void *ctx, struct err *err)
{
    for (;;) {
        int64_t next = clock_monotonic_ns() + rest_ns;

        if (update(ctx, err) != 0)
            return -1;
        switch (log_watch_wait(f, err)) {
        case LOG_WATCH_FAILED:
            return -1;
        case LOG_WATCH_GONE:
        case LOG_WATCH_DEAF:
            return 0;
        case LOG_WATCH_MORE:
            rest_until(next);
            break;
        }
    }
}

int
follow_experiment(const char *folder, int64_t rest_ns, follow_update *update,
                  void *ctx, struct err *err)
{
    char *log = log_find_in(folder, err);
    struct log_watch *f = log == NULL ? NULL : log_watch_new(log, err);
    int rc = f == NULL ? -1 : 0;

    if (rc == 0) {
        errno = 0;
        if (nice(NICE) == -1 && errno != 0)
            rc = err_errno(err, ERR_SYSTEM, "nice");
    }
    if (rc == 0)
        rc = follow_log(f, rest_ns, update, ctx, err);
    if (rc == 0)
        rc = await_manager(folder, err);
    if (rc == 0)
        rc = update(ctx, err);
    log_watch_free(f);
    free(log);
    return rc;
}
