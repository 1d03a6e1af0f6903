/* SPDX-License-Identifier: MIT */
/* client.h - the other end of the control socket (control.h): one who asks a
 * running experiment's manager.  It blocks.  One thread. */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include "control/control.h"
#include "core/buf.h"
#include "json.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct control_client {
    const char *folder; /* borrowed */
    int fd;             /* -1: closed */
    int manager_fd;     /* the manager's pidfd; -1: unknown */
    long pid;           /* the manager's; 0: unknown */
    int patience_ms;    /* for an answer */
    struct buf in;      /* not taken yet */
    bool ended;         /* the manager has closed the connection */
};

/* -1 where nobody listens: no manager lives, or it has no socket.  One that
 * lives and does nothing is told of as control_client_ask() does. */
int control_client_open(struct control_client *c, const char *folder,
                        struct err *err);
void control_client_close(struct control_client *c); /* a closed one too */

/* The request is one line of JSON, without its LF. */
int control_client_send(struct control_client *c, const char *request,
                        struct err *err);

/* Sends, and reads what is answered: *out is its document, to be freed, and
 * *answer the object in it.  A manager that refuses is ERR_INPUT, one that has
 * ended ERR_SYSTEM; so is one that is stopped (SIGSTOP, a debugger) or that
 * answers nothing for `patience_ms`: number ETIMEDOUT, and the text names its
 * process and what to do. */
int control_client_ask(struct control_client *c, const char *request,
                       struct json **out, struct jval *answer, struct err *err);

/* Opens a connection to the manager of that folder, asks as
 * control_client_ask() does, and closes it. */
int control_ask(const char *folder, const char *request, struct json **out,
                struct jval *answer, struct err *err);

/* The next answer of one who is answered more than once, as long as it takes:
 * 1; 0 with *out NULL: not before the monotonic `deadline_ns` (0: none); -1:
 * as control_client_ask().  `verb` is for control_client_note_stopped(). */
int control_client_next(struct control_client *c, int64_t deadline_ns,
                        const char *verb, struct json **out,
                        struct jval *answer, struct err *err);

/* control_client_next() in two halves, for a caller that polls `fd` beside
 * other descriptors: once that is readable, fill() reads once (1: a line has
 * ended, 0: not yet, -1: the manager has ended), take() has what has come, and
 * does not block. */
int control_client_fill(struct control_client *c, struct err *err);
int control_client_take(struct control_client *c, struct json **out,
                        struct jval *answer, struct err *err);

/* What has come, as it is, for who tells answers apart by their ids: 1, and the
 * document is the caller's; 0: no line has ended; -1: it is no JSON. */
int control_client_line(struct control_client *c, struct json **out,
                        struct err *err);

/* Whether the manager's process is stopped, which it cannot tell itself; what
 * to do about it, returns -1. */
bool control_client_is_stopped(const struct control_client *c);
int control_client_tell_stopped(const struct control_client *c,
                                struct err *err);

/* For who waits as long as it takes: says so on stderr, as `verb`, when it is
 * stopped and *said is not set; sets it as it is then. */
void control_client_note_stopped(const struct control_client *c,
                                 const char *verb, bool *said);

/* How often they look, milliseconds. */
#define CONTROL_LOOK_MS 5000

/* Returns when the manager has ended; `verb` is for
 * control_client_note_stopped(). */
void control_client_await_end(struct control_client *c, const char *verb);

#endif
