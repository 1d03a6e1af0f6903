/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * read(2) on the non-blocking read end tells the state: EAGAIN, somebody has
 * the write end open; 0, nobody has.
 *
 * Word of changes: while the lease is held, POLLHUP on the FIFO.  When it is
 * not, POLLHUP stands for ever and poll(2) would spin, so the FIFO is left
 * alone and an inotify watch (IN_OPEN) on it is waited on instead.  The watch
 * is made before the look that finds nobody, so an open in between is seen by
 * one of the two; the kernel counts the writer before it tells the watch, so
 * the look after the word sees it.  (IN_CLOSE_WRITE would not do for the other
 * direction: it is told before the writer is uncounted.)
 *
 * Inotify instances are few per user (128 by default).  One is held while
 * nobody holds the lease only, and when none can be had the state is still
 * right whenever somebody looks: the owner does when the wait is over. */
#include "wrapper/lease.h"

#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a process has the lease open for writing.  What it may have written
 * is thrown away. */
static bool
has_writer(int fifo_fd)
{
    char waste[256];
    ssize_t n;

    do
        n = read(fifo_fd, waste, sizeof(waste));
    while (n > 0 || (n < 0 && errno == EINTR));
    return n < 0;
}

/* Begins to watch for opens, or drops events that have come. */
static void
watch(struct lease *lease)
{
    char path[64];

    if (lease->watch_fd >= 0) {
        char waste[1024];

        while (read(lease->watch_fd, waste, sizeof(waste)) > 0)
            ;
        return;
    }
    lease->watch_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (lease->watch_fd < 0)
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", lease->fifo_fd);
    if (inotify_add_watch(lease->watch_fd, path, IN_OPEN) < 0) {
        close(lease->watch_fd);
        lease->watch_fd = -1;
    }
}

static void
unwatch(struct lease *lease)
{
    if (lease->watch_fd >= 0)
        close(lease->watch_fd);
    lease->watch_fd = -1;
}

bool
lease_look(struct lease *lease)
{
    if (lease->fifo_fd < 0)
        return true;
    lease->held = has_writer(lease->fifo_fd);
    if (!lease->held) {
        watch(lease);
        lease->held = has_writer(lease->fifo_fd);
    }
    if (lease->held)
        unwatch(lease);
    lease->fd = lease->held ? lease->fifo_fd : lease->watch_fd;
    lease->events = POLLIN;
    return lease->held;
}

int
lease_open(struct lease *lease, int dir_fd, const char *path)
{
    struct stat st;

    *lease =
        (struct lease){.fifo_fd = -1, .watch_fd = -1, .fd = -1, .held = true};
    if (strcmp(path, TRIAL_NO_LEASE) == 0)
        return 0;
    lease->fifo_fd =
        openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (lease->fifo_fd < 0)
        return -1;
    if (fstat(lease->fifo_fd, &st) != 0 || !S_ISFIFO(st.st_mode)) {
        close(lease->fifo_fd);
        errno = ENXIO;
        return -1;
    }
    lease_look(lease);
    return 0;
}

bool
lease_is_offered(const struct lease *lease, int dir_fd, const char *path)
{
    struct stat mine, there;

    if (lease->fifo_fd < 0)
        return true;
    return fstat(lease->fifo_fd, &mine) == 0 &&
           fstatat(dir_fd, path, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}
