/* SPDX-License-Identifier: MIT */
/* Results that are equal, infinite or never there. */
#include "unit/cmaes_help.h"

NOT_UNDER_TSAN;

#define HUNT_TEN                                                        \
    "{'a': " HUNT_U ", 'b': " HUNT_U ", 'c': " HUNT_U ", 'd': " HUNT_U  \
    ", 'e': " HUNT_U ", 'f': " HUNT_U ", 'g': " HUNT_U ", 'h': " HUNT_U \
    ", 'i': " HUNT_U ", 'j': " HUNT_U "}"

/* On a plain with a hole the one that is worse weighs more than the nine that
 * are equal: the distribution is not thrown away for that. */
TEST(cmaes_learns_from_a_single_failure_among_equals)
{
    struct hunt h;
    double x[X_MAX], before, after;

    hunt_open(&h, HUNT_TEN, hunt_options(false));
    CHECK_EQ(cmaes_story(h.search).population, 10);
    before = cmaes_story(h.search).sigma;
    for (int i = 0; i < 10; i++) {
        uint64_t id = hunt_ask(&h, x);

        if (i == 4)
            CHECK_EQ(cmaes_lost(h.search, id, true), 0);
        else
            hunt_tell(&h, id, x, 1);
    }
    after = cmaes_story(h.search).sigma;
    CHECK_EQ(cmaes_story(h.search).generation, 1);
    CHECK(after > before / 1.5 && after < before * 1.5);
    hunt_close(&h);
}

/* An infinite loss is a trial that went wrong, of either sign. */
TEST(cmaes_takes_infinite_results_for_failures)
{
    struct hunt h;
    double x[X_MAX];
    int failed = 0;

    for (int surrogate = 0; surrogate < 2; surrogate++) {
        hunt_open(&h, HUNT_TEN, hunt_options(surrogate));
        for (int i = 0; i < 200; i++) {
            uint64_t id = hunt_ask(&h, x);
            bool fails = x[0] > 0;

            hunt_tell(&h, id, x, fails ? -(double)INFINITY : x[1] * x[1]);
            failed += fails && i >= 150;
        }
        CHECK(failed < 25); /* of 50 */
        failed = 0;
        hunt_close(&h);
    }
}

/* Not tried twice, but drawn again a failure says again that it is one. */
TEST(cmaes_counts_a_failure_that_is_drawn_again)
{
    struct cmaes_story s;
    struct hunt h;
    double x[X_MAX];

    hunt_open(&h,
              "{'a': {'_type': 'choice', '_value': [0, 1]},"
              " 'b': {'_type': 'choice', '_value': [0, 1, 2]}}",
              hunt_options(false));
    for (int i = 0; i < 6; i++)
        CHECK_EQ(cmaes_lost(h.search, hunt_ask(&h, x), true), 0);
    s = cmaes_story(h.search);
    CHECK(s.generation * s.population + s.arrived > 6);
    hunt_close(&h);
}
