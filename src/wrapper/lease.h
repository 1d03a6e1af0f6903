/* SPDX-License-Identifier: MIT */
/* lease.h - whether a manager holds the lease, and word of changes.
 *
 * The lease is a FIFO whose write end the manager keeps open.  Nothing here
 * blocks or polls at intervals: the owner waits on lease->fd for lease->events
 * and calls lease_look() when something is there. */
#ifndef WRAPPER_LEASE_H
#define WRAPPER_LEASE_H

#include <stdbool.h>

struct lease {
    int fd;       /* what to wait on: changes with every lease_look() */
    short events; /* for poll(2); POLLHUP counts as well */
    bool held;    /* as of the last lease_look() */
    int fifo_fd, watch_fd;
};

/* Opens the lease, by a path from the folder, and takes the first look.  0, or
 * -1 with errno set; ENXIO: the lease is no FIFO. */
int lease_open(struct lease *lease, int dir_fd, const char *path);

/* Whether the lease is still there under that path: a manager that comes when
 * another is gone moves it away, and starts anew what it does not find begun.
 */
bool lease_is_offered(const struct lease *lease, int dir_fd, const char *path);

/* Looks whether the lease is held now; returns lease->held. */
bool lease_look(struct lease *lease);

#endif
