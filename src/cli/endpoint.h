/* SPDX-License-Identifier: MIT */
/* endpoint.h - a stream socket in the place of two descriptors: unix:PATH, for
 * managers that do not start their dispatcher (NNI's --dispatcher-pipe). */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

struct err;

/* Connects to who listens there; the descriptor, or -1. */
int endpoint_connect(const char *word, struct err *err);

/* Listens there (0600, in a folder that only the caller may write to) for one
 * client, and removes the file again as soon as it has come.  The descriptor;
 * -1: err tells, unless SIGTERM or SIGINT came before, which are blocked from
 * here on: *signal_number, else 0. */
int endpoint_listen(const char *word, int *signal_number, struct err *err);

#endif
