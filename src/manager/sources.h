/* SPDX-License-Identifier: MIT */
/* sources.h - what the manager's loop waits for, by epoll.  Inside src/manager
 * only; one thread. */
#ifndef MANAGER_SOURCES_H
#define MANAGER_SOURCES_H

#include <stdint.h>
#include <sys/epoll.h>

/* What epoll reports, besides the copies of checkpoints, which report by their
 * trials' addresses. */
enum source {
    SOURCE_SIGNAL,
    SOURCE_INOTIFY,
    SOURCE_RUNNER,
    SOURCE_FRAMES_IN,
    SOURCE_FRAMES_OUT,
    SOURCE_WORDS,
    SOURCE_DISPATCHER,
    SOURCE_HOOKS,
    SOURCE_CONTROL,
    SOURCE_RESOURCES,
    SOURCE_TRASH,
    SOURCE_PACKING,
    SOURCE_COUNT
};

struct sources {
    int epoll_fd;
};

/* -1: errno says why. */
static inline int
sources_watch(const struct sources *s, int fd, uint32_t events, uint64_t what)
{
    struct epoll_event e = {.events = events, .data = {.u64 = what}};

    return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

static inline void
sources_unwatch(const struct sources *s, int fd)
{
    if (fd >= 0)
        epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

#endif
