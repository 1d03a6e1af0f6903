/* SPDX-License-Identifier: MIT */
#include "replay/pace.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/number.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SECOND_NS 1000000000
#define DUE_MAX_NS 9e18 /* fits an int64_t with room to add to */

int
pace_parse(const char *word, double *speed, struct err *err)
{
    if (strcmp(word, "max") == 0) {
        *speed = 0;
        return 0;
    }
    if (strcmp(word, "real") == 0) {
        *speed = 1;
        return 0;
    }
    if (number_parse(word, strlen(word), speed) && *speed > 0 && *speed <= 1e9)
        return 0;
    return err_set(err, ERR_USAGE,
                   "expected real, max or a number above 0, got '%s'", word);
}

int
pace_open(struct pace *p, double speed, struct err *err)
{
    *p = (struct pace){.speed = speed, .fd = -1};
    if (speed == 0)
        return 0;
    p->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    return p->fd >= 0 ? 0 : err_errno(err, ERR_SYSTEM, "cannot make a timer");
}

void
pace_close(struct pace *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

int64_t
pace_due_ns(struct pace *p, int64_t time_us)
{
    double due;

    if (!p->begun) {
        p->begun = true;
        p->first_us = p->last_us = time_us;
    }
    if (time_us > p->last_us)
        p->last_us = time_us;
    if (p->speed == 0)
        return 0;
    due = ((double)p->last_us - (double)p->first_us) * 1000 / p->speed;
    return due < DUE_MAX_NS ? (int64_t)due : (int64_t)DUE_MAX_NS;
}

int
pace_wait(struct pace *p, int64_t time_us, struct err *err)
{
    bool first = !p->begun;
    int64_t due = pace_due_ns(p, time_us), at;
    struct itimerspec when = {.it_interval = {0, 0}};
    struct pollfd fd = {.fd = p->fd, .events = POLLIN};

    if (p->speed == 0)
        return 0;
    if (first)
        p->began_ns = clock_monotonic_ns();
    at = due < INT64_MAX - p->began_ns ? p->began_ns + due : INT64_MAX;
    when.it_value.tv_sec = at / SECOND_NS;
    when.it_value.tv_nsec = at % SECOND_NS;
    if (timerfd_settime(p->fd, TFD_TIMER_ABSTIME, &when, NULL) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot set a timer");
    while (poll(&fd, 1, -1) != 1)
        if (errno != EINTR)
            return err_errno(err, ERR_SYSTEM, "cannot wait for a timer");
    return 0;
}
