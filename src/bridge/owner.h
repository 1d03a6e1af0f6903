/* SPDX-License-Identifier: MIT */
/* owner.h - the manager's process, found by its end of the connection: another
 * one that listens on the same port later is another manager.  One thread. */
#ifndef BRIDGE_OWNER_H
#define BRIDGE_OWNER_H

/* A pidfd of the process on this machine that holds the other end of this TCP
 * connection, readable once it has ended; -1: there is none that we can see. */
int owner_open(int socket);

#endif
