/* SPDX-License-Identifier: MIT */
#include "bridge/watch.h"

#include "core/err.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

static int
add(const struct watch *w, int fd, short events)
{
    struct epoll_event e = {.data.fd = fd};

    e.events = (events & POLLIN ? (uint32_t)EPOLLIN : 0) |
               (events & POLLOUT ? (uint32_t)EPOLLOUT : 0);
    return epoll_ctl(w->fd, EPOLL_CTL_ADD, fd, &e);
}

int
watch_open(struct watch *w, struct err *err)
{
    *w = WATCH_CLOSED;
    w->due_ns = INT64_MAX;
    w->fd = epoll_create1(EPOLL_CLOEXEC);
    w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (w->fd >= 0 && w->timer >= 0 && add(w, w->timer, POLLIN) == 0)
        return 0;
    err_errno(err, ERR_SYSTEM, "cannot set up a timer");
    watch_close(w);
    return -1;
}

void
watch_close(struct watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    if (w->timer >= 0)
        close(w->timer);
    *w = WATCH_CLOSED;
}

/* Sets what the socket is waited for.  One that is waited for nothing is taken
 * out: else its hang-up would be reported over and over. */
static void
watch_socket(struct watch *w, int socket, short events)
{
    if (socket == w->socket && events == w->events)
        return;
    if (w->socket >= 0 && w->events != 0)
        epoll_ctl(w->fd, EPOLL_CTL_DEL, w->socket, NULL);
    w->socket = socket;
    w->events =
        socket < 0 || (events != 0 && add(w, socket, events) != 0) ? 0 : events;
}

void
watch_set(struct watch *w, int socket, short events, int64_t due_ns)
{
    struct itimerspec t = {.it_value = {.tv_nsec = 0}};

    watch_socket(w, socket, events);
    if (due_ns == w->due_ns)
        return;
    w->due_ns = due_ns;
    if (due_ns != INT64_MAX) {
        t.it_value.tv_sec = due_ns / SECOND_NS;
        t.it_value.tv_nsec = due_ns % SECOND_NS;
    }
    timerfd_settime(w->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

void
watch_also(const struct watch *w, int fd)
{
    if (fd >= 0)
        (void)add(w, fd, POLLIN);
}

void
watch_not(const struct watch *w, int fd)
{
    if (fd >= 0)
        epoll_ctl(w->fd, EPOLL_CTL_DEL, fd, NULL);
}

void
watch_drain(const struct watch *w)
{
    uint64_t times;

    /* the time has not come */
    if (read(w->timer, &times, sizeof times) < 0)
        return;
}
