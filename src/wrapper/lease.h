/* SPDX-License-Identifier: MIT */
/* lease.h - whether a manager holds the trial's lease, and word of changes.
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

/* Opens the lease in the folder (dir_fd stays the caller's and open) and takes
 * the first look.  0, or -1 with errno set; ENXIO: the lease is no FIFO. */
int lease_open(struct lease *lease, int dir_fd);

/* Looks whether the lease is held now; returns lease->held. */
bool lease_look(struct lease *lease);

#endif
