/* SPDX-License-Identifier: MIT */
/* server.h - the manager's end of the control socket (control.h).  It knows
 * how a request comes, who may ask and how answers go back; what the commands
 * do is its owner's, a struct control_service.
 *
 * Nothing here blocks.  A client has its next request read when it has taken
 * all that was sent to it; one that sends a line of more than CONTROL_LINE_MAX
 * bytes is told so and dropped.  Of too many clients the one that has been
 * silent longest is dropped, but none that waits for an answer or watches:
 * where all do, who comes is told so and refused.  One thread. */
#ifndef CONTROL_SERVER_H
#define CONTROL_SERVER_H

#include "control/control.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct control_connection;
struct err;

#define CONTROL_CLIENTS_MAX 64 /* of an experiment; of a study at least */
#define CONTROL_FDS_MAX (CONTROL_CLIENTS_MAX + 4)
#define CONTROL_KEYS_MAX 5
#define CONTROL_COMMANDS_MAX 64

enum { CONTROL_REFUSED = -1, CONTROL_GONE = -2 };

/* The `id` of a request, if it has one. */
struct control_tag {
    uint64_t id;
    bool given;
};

/* Borrowed for the call. */
struct control_request {
    struct control_connection *from;
    struct jval object; /* its members are "command" and the command's keys */
};

/* Appends a JSON object to reply; a handler that has subscribed the client
 * may leave that to control_subscription_answer().  Below 0: err tells, and
 * nothing was changed; CONTROL_GONE: because what the request is about is there
 * no more. */
typedef int control_handler(void *ctx, const struct control_request *request,
                            struct buf *reply, struct err *err);

struct control_command {
    const char *name;
    const char *keys[CONTROL_KEYS_MAX]; /* besides "command" */
    control_handler *handle;
};

struct control_commands {
    const struct control_command *table;
    size_t n;  /* at most CONTROL_COMMANDS_MAX, of all tables */
    void *ctx; /* of the handlers */
};

/* What a server's owner does for it. */
struct control_service {
    struct control_commands commands, more; /* `more` may be of none */
    size_t clients_max;
    /* Appends how things stand, a JSON object, for one who watches. */
    void (*describe)(void *ctx, uint64_t rows, struct buf *out);
    /* The client subscribed to `source` has gone: nothing more is to be
     * answered, and the subscription is freed. */
    void (*cancel)(void *ctx, uint64_t source);
    void *ctx; /* of these two */
};

struct control_server {
    struct control_service service;
    int listen_fd;
    int epoll_fd; /* readable when something is to be done; -1: closed */
    int spare_fd; /* given up to turn away whom there is no room for */
    char *folder; /* NULL: nothing is there to be removed */
    struct control_connection *clients; /* who was heard last comes first */
    size_t n_clients;
    size_t n_lookers; /* of these: who have done nothing but control_look() */
    uint64_t n_uses;  /* requests, ever, that were more than a look */
    uint64_t n_admitted; /* ever */
    bool changed;        /* since watchers were told; set by the owner */
    int64_t told_ns;     /* when they were */
};

/* A zeroed struct with this is a closed one. */
#define CONTROL_SERVER_CLOSED                           \
    {                                                   \
        .listen_fd = -1, .epoll_fd = -1, .spare_fd = -1 \
    }

/* The caller is the folder's only manager: what another one left is replaced.
 * The service is copied, its tables borrowed.  -1: it stays closed. */
int control_server_open(struct control_server *s, const char *folder,
                        const struct control_service *service, struct err *err);
/* Removes the socket: nobody comes any more, and who is here stays. */
void control_server_shut(struct control_server *s);
/* Drops everybody and removes the socket; a closed one too. */
void control_server_close(struct control_server *s);

/* Tells all but `from`, and those who only look, that what they use is stopped:
 * an error of no request. */
void control_server_stop(struct control_server *s,
                         const struct control_connection *from,
                         const char *text);

/* epoll_fd is readable: takes what has come. */
void control_server_serve(struct control_server *s);

/* The rest of a round of events: where something has `changed`, tells those who
 * watch, though not at every moment; drops who has gone.  Returns the
 * monotonic time when to call again, or INT64_MAX. */
int64_t control_server_settle(struct control_server *s, int64_t now_ns);

/* The client's process; 0: it is none of this machine's, or not seen here. */
pid_t control_peer(const struct control_connection *client);

/* The request that is being handled is a look, and no use of the server. */
void control_look(struct control_connection *client);

/* From now on the client is told how things stand when they change. */
void control_watch(struct control_connection *client, uint64_t rows);

/* What a client is answered by and by, and by whom. */
struct control_subscription {
    uint64_t source; /* the owner's, for control_service.cancel() */
    uint64_t left;   /* answers to come */
    struct control_tag tag;
    struct control_connection *client;
    struct control_subscription *next, **link; /* of the client's */
};

/* The client is to be answered `times` times; NULL: out of memory.  A handler
 * that then fails ends the subscription itself. */
struct control_subscription *control_subscribe(
    struct control_connection *client, uint64_t times, struct err *err);
/* Answers with a JSON object; the last time frees the subscription. */
void control_subscription_answer(struct control_subscription *sub,
                                 const char *object);
/* Frees it, after a last answer unless that is NULL. */
void control_subscription_end(struct control_subscription *sub,
                              const char *object);
/* Frees it after an error; for_good: asking again is in vain. */
void control_subscription_refuse(struct control_subscription *sub,
                                 const char *text, bool for_good);

#endif
