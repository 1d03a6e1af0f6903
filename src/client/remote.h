/* SPDX-License-Identifier: MIT */
/* remote.h - the server of a study, as a client has it (control/control.h),
 * across the deaths of servers: requests go out with ids of ours, each is
 * answered once, and what a server has left unanswered is said again to the
 * next.  Trials that are asked for belong to the remote; what is said of one of
 * them names the attempt that it has, unless the caller does.  One thread. */
#ifndef CLIENT_REMOTE_H
#define CLIENT_REMOTE_H

#include "client/start.h"
#include "control/client.h"
#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <stdbool.h>
#include <stdint.h>

struct remote_request;
struct remote_wait;

/* Borrowed for the call, but that a hearer may take `doc` and set it NULL. */
struct remote_answer {
    uint64_t id;           /* the request's */
    struct json *doc;      /* what the value lies in */
    struct jval value;     /* of `answer`, where err is NULL */
    const struct err *err; /* it is refused; ERR_SYSTEM: there is no server */
    bool over;             /* and so would each later one be */
    bool gone;             /* its trial has ended, or was given back */
};

/* A function that is told answers may send no request. */
typedef void remote_hear(void *ctx, struct remote_answer *answer);

struct remote_trial {
    uint64_t number, attempt;
};

struct remote {
    char *folder; /* absolute */
    remote_hear *hear;
    void *ctx;
    int epoll_fd; /* readable: remote_turn() has something to do */
    struct start start;
    struct control_client client; /* fd -1: none */
    uint32_t events;              /* that epoll waits for at its fd */
    struct buf out;
    struct remote_request *first, **last; /* unanswered, as they were sent */
    struct remote_wait *wait; /* remote_ask() waits for it, or NULL */
    uint64_t n_sent;
    unsigned n_deaths;         /* of servers since one has answered */
    bool closing;              /* no server is started any more */
    struct err stopped;        /* by whom the study was; ERR_NONE: it was not */
    bool asked;                /* a trial may have been given to it */
    struct remote_trial *held; /* that were, and not told or given back yet */
    size_t n_held, held_cap;
};

/* Returns when a server of the study answers; `config` NULL: the study is made
 * already.  -1: it is closed. */
int remote_open(struct remote *s, const char *folder, const char *config,
                remote_hear *hear, void *ctx, struct err *err);
/* Drops what is unanswered, unheard.  `leave`: tells the server, which gives
 * back what was asked for through it, and waits for that; not: this process
 * may be a copy of the one that opened it. */
void remote_close(struct remote *s, bool leave);

/* Has remote_turn() send a request, an object without an id; what is not to be
 * done twice has a member "again" when it is said once more.  *id is what its
 * answer will have.  -1: it is too long, no JSON, an ask of a study that was
 * stopped, or out of memory. */
int remote_send(struct remote *s, const char *object, uint64_t *id,
                struct err *err);
/* Nobody waits for its answer any more. */
void remote_forget(struct remote *s, uint64_t id);

/* Does what can be done; `wait`: if that is nothing, after waiting for it, some
 * seconds at most.  -1: the server has not answered for so long and is stopped
 * (SIGSTOP), or epoll fails; the requests stay. */
int remote_turn(struct remote *s, bool wait, struct err *err);

/* Sends a request and waits for its answer: *out is to be freed, the answer
 * lies in it. */
int remote_ask(struct remote *s, const char *object, struct json **out,
               struct jval *answer, struct err *err);

#endif
