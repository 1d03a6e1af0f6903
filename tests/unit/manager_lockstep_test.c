/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "manager/lockstep.h"

#include <stdlib.h>

static void
expect(const struct lockstep *l, enum lockstep_move move, uint64_t number)
{
    uint64_t got = number;

    CHECK_EQ(lockstep_next(l, &got), move);
    CHECK_EQ(got, number);
}

/* Asks for n, which all come, and starts them. */
static void
begin(struct lockstep *l, uint64_t first, uint64_t n)
{
    expect(l, LOCKSTEP_ASK, 0);
    lockstep_asked(l, 0, n);
    for (uint64_t i = 0; i < n; i++) {
        expect(l, LOCKSTEP_WAIT, 0);
        lockstep_came(l);
    }
    expect(l, LOCKSTEP_START, 0);
    for (uint64_t i = 0; i < n; i++)
        CHECK_EQ(lockstep_join(l, first + i, NULL), 0);
    lockstep_started(l);
}

TEST(manager_lockstep_delivers_by_number_once_all_stand)
{
    struct lockstep l = {0};

    begin(&l, 0, 3);
    lockstep_stand(&l, 2, true, 100);
    lockstep_stand(&l, 0, true, 200);
    lockstep_stand(&l, 0, true, 250); /* known */
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_stand(&l, 1, false, 300);
    for (uint64_t i = 0; i < 3; i++) {
        expect(&l, LOCKSTEP_DELIVER, i);
        lockstep_delivered(&l, i, false, 1000);
        expect(&l, LOCKSTEP_WAIT, 0);
        lockstep_answered(&l);
        lockstep_stand(&l, i, true, 1000); /* at once: next round */
    }
    CHECK_EQ(l.waited_ns, 900 + 800); /* trial 1 ran on */
    CHECK_EQ(l.rounds, 1);
    expect(&l, LOCKSTEP_ASK, 0);
    lockstep_asked(&l, 0, 0);
    expect(&l, LOCKSTEP_START, 0);
    lockstep_started(&l);
    expect(&l, LOCKSTEP_DELIVER, 0);
    lockstep_fini(&l);
}

TEST(manager_lockstep_forgets_who_ended)
{
    struct lockstep l = {0};

    begin(&l, 5, 2);
    lockstep_stand(&l, 5, true, 1);
    lockstep_stand(&l, 6, true, 1);
    lockstep_delivered(&l, 5, true, 2);
    expect(&l, LOCKSTEP_WAIT, 0); /* what follows from the end is awaited */
    lockstep_came(&l);            /* it was owed */
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_answered(&l);
    expect(&l, LOCKSTEP_DELIVER, 6);
    lockstep_delivered(&l, 6, true, 2);
    lockstep_answered(&l);
    CHECK_EQ(l.n, 0);
    begin(&l, 7, 1);
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_fini(&l);
}

TEST(manager_lockstep_waits_for_who_was_stopped_meanwhile)
{
    struct lockstep l = {0};

    begin(&l, 0, 3);
    for (uint64_t i = 0; i < 3; i++)
        lockstep_stand(&l, i, true, 1);
    lockstep_delivered(&l, 0, false, 1);
    lockstep_retract(&l, 1);
    lockstep_retract(&l, 9); /* nobody */
    lockstep_answered(&l);
    expect(&l, LOCKSTEP_WAIT, 0); /* for its end */
    lockstep_stand(&l, 1, true, 2);
    expect(&l, LOCKSTEP_DELIVER, 1);
    lockstep_delivered(&l, 1, true, 1);
    lockstep_answered(&l);
    expect(&l, LOCKSTEP_DELIVER, 2);
    lockstep_fini(&l);
}

TEST(manager_lockstep_goes_on_in_the_middle_of_a_round)
{
    struct lockstep l = {0};

    /* Another manager had delivered to 3, perhaps without an answer. */
    lockstep_resume(&l, 3, true);
    for (uint64_t i = 5; i >= 2; i--)
        CHECK_EQ(lockstep_join(&l, i, NULL), 0);
    lockstep_resumed(&l, 0, 0, 0);
    lockstep_stand(&l, 5, true, 1);
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_answered(&l);
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_stand(&l, 4, true, 1);
    for (uint64_t i = 4; i <= 5; i++) {
        expect(&l, LOCKSTEP_DELIVER, i);
        lockstep_delivered(&l, i, false, 1);
        lockstep_answered(&l);
    }
    expect(&l, LOCKSTEP_ASK, 0); /* 2 and 3 have had their turn */
    lockstep_fini(&l);
}

TEST(manager_lockstep_goes_on_behind_a_round)
{
    struct lockstep l = {0};

    /* Two suggestions had come and were not started, one was asked for. */
    lockstep_resume(&l, 3, false);
    CHECK_EQ(lockstep_join(&l, 2, NULL), 0);
    lockstep_resumed(&l, 0, 2, 0);
    lockstep_stand(&l, 2, true, 1);
    lockstep_answered(&l);
    lockstep_came(&l);
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_came(&l);
    expect(&l, LOCKSTEP_ASK, 0); /* perhaps nobody has */
    lockstep_asked(&l, 0, 0);
    expect(&l, LOCKSTEP_START, 0);
    CHECK_EQ(lockstep_join(&l, 4, NULL), 0);
    CHECK_EQ(lockstep_join(&l, 4, NULL), 0); /* known */
    CHECK_EQ(l.n, 2);
    lockstep_fini(&l);
}

