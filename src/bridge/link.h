/* SPDX-License-Identifier: MIT */
/* link.h - the life of the connection to a manager: when to connect, when to
 * give up, when the two sides have parted, and who closes.
 *
 * Pure: it is told what happened and when, and says what to do; it knows
 * neither sockets nor clocks.  One thread.
 *
 *            call                   up
 *   DOWN ------------> CALLING ------------> UP
 *     ^                   |                   |
 *     |      failed       |                   |   lost
 *     +-------------------+<------------------+
 *     |                                       |   TE or _bye_, then closed;
 *     |  tried for too long                   |   replaced; nothing to say
 *     +---------------------> OVER <----------+ */
#ifndef BRIDGE_LINK_H
#define BRIDGE_LINK_H

#include "bridge/dialect.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

#define LINK_CONNECT_LIMIT_MS 10000 /* the manager waits so long */
#define LINK_CALL_LIMIT_MS 5000     /* for one attempt */
#define LINK_PING_MS 20000          /* our own, to notice a manager gone */
#define LINK_LOOK_MS 5000           /* how often we look for its pong */
#define LINK_LOOKS 6                /* and how many times in vain */
#define LINK_HOLD_PONG_MS                           \
    2000 /* while we do not read: a manager of 2.10 \
            wants a pong within 5 s */
/* a connection that lasted so long counts as one */
#define LINK_LASTED_MS 1000
#define LINK_CONTEST_MS 30000    /* replaced twice within: we give way */
#define LINK_CLOSE_LIMIT_MS 2000 /* for the manager to close, or to answer */

enum link_phase { LINK_DOWN, LINK_CALLING, LINK_UP, LINK_OVER };

struct link {
    enum link_phase phase;
    enum dialect dialect; /* the manager's; set by the caller who reads it */
    int64_t since_ns;     /* time of the start, or of the connection's loss */
    unsigned attempts;    /* to connect, since then */
    bool was_up;          /* it has been connected before */
    int64_t up_ns;        /* when the connection was made last */
    bool heard;           /* something was received since then */
    int64_t call_ns;      /* when the attempt to connect began */
    int64_t ping_ns;      /* when to send a ping, or to look for its pong */
    unsigned looks; /* how often a pong was missing; 0: no ping was sent */
    bool pinged;
    bool holding;         /* the caller does not read just now */
    int64_t hold_ns;      /* when the next unasked pong is due */
    int64_t contest_ns;   /* a replacement before that time is for good */
    bool terminated, bye; /* the manager sent TE; _bye_ */
    bool ended;           /* the dispatcher has ended */
    bool closing;         /* we have sent a close, or wait for the manager's */
    int64_t close_ns;     /* until when that is waited for */
    const char *why_over; /* static text; NULL: in order */
    unsigned over_code;   /* the close code that belongs to it; 0: none */
};

enum link_act {
    LINK_WAIT,     /* until link_due() */
    LINK_CALL,     /* begin an attempt */
    LINK_ABANDON,  /* the attempt takes too long: drop it */
    LINK_PING,     /* send a ping */
    LINK_PONG,     /* send a pong nobody asked for */
    LINK_HANG_UP,  /* drop the connection: nobody is there any more */
    LINK_CLOSE,    /* close it with link_close_code() */
    LINK_FINISHED, /* there is no connection and there will be none */
};

void link_init(struct link *l, int64_t now_ns);

/* What to do now; to be asked after whatever happened and at link_due().  The
 * caller does it: the link takes it for done. */
enum link_act link_next(struct link *l, int64_t now_ns);

/* When link_next() is due if nothing happens; INT64_MAX: never. */
int64_t link_due(const struct link *l);

/* Tell the link what has happened. */
void link_up(struct link *l, int64_t now_ns);
void link_failed(struct link *l); /* the attempt to connect */
/* `code` is that of the manager's close; 0: it was lost without one. */
void link_closed(struct link *l, int64_t now_ns, unsigned code);
/* The manager is gone for good; `why`, static text, says how one knows.  A
 * connection that there may be is dropped. */
void link_gone(struct link *l, const char *why);
void link_heard(struct link *l,
                enum message m); /* the kind of the manager's message */
/* also for anything else that it sent */
void link_pong(struct link *l, int64_t now_ns);
void link_hold(struct link *l, int64_t now_ns, bool holding);
/* the dispatcher has, and all that it said is sent */
void link_ended(struct link *l);

/* The code to close with: 1000, or what NNI 3.0's own client says. */
unsigned link_close_code(const struct link *l);

/* Once it is over: 0 when in order, else -1 and err says why. */
int link_verdict(const struct link *l, struct err *err);

#endif
