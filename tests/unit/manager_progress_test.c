/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "manager/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define SECOND 1000000000LL

static char text[4096];

/* What has come, at least `least` bytes of it: what is written to a terminal
 * reaches its other side a little later. */
static const char *
read_all(int fd, size_t least)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t len = 0;
    ssize_t n;

    do {
        if (len < least)
            poll(&p, 1, -1);
        n = read(fd, text + len, sizeof text - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    } while (len < least);
    text[len] = '\0';
    return text;
}

#define CHECK_SAYS(fd, want) CHECK_STR(read_all(fd, strlen(want)), want)

/* A terminal that changes nothing; *user is its other side. */
static int
open_terminal(int *user)
{
    struct termios raw;
    int fd;

    *user = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (*user < 0 || grantpt(*user) != 0 || unlockpt(*user) != 0)
        SKIP("no pseudo-terminals");
    fd = open(ptsname(*user), O_RDWR | O_NOCTTY);
    CHECK(fd >= 0);
    tcgetattr(fd, &raw);
    cfmakeraw(&raw);
    tcsetattr(fd, TCSANOW, &raw);
    return fd;
}

TEST(manager_progress_lives_on_a_terminal)
{
    struct progress p;
    int64_t now;
    int user, fd;

    setenv("TERM", "xterm", 1);
    fd = open_terminal(&user);
    progress_open(&p, fd, fd, false, 40, false);
    p.done = 12;
    p.running = 2;
    p.failed = 1;
    p.cancelled = 2;
    p.has_best = true;
    p.best = 97;
    memcpy(p.best_trial, "00007", 6);
    now = p.started_ns + 23 * SECOND;
    progress_touch(&p);
    CHECK_EQ(progress_paint(&p, now), INT64_MAX);
    CHECK_SAYS(user, "\r\033[K12/40 done, 2 running, 1 failed, 2 cancelled | "
                     "best 97 (trial 00007) | 00:23");
    CHECK_EQ(progress_paint(&p, now + SECOND), INT64_MAX); /* no news */
    CHECK_SAYS(user, "");
    progress_touch(&p);
    CHECK_EQ(progress_paint(&p, now + 30000000), now + SECOND / 10);
    CHECK_SAYS(user, "");
    progress_say(&p, "trial %d", 3);
    CHECK_SAYS(user, "\r\033[Ktrial 3\n");
    progress_warn(&p, "error %d", 4); /* nothing stands there to be wiped */
    CHECK_SAYS(user, "error 4\n");
    p.failed = p.cancelled = 0;
    p.has_best = false;
    p.max_trials = 0;
    CHECK_EQ(progress_paint(&p, now + 3600 * SECOND), INT64_MAX);
    CHECK_SAYS(user, "\r\033[K12 done, 2 running | 1:00:23");
    progress_close(&p);
    CHECK_SAYS(user, "\r\033[K");
}

TEST(manager_progress_is_plain_elsewhere)
{
    struct progress p;
    int fds[2], errors[2];

    CHECK_EQ(pipe2(fds, O_NONBLOCK), 0);
    CHECK_EQ(pipe2(errors, O_NONBLOCK), 0);
    progress_open(&p, fds[1], errors[1], false, 40, false);
    progress_touch(&p);
    CHECK_EQ(progress_paint(&p, p.started_ns + SECOND), INT64_MAX);
    progress_say(&p, "trial %d", 3);
    progress_warn(&p, "error %d", 4);
    progress_close(&p);
    CHECK_SAYS(fds[0], "trial 3\n");
    CHECK_SAYS(errors[0], "error 4\n");
}
