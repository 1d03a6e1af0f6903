/* SPDX-License-Identifier: MIT */
#include "bridge/link.h"

#include "core/err.h"

#include <stddef.h>

#define MS INT64_C(1000000)

enum {
    CLOSE_NORMAL = 1000,
    CLOSE_GOING_AWAY = 1001, /* 2.10: "Reconnected" */
    CLOSE_BYE = 4000,        /* 3.0: on purpose */
    CLOSE_REPLACED = 4001,   /* 3.0: "new epoch start" */
    CLOSE_SERVING = 4030,    /* 2.8, 2.9: "Already serving a tuner" */
    CLOSE_LATE = 4080,       /* 2.8, 2.9: "Timeout" */
};

/* When attempts begin, in ms from the start or from the loss.  A manager waits
 * 10 s for the first connection.  One of 3.0 waits 30 s for the next, whose
 * own client tries at the first five of these times; that of 2.10 has died. */
static const int first_ms[] = {0,
                               50,
                               150,
                               300,
                               500,
                               800,
                               1200,
                               2000,
                               3000,
                               4000,
                               5000,
                               6000,
                               7000,
                               8000,
                               9000,
                               9500,
                               LINK_CONNECT_LIMIT_MS};
static const int again_json_ms[] = {0,     1000,  3000,  6000,  10000, 14000,
                                    18000, 22000, 26000, 29000, 30000};
static const int again_plain_ms[] = {0, 1000, 10000, 11000};

/* By what code the manager closes for good, whatever we do.  A link that was
 * replaced tries once to get its place back: that may have been a stray client,
 * which the experiment need not stand still for.  Of two dispatchers that both
 * do so, the one that came later remains. */
static const struct {
    unsigned code;
    bool replaced;
    const char *why;
} final_codes[] = {
    {CLOSE_REPLACED, true, "another dispatcher has connected in our place"},
    {CLOSE_GOING_AWAY, true,
     "another dispatcher has connected in our place, or the manager is ending"},
    {CLOSE_SERVING, false, "the manager already has a dispatcher"},
    {CLOSE_LATE, false,
     "the manager waits no more: we came after its 10 seconds"},
};
#define N_FINAL (sizeof final_codes / sizeof *final_codes)

struct times {
    const int *ms;
    unsigned n; /* of these times; at the last one the link gives up */
};

static struct times
times_of(const struct link *l)
{
#define TIMES(t) ((struct times){(t), sizeof(t) / sizeof *(t)})
    if (!l->was_up)
        return TIMES(first_ms);
    return l->dialect == DIALECT_PLAIN ? TIMES(again_plain_ms)
                                       : TIMES(again_json_ms);
#undef TIMES
}

void
link_init(struct link *l, int64_t now_ns)
{
    *l = (struct link){.phase = LINK_DOWN, .since_ns = now_ns};
}

static void
end(struct link *l, const char *why, unsigned code)
{
    l->phase = LINK_OVER;
    l->why_over = why;
    l->over_code = code;
}

/* Whether both sides have nothing more to say. */
static bool
parted(const struct link *l)
{
    return l->terminated || l->bye;
}

static int64_t
next_attempt(const struct link *l)
{
    struct times t = times_of(l);

    return l->since_ns + MS * t.ms[l->attempts < t.n ? l->attempts : t.n - 1];
}

static enum link_act
next_down(struct link *l, int64_t now_ns)
{
    if (now_ns < next_attempt(l))
        return LINK_WAIT;
    if (l->attempts + 1 >= times_of(l).n) {
        end(l,
            l->was_up ? "the manager cannot be reached any more"
                      : "no manager could be reached within 10 seconds",
            0);
        return LINK_FINISHED;
    }
    l->attempts++;
    l->call_ns = now_ns;
    l->phase = LINK_CALLING;
    return LINK_CALL;
}

static enum link_act
next_closing(const struct link *l, int64_t now_ns)
{
    return now_ns < l->close_ns ? LINK_WAIT : LINK_HANG_UP;
}

static enum link_act
next_ping(struct link *l, int64_t now_ns)
{
    if (l->holding && now_ns >= l->hold_ns) {
        l->hold_ns = now_ns + LINK_HOLD_PONG_MS * MS;
        return LINK_PONG;
    }
    if (l->holding || now_ns < l->ping_ns)
        return LINK_WAIT;
    l->ping_ns = now_ns + LINK_LOOK_MS * MS;
    if (!l->pinged) {
        l->pinged = true;
        return LINK_PING;
    }
    return ++l->looks < LINK_LOOKS ? LINK_WAIT : LINK_HANG_UP;
}

