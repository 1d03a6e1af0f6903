/* SPDX-License-Identifier: MIT */
#include "dispatcher/owed.h"

#include "dispatcher_help.h"

TEST(owed_is_first_in_first_out)
{
    struct owed o = {0};

    CHECK_EQ(owed_add(&o, 7, 2), 0);
    CHECK_EQ(owed_add(&o, 20, 1), 0);
    CHECK_EQ(owed_add(&o, 5, 0), 0);
    CHECK_EQ(o.total, 3);
    CHECK_EQ(owed_first(&o), 7);
    owed_pop(&o);
    CHECK_EQ(owed_first(&o), 8);
    owed_pop(&o);
    CHECK_EQ(owed_first(&o), 20);
    owed_pop(&o);
    CHECK_EQ(o.total, 0);
    owed_fini(&o);
}

TEST(owed_runs_that_touch_are_one)
{
    struct owed o = {0};

    for (uint64_t i = 0; i < 1000; i++)
        CHECK_EQ(owed_add(&o, i * 3, 3), 0);
    CHECK_EQ(o.n_runs, 1);
    CHECK_EQ(o.total, 3000);
    owed_fini(&o);
}

TEST(owed_knows_what_it_holds)
{
    struct owed o = {0};

    owed_add(&o, 4, 2);
    owed_add(&o, UINT64_MAX - 1, 1);
    CHECK(!owed_has(&o, 3) && owed_has(&o, 4) && owed_has(&o, 5));
    CHECK(!owed_has(&o, 6) && !owed_has(&o, UINT64_MAX));
    CHECK(owed_has(&o, UINT64_MAX - 1));
    owed_clear(&o);
    CHECK(!owed_has(&o, 4));
    CHECK_EQ(o.total, 0);
    owed_fini(&o);
}

/* Against a plain array of ids. */
TEST(owed_agrees_with_a_list)
{
    static uint64_t list[100000];
    struct owed o = {0};
    uint64_t state = 1, next = 0;
    size_t head = 0, tail = 0;

    for (int i = 0; i < 20000; i++) {
        if (help_below(&state, 5) < 2) {
            uint64_t n = help_below(&state, 5);

            next += help_below(&state, 2); /* a gap now and then */
            CHECK_EQ(owed_add(&o, next, n), 0);
            for (uint64_t k = 0; k < n; k++)
                list[tail++] = next++;
        } else if (head < tail) {
            CHECK(owed_has(&o, list[tail - 1]));
            CHECK_EQ(owed_first(&o), list[head++]);
            owed_pop(&o);
        }
        if (help_below(&state, 500) == 0) {
            owed_clear(&o);
            head = tail;
        }
        CHECK_EQ(o.total, tail - head);
        CHECK(!owed_has(&o, next));
    }
    owed_fini(&o);
}
