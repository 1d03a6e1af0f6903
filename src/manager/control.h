/* SPDX-License-Identifier: MIT */
/* control.h - the socket through which a running experiment is asked and told:
 * `control` in its folder, mode 0600, for its owner (and root).  A request is a
 * line, a reply is a line; what they mean is the owner's, `take`.
 *
 * Nothing here blocks.  A client has its next request read when it has taken
 * all that was sent to it; one that sends a line of more than CONTROL_LINE_MAX
 * bytes is told so and dropped; of more than CONTROL_CLIENTS_MAX the one that
 * has been silent longest is.  One thread. */
#ifndef MANAGER_CONTROL_H
#define MANAGER_CONTROL_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define CONTROL_LINE_MAX 65536 /* of a request, its LF included */
#define CONTROL_CLIENTS_MAX 64
#define CONTROL_FDS_MAX (CONTROL_CLIENTS_MAX + 4)

struct control_client {
    struct control_client *next;
    uint64_t number; /* never given again */
    int fd;
    struct buf in;       /* not taken yet */
    struct buf out;      /* not written yet */
    uint32_t events;     /* that epoll was asked for */
    bool leaves;         /* once `out` is written */
    bool gone;           /* its connection is broken */
    uint64_t watch_rows; /* the owner's; 0: it does not watch */
};

/* One line, without its LF; an answer goes through control_send(). */
typedef void control_take(void *ctx, struct control_client *client,
                          const char *line, size_t len);

struct control {
    int listen_fd;
    int epoll_fd; /* readable when something is to be done; -1: closed */
    int spare_fd; /* given up to turn away whom there is no room for */
    char *folder; /* NULL: nothing is there to be removed */
    control_take *take;
    void (*left)(void *ctx, uint64_t number); /* a client is gone; may be NULL
                                                 and is set by the owner */
    void *ctx;
    struct control_client *clients; /* who was heard last comes first */
    size_t n_clients;
    uint64_t numbers;
};

/* A zeroed struct with this is a closed one. */
#define CONTROL_CLOSED                                  \
    {                                                   \
        .listen_fd = -1, .epoll_fd = -1, .spare_fd = -1 \
    }

/* The caller is the folder's only manager: what another one left is replaced.
 * -1: it stays closed. */
int control_open(struct control *c, const char *folder, control_take *take,
                 void *ctx, struct err *err);
/* Drops everybody and removes the socket; a closed one too. */
void control_close(struct control *c);

/* epoll_fd is readable: takes what has come. */
void control_serve(struct control *c);

/* Appends a line, `text` and an LF; what does not fit drops the client.  It
 * goes out at the end of control_serve(), or by control_flush(). */
void control_send(struct control_client *client, const char *text, size_t len);
void control_flush(struct control *c);

/* NULL: it is gone. */
struct control_client *control_find(const struct control *c, uint64_t number);

#endif