/* 3.0's manager closes by itself within milliseconds of its TE, 2.10's never
 * does: there it is for us, once the dispatcher has ended. */
static enum link_act
next_up(struct link *l, int64_t now_ns)
{
    if (l->closing)
        return next_closing(l, now_ns);
    if (!parted(l) || !l->ended)
        return next_ping(l, now_ns);
    l->closing = true;
    l->close_ns = now_ns + LINK_CLOSE_LIMIT_MS * MS;
    return l->dialect == DIALECT_JSON ? LINK_WAIT : LINK_CLOSE;
}

enum link_act
link_next(struct link *l, int64_t now_ns)
{
    switch (l->phase) {
    case LINK_DOWN:
        return next_down(l, now_ns);
    case LINK_CALLING:
        return now_ns < l->call_ns + LINK_CALL_LIMIT_MS * MS ? LINK_WAIT
                                                             : LINK_ABANDON;
    case LINK_UP:
        return next_up(l, now_ns);
    case LINK_OVER:
        break;
    }
    return LINK_FINISHED;
}

int64_t
link_due(const struct link *l)
{
    switch (l->phase) {
    case LINK_DOWN:
        return next_attempt(l);
    case LINK_CALLING:
        return l->call_ns + LINK_CALL_LIMIT_MS * MS;
    case LINK_UP:
        if (l->closing)
            return l->close_ns;
        return l->holding ? l->hold_ns : l->ping_ns;
    case LINK_OVER:
        break;
    }
    return INT64_MAX;
}

static void
expect_ping(struct link *l, int64_t now_ns)
{
    l->pinged = false;
    l->looks = 0;
    l->ping_ns = now_ns + LINK_PING_MS * MS;
}

void
link_up(struct link *l, int64_t now_ns)
{
    l->phase = LINK_UP;
    l->was_up = true;
    l->up_ns = now_ns;
    l->holding = l->closing = l->heard = false;
    expect_ping(l, now_ns);
}

void
link_failed(struct link *l)
{
    if (l->phase == LINK_CALLING)
        l->phase = LINK_DOWN;
}

static bool
is_final(struct link *l, int64_t now_ns, unsigned code)
{
    for (size_t i = 0; i < N_FINAL; i++) {
        if (code != final_codes[i].code)
            continue;
        if (final_codes[i].replaced && now_ns >= l->contest_ns) {
            l->contest_ns = now_ns + LINK_CONTEST_MS * MS;
            return false;
        }
        end(l, final_codes[i].why, code);
        return true;
    }
    return false;
}

void
link_closed(struct link *l, int64_t now_ns, unsigned code)
{
    if (parted(l) || code == CLOSE_BYE) {
        end(l, NULL, code);
        return;
    }
    if (is_final(l, now_ns, code))
        return;
    if (l->ended) {
        end(l, "the manager left without a TE", code);
        return;
    }
    l->phase = LINK_DOWN;
    /* A connection that was closed as soon as it was made does not count as
     * one: else a server that does so would be called again without end. */
    if (!l->heard && now_ns < l->up_ns + LINK_LASTED_MS * MS)
        return;
    l->since_ns = now_ns;
    l->attempts = 0;
}

void
link_gone(struct link *l, const char *why)
{
    if (l->phase != LINK_OVER)
        end(l, parted(l) ? NULL : why, 0);
}

void
link_heard(struct link *l, enum message m)
{
    l->terminated |= m == MESSAGE_TERMINATE;
    l->bye |= m == MESSAGE_BYE;
}

void
link_pong(struct link *l, int64_t now_ns)
{
    l->heard = true;
    expect_ping(l, now_ns);
}

void
link_hold(struct link *l, int64_t now_ns, bool holding)
{
    if (holding == l->holding)
        return;
    l->holding = holding;
    l->hold_ns = now_ns + LINK_HOLD_PONG_MS * MS;
    if (!holding)
        expect_ping(l, now_ns);
}

void
link_ended(struct link *l)
{
    l->ended = true;
}

unsigned
link_close_code(const struct link *l)
{
    return l->dialect == DIALECT_JSON ? CLOSE_BYE : CLOSE_NORMAL;
}

int
link_verdict(const struct link *l, struct err *err)
{
    if (l->why_over == NULL)
        return 0;
    if (l->over_code == 0)
        return err_set(err, ERR_PROTOCOL, "%s", l->why_over);
    return err_set(err, ERR_PROTOCOL, "%s (close code %u)", l->why_over,
                   l->over_code);
}
