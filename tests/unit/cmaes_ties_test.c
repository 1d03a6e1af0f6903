/* SPDX-License-Identifier: MIT */
/* Results that are equal, infinite or never there. */
#include "unit/cmaes_help.h"

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
