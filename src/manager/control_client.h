/* SPDX-License-Identifier: MIT */
/* control_client.h - the other side of control.h: one who asks a running
 * experiment.  It blocks.  One thread. */
#ifndef MANAGER_CONTROL_CLIENT_H
#define MANAGER_CONTROL_CLIENT_H

#include "core/buf.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

struct control_link {
    const char *folder; /* borrowed */
    int fd;             /* -1: closed */
    int manager_fd;     /* its pidfd; -1: unknown */
    long pid;           /* its; 0: unknown */
    int patience_ms;    /* for an answer */
    struct buf in;
    bool ended; /* the manager said nothing more */
};

/* -1 where nobody listens: no manager lives, or it has no socket.  One that
 * lives and does nothing is told of as control_link_ask() does. */
int control_link_open(struct control_link *l, const char *folder,
                      struct err *err);
void control_link_close(struct control_link *l); /* a closed one too */

/* The request is one line of JSON, without its LF. */
int control_link_send(struct control_link *l, const char *request,
                      struct err *err);
/* The next answer: *out is its document, to be freed, and *answer what it
 * holds.  -1: the manager refuses (ERR_INPUT), or has ended (ERR_SYSTEM). */
int control_link_read(struct control_link *l, struct json **out,
                      struct jval *answer, struct err *err);
/* 1: a whole line is there, 0: not yet, -1: ended.  Reads once, so that one who
 * was told by poll(2) that there is something does not block. */
int control_link_fill(struct control_link *l, struct err *err);

/* Whether a whole line is there already. */
bool control_link_holds(const struct control_link *l);

/* Sends, and reads what is answered.  A manager that is stopped (SIGSTOP, a
 * debugger) or that answers nothing for `patience_ms` is an error (number
 * ETIMEDOUT) that names its process and what to do. */
int control_link_ask(struct control_link *l, const char *request,
                     struct json **out, struct jval *answer, struct err *err);

/* Whether the manager's process is stopped, which it cannot tell itself. */
bool control_link_is_stopped(const struct control_link *l);

/* For who waits as long as it takes: says so on stderr, as `verb`, when it is
 * stopped and *said is not set; sets it as it is then. */
void control_link_note_stopped(const struct control_link *l, const char *verb,
                               bool *said);

/* How often they look, milliseconds. */
#define CONTROL_LOOK_MS 5000

/* All at once. */
int control_ask(const char *folder, const char *request, struct json **out,
                struct jval *answer, struct err *err);

/* Returns when the manager has ended; `verb` is for
 * control_link_note_stopped(). */
void control_link_await_end(struct control_link *l, const char *verb);

#endif