TEST(manager_lockstep_knows_when_a_request_is_answered)
{
    struct lockstep l = {0};

    /* Two are owed from before; three more are asked for. */
    lockstep_asked(&l, 2, 3);
    lockstep_came(&l);
    lockstep_came(&l);
    lockstep_came(&l);
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_refused(&l, true, 2); /* later: owed from now on */
    expect(&l, LOCKSTEP_START, 0);
    lockstep_started(&l);

    /* What was owed is refused, then the request. */
    lockstep_asked(&l, 2, 1);
    lockstep_refused(&l, false, 2);
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_refused(&l, false, 1);
    expect(&l, LOCKSTEP_START, 0);

    /* Later is said of the request, also while others are owed. */
    lockstep_asked(&l, 2, 1);
    lockstep_refused(&l, true, 1);
    expect(&l, LOCKSTEP_START, 0);

    /* NNI's NO says nothing of units. */
    lockstep_asked(&l, 0, 4);
    lockstep_came(&l);
    lockstep_refused(&l, false, UINT64_MAX);
    expect(&l, LOCKSTEP_START, 0);
    lockstep_fini(&l);
}

TEST(manager_lockstep_with_nobody_asks_again_when_there_is_news)
{
    struct lockstep l = {0};

    lockstep_asked(&l, 0, 1);
    lockstep_refused(&l, false, 1);
    lockstep_started(&l);
    expect(&l, LOCKSTEP_ASK, 0);
    lockstep_asked(&l, 0, 0); /* nothing is wanted */
    lockstep_started(&l);
    expect(&l, LOCKSTEP_WAIT, 0);
    lockstep_came(&l); /* what was owed */
    expect(&l, LOCKSTEP_ASK, 0);
    lockstep_fini(&l);
}

/* ---- one experiment, many timings ---- */

enum { SLOTS = 4, TRIALS = 40 };

struct sim {
    struct lockstep l;
    uint32_t clock; /* a generator: who is how fast */
    uint64_t came, started, left[TRIALS];
    bool standing[TRIALS];
    struct buf said; /* what the dispatcher heard */
};

static uint32_t
draw(struct sim *s)
{
    s->clock = s->clock * 1664525 + 1013904223;
    return s->clock >> 16;
}

/* One of the running trials reports, whichever the clock picks. */
static void
somebody_reports(struct sim *s)
{
    for (;;) {
        uint64_t t = draw(s) % (s->started > 0 ? s->started : 1);

        if (s->started > 0 && s->left[t] > 0 && !s->standing[t]) {
            s->standing[t] = true;
            lockstep_stand(&s->l, t, true, 1);
            return;
        }
    }
}

static void
ask(struct sim *s)
{
    uint64_t busy = s->l.n, n = SLOTS - busy;

    if (n > TRIALS - s->came)
        n = TRIALS - s->came;
    buf_printf(&s->said, "ask %d\n", (int)n);
    lockstep_asked(&s->l, 0, n);
    for (; n > 0; n--, s->came++)
        lockstep_came(&s->l);
}

static void
start(struct sim *s)
{
    for (; s->started < s->came; s->started++) {
        CHECK_EQ(lockstep_join(&s->l, s->started, NULL), 0);
        s->left[s->started] = 1 + s->started * 7 % 5;
    }
    lockstep_started(&s->l);
}

static void
deliver(struct sim *s, uint64_t number)
{
    bool ends = --s->left[number] == 0;

    CHECK(s->standing[number]);
    s->standing[number] = false;
    buf_printf(&s->said, "%d %d\n", (int)number, (int)s->left[number]);
    lockstep_delivered(&s->l, number, ends, 2);
    /* Others go on while the answer is on its way. */
    lockstep_answered(&s->l);
}

static struct buf
simulate(uint32_t clock)
{
    struct sim s = {.clock = clock};
    uint64_t number;

    buf_init(&s.said, 1 << 20);
    while (s.came < TRIALS || s.l.n > 0 || s.started < s.came)
        switch (lockstep_next(&s.l, &number)) {
        case LOCKSTEP_WAIT:
            somebody_reports(&s);
            break;
        case LOCKSTEP_ASK:
            ask(&s);
            break;
        case LOCKSTEP_START:
            start(&s);
            break;
        case LOCKSTEP_DELIVER:
            deliver(&s, number);
            break;
        }
    lockstep_fini(&s.l);
    return s.said;
}

TEST(manager_lockstep_is_the_same_whatever_the_timing)
{
    struct buf first = simulate(1);

    CHECK_HAS(buf_text(&first), "39 0\n");
    for (uint32_t clock = 2; clock < 200; clock++) {
        struct buf other = simulate(clock);

        CHECK_STR(buf_text(&other), buf_text(&first));
        buf_fini(&other);
    }
    buf_fini(&first);
}
