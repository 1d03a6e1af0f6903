/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "manager/scheduler.h"

#include <stddef.h>

static void
ask(struct scheduler *s, uint64_t want)
{
    CHECK_EQ(scheduler_wants(s), want);
    scheduler_asked(s, want);
    CHECK_EQ(scheduler_wants(s), 0);
}

TEST(manager_scheduler_fills_the_slots_and_counts_exactly)
{
    struct scheduler s = {.concurrency = 3, .max_trials = 5};

    ask(&s, 3);
    for (int i = 0; i < 3; i++)
        CHECK(scheduler_take(&s));
    CHECK_EQ(scheduler_wants(&s), 0);
    scheduler_ended(&s);
    scheduler_ended(&s);
    ask(&s, 2);
    CHECK(scheduler_take(&s));
    scheduler_ended(&s);
    CHECK_EQ(scheduler_wants(&s), 0); /* one is owed: five in all */
    CHECK(scheduler_take(&s));
    CHECK(!scheduler_take(&s)); /* unasked, one too many */
    CHECK_EQ(scheduler_end(&s), SCHEDULER_GOING);
    scheduler_ended(&s);
    scheduler_ended(&s);
    CHECK_EQ(scheduler_end(&s), SCHEDULER_COMPLETE);
    CHECK_EQ(s.started, 5);
}

TEST(manager_scheduler_waits_for_what_is_owed)
{
    struct scheduler s = {.concurrency = 2};

    ask(&s, 2);
    CHECK(scheduler_take(&s)); /* the other: NO later */
    scheduler_ended(&s);
    ask(&s, 1);
    CHECK_EQ(scheduler_end(&s), SCHEDULER_GOING);
    CHECK(scheduler_take(&s));
    CHECK(scheduler_take(&s));
    CHECK_EQ(s.live, 2);
    CHECK_EQ(s.owed, 0);
}

TEST(manager_scheduler_ends_when_exhausted_and_idle)
{
    struct scheduler s = {.concurrency = 4};

    ask(&s, 4);
    CHECK(scheduler_take(&s));
    scheduler_exhausted(&s, 3);
    CHECK_EQ(scheduler_wants(&s), 0);
    CHECK_EQ(scheduler_end(&s), SCHEDULER_GOING);
    scheduler_ended(&s);
    CHECK_EQ(scheduler_end(&s), SCHEDULER_EXHAUSTED);
    s = (struct scheduler){.concurrency = 1};
    ask(&s, 1);
    scheduler_exhausted(&s, UINT64_MAX); /* without a count: all of it */
    CHECK_EQ(s.owed, 0);
    CHECK_EQ(scheduler_end(&s), SCHEDULER_EXHAUSTED);
}

TEST(manager_scheduler_asks_again_after_a_refusal_when_a_trial_ends)
{
    struct scheduler s = {.concurrency = 2};

    ask(&s, 2);
    CHECK(scheduler_take(&s));
    scheduler_refused(&s, 1);
    CHECK_EQ(scheduler_wants(&s), 0);
    scheduler_ended(&s);
    ask(&s, 2);
}

/* With nothing left to wait for it is asked at once, but not for ever. */
TEST(manager_scheduler_gives_up_after_refusals_in_a_row)
{
    struct scheduler s = {.concurrency = 2};

    for (int i = 0; i < 2; i++) {
        ask(&s, 2);
        scheduler_refused(&s, 1);
        CHECK_EQ(scheduler_wants(&s), 0);
        scheduler_refused(&s, 1); /* of the same request */
        CHECK_EQ(scheduler_end(&s), SCHEDULER_GOING);
    }
    ask(&s, 2);
    CHECK(scheduler_take(&s)); /* a trial: it counts anew */
    scheduler_refused(&s, 1);
    scheduler_ended(&s);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(scheduler_end(&s), SCHEDULER_GOING);
        ask(&s, 2);
        scheduler_refused(&s, 2);
    }
    CHECK_EQ(scheduler_wants(&s), 0);
    CHECK_EQ(scheduler_end(&s), SCHEDULER_REFUSED);
}

TEST(manager_scheduler_closed_takes_nothing)
{
    struct scheduler s = {.concurrency = 2};

    ask(&s, 2);
    CHECK(scheduler_take(&s));
    scheduler_close(&s);
    CHECK(!scheduler_take(&s));
    CHECK_EQ(scheduler_wants(&s), 0);
    CHECK_EQ(scheduler_end(&s), SCHEDULER_GOING);
    scheduler_ended(&s);
    CHECK_EQ(scheduler_end(&s), SCHEDULER_CLOSED);
}

/* Whatever the dispatcher answers: never more than allowed at once or in all,
 * and never silent while something could run. */
TEST(manager_scheduler_property)
{
    uint32_t random = 12345;

    for (int round = 0; round < 2000; round++) {
        struct scheduler s = {.concurrency = 1 + (unsigned)round % 7,
                              .max_trials = 1 + (unsigned)round % 23};

        for (int step = 0; step < 400; step++) {
            uint64_t n = scheduler_wants(&s);

            random = random * 1664525 + 1013904223;
            scheduler_asked(&s, n);
            CHECK(s.live + s.owed <= s.concurrency);
            CHECK(s.started + s.owed <= s.max_trials);
            if (scheduler_end(&s) == SCHEDULER_COMPLETE)
                break;
            CHECK(s.live + s.owed > 0 || s.refused);
            if (s.owed > 0 && random >> 31)
                CHECK(scheduler_take(&s));
            else if (s.live > 0)
                scheduler_ended(&s);
            else if (s.owed > 0 && random >> 30 & 1)
                CHECK(scheduler_take(&s));
        }
        CHECK_EQ(s.started, s.max_trials);
    }
}

TEST(manager_scheduler_goes_on_where_another_stopped)
{
    struct scheduler s = {.concurrency = 4, .max_trials = 10};

    for (int i = 0; i < 5; i++)
        scheduler_restored(&s, i >= 3); /* two of them live */
    scheduler_owes(&s, 1);
    CHECK_EQ(scheduler_wants(&s), 1);
    scheduler_repeated(&s); /* one of the living, sent twice */
    CHECK_EQ(scheduler_wants(&s), 2);
    scheduler_asked(&s, 2);
    CHECK(scheduler_take(&s));
    scheduler_owes(&s, 0); /* it forgets what it had asked for */
    CHECK_EQ(scheduler_wants(&s), 1);
    scheduler_repeated(&s); /* that nobody owes */
    CHECK_EQ(scheduler_wants(&s), 1);
}

TEST(scheduler_knows_how_many_there_may_be_at_a_time)
{
    struct scheduler s = {.concurrency = 3, .max_trials = 5};

    CHECK_EQ(scheduler_most(&s), 3);
    scheduler_asked(&s, 3);
    for (int i = 0; i < 3; i++)
        scheduler_take(&s);
    scheduler_ended(&s);
    CHECK_EQ(scheduler_most(&s), 3); /* two, and one of the two that come */
    scheduler_take(&s);
    scheduler_take(&s);
    CHECK_EQ(scheduler_most(&s), 4);
    scheduler_ended(&s);
    scheduler_ended(&s);
    CHECK_EQ(scheduler_most(&s), 2);
    s.max_trials = 0;
    CHECK_EQ(scheduler_most(&s), 3);
    scheduler_exhausted(&s, 0);
    CHECK_EQ(scheduler_most(&s), 2);
    s.max_trials = 9;
    s.exhausted = false;
    scheduler_close(&s);
    CHECK_EQ(scheduler_most(&s), 2);
}
