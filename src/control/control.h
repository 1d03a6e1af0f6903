/* SPDX-License-Identifier: MIT */
/* control.h - the socket through which a running experiment is asked and told,
 * as its two ends, server.h and client.h, agree on it: `control` in the
 * experiment's folder, mode 0600, for its owner (and root).  Requests and
 * answers are JSON objects, one on a line each:
 *
 *   {"command": "status"}     a request; its other members are the command's
 *   {"answer": {...}}         done
 *   {"error": "TEXT"}         not done, and nothing was changed; with
 *                             "over": true it never will be; with "gone": true
 *                             what it is about is there no more; with
 *                             "stopped": true it is no answer: somebody has
 *                             stopped the study that this client uses
 *
 * A request may have an "id", an integer from 0, which its answers then have,
 * too: one is answered before the next one of the same connection is read, but
 * `watch`, `wait`, `ask` and `report` more often, or later.  One thread. */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <sys/socket.h>
#include <sys/un.h>

struct err;

#define FOLDER_CONTROL "control"

/* Bytes: of a request, its LF included; of an answer's object; of all that a
 * client which does not read is kept.  A client takes what is longer, as a
 * newer manager may allow more. */
#define CONTROL_LINE_MAX 65536
#define CONTROL_REPLY_MAX ((size_t)48 << 20)
#define CONTROL_PENDING_MAX ((size_t)64 << 20)
#define CONTROL_ANSWER_MAX ((size_t)256 << 20)

/* An address holds 108 bytes: the socket in a folder of a longer name is
 * reached through the opened folder. */
struct control_address {
    struct sockaddr_un un;
    int folder_fd; /* -1: the path is short enough */
};

/* To be closed once it was bound or connected to. */
int control_address_open(struct control_address *a, const char *folder,
                         struct err *err);
void control_address_close(struct control_address *a);

#endif
