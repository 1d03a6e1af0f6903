/* SPDX-License-Identifier: MIT */
/* The tuner asha's algorithm: its brackets, and how it comes to an end. */
#include "unit/asha_help.h"

NOT_UNDER_TSAN;

/* Hyperband's numbers for R = 81: 81, 34, 15, 8 and 5 configurations. */
TEST(asha_shares_configurations_out_among_brackets)
{
    static const uint64_t expected[] = {81, 34, 15, 8, 5};
    struct asha_options o = {1, 81, 3, 5, false, 0};
    uint64_t times[5] = {0};
    struct world w;

    world_init(&w, &o, 1);
    for (uint64_t id = 0; id < 143; id++) {
        CHECK_EQ(world_ask(&w, id), ASHA_NEW);
        times[w.s.bracket]++;
        CHECK_EQ(w.s.rung, 0);
    }
    for (size_t s = 0; s < 5; s++) {
        CHECK_EQ(times[s], expected[s]);
        CHECK_EQ(asha_level(w.a, s, 0), w.a->levels[s]);
    }
    world_fini(&w);
}

TEST(asha_with_enough_configurations_closes_its_rungs)
{
    struct asha_options o = {1, 4, 2, 1, true, 4};
    struct world w;
    uint64_t id;

    world_init(&w, &o, 1);
    for (id = 0; id < 4; id++)
        CHECK_EQ(world_ask(&w, id), ASHA_NEW);
    CHECK_EQ(world_ask(&w, id), ASHA_LATER);
    for (uint64_t i = 0; i < 4; i++) {
        world_report(&w, i, 1, (double)i);
        CHECK_EQ(asha_ended(w.a, i, true), 0);
        CHECK_EQ(w.a->n_released, i < 3 ? 0 : 2); /* 2 and 3 */
    }
    CHECK(world_is_released(&w, 2) && world_is_released(&w, 3));
    CHECK_EQ(world_ask(&w, 4), ASHA_PROMOTED);
    CHECK_EQ(world_ask(&w, 5), ASHA_PROMOTED);
    CHECK_EQ(w.s.from, 1);
    CHECK_EQ(world_ask(&w, 6), ASHA_LATER);
    asha_ended(w.a, 4, false); /* the better one fails */
    CHECK_EQ(world_ask(&w, 6), ASHA_LATER);
    world_report(&w, 5, 2, 1);
    asha_ended(w.a, 5, true); /* and the other alone is not in a half */
    CHECK(world_is_released(&w, 5));
    CHECK_EQ(world_ask(&w, 6), ASHA_DONE);
    CHECK_EQ(w.a->n_pool, 4);
    world_fini(&w);
}

TEST(asha_stopping_ends_with_its_configurations)
{
    struct asha_options o = {1, 4, 2, 1, false, 2};
    struct world w;

    world_init(&w, &o, 1);
    CHECK_EQ(world_ask(&w, 0), ASHA_NEW);
    CHECK_EQ(world_ask(&w, 1), ASHA_NEW);
    CHECK_EQ(world_ask(&w, 2), ASHA_DONE);
    world_fini(&w);
}

TEST(asha_begins_anew_in_another_space)
{
    struct asha_options o = {1, 9, 3, 2, true, 0};
    struct world w;

    world_init(&w, &o, 1);
    for (uint64_t id = 0; id < 20; id++)
        world_run(&w, id, (double)id);
    world_ask(&w, 20);
    asha_ended(w.a, 20, false);
    CHECK_EQ(asha_space(w.a, 2), 0);
    CHECK_EQ(w.a->begun, 0);
    CHECK_EQ(asha_rung(w.a, 0, 0)->n, 0);
    CHECK(w.a->n_released > 0);
    while (w.a->n_released > 0)
        CHECK(world_is_released(&w, w.a->released[0]));
    CHECK_EQ(world_ask(&w, 21), ASHA_NEW);
    world_fini(&w);
}
