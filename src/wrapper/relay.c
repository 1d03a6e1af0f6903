/* SPDX-License-Identifier: MIT */
/* DESIGN.  A file on a network's file system tells nobody that it has grown: it
 * is opened anew at each look, which is what makes a client ask its server.
 * Looks are many only while the trial may wait, which shows by its own reports:
 * those are written on this machine, and cost the server nothing. */
#include "wrapper/relay.h"

#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FAST_MS 50
#define IDLE_MS 200
#define SLOW_MS 1000
#define WAITS_MS 5000 /* behind a report the trial may wait */
#define ALIVE_LOOK_MS 10000

static int64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
relay_begin(struct relay *r, int dir_fd, const char *alive)
{
    *r = (struct relay){
        .dir_fd = dir_fd, .alive = alive, .fifo = -1, .seen_ms = now_ms()};
}

void
relay_end(struct relay *r)
{
    if (r->fifo >= 0)
        close(r->fifo);
    r->fifo = -1;
}

/* Whether somebody is there who would answer. */
static bool
is_answered(struct relay *r, int64_t now)
{
    struct stat st;
    int64_t ns;

    if (r->looked_ms == 0 || now >= r->looked_ms + ALIVE_LOOK_MS) {
        r->looked_ms = now;
        r->there = stat(r->alive, &st) == 0;
        ns = r->there
                 ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec
                 : r->alive_ns;
        if (ns != r->alive_ns)
            r->seen_ms = now;
        r->alive_ns = ns;
    }
    return r->there && now < r->seen_ms + TRIAL_ALIVE_MS;
}

static int
open_fifo(int dir_fd)
{
    int fd = openat(dir_fd, TRIAL_ANSWERS,
                    O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* What is in a full one nobody waits for any more. */
static void
put(int fifo, const char *bytes, size_t len)
{
    char stale[4096];

    if (write(fifo, bytes, len) >= 0 || errno != EAGAIN)
        return;
    while (read(fifo, stale, sizeof stale) > 0)
        continue;
    if (write(fifo, bytes, len) < 0)
        return;
}

/* Whole lines; half of one is not there yet. */
static void
pass_on(struct relay *r)
{
    int fd = openat(r->dir_fd, TRIAL_ANSWERED,
                    O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    char lines[4096];
    ssize_t n;

    if (fd < 0)
        return;
    while ((n = pread(fd, lines, sizeof lines, r->at)) > 0) {
        while (n > 0 && lines[n - 1] != '\n')
            n--;
        if (n == 0)
            break;
        put(r->fifo, lines, (size_t)n);
        r->at += n;
    }
    close(fd);
}

int
relay_step(struct relay *r)
{
    int64_t now = now_ms();
    struct stat st;

    if (!is_answered(r, now)) {
        relay_end(r); /* who waits goes on */
        return SLOW_MS;
    }
    if (r->fifo < 0)
        r->fifo = open_fifo(r->dir_fd);
    if (r->fifo < 0)
        return SLOW_MS;
    pass_on(r);
    if (fstatat(r->dir_fd, TRIAL_METRICS, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_size != r->reported) {
        r->reported = st.st_size;
        r->grown_ms = now;
    }
    return r->grown_ms > 0 && now < r->grown_ms + WAITS_MS ? FAST_MS : IDLE_MS;
}
