/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "manager/deadlines.h"

#include <stddef.h>
#include <stdlib.h>

#define N 500

struct told {
    int64_t last;
    size_t n;
};

static void
note(void *ctx, void *of)
{
    int64_t *at = of;
    struct told *told = ctx;

    CHECK(*at >= told->last);
    told->last = *at;
    told->n++;
}

TEST(manager_deadlines_come_in_their_order_whatever_was_moved)
{
    struct deadline one[N] = {0};
    struct deadlines d = {0};
    int64_t at[N];
    struct told told = {0};
    size_t kept = 0;

    srandom(7);
    for (size_t i = 0; i < N; i++) {
        one[i] = (struct deadline){.due = note, .of = &at[i]};
        at[i] = random() % 1000;
        CHECK_EQ(deadlines_set(&d, &one[i], at[i]), 0);
    }
    for (size_t i = 0; i < N; i += 2) { /* sooner, or later */
        at[i] = random() % 1000;
        CHECK_EQ(deadlines_set(&d, &one[i], at[i]), 0);
    }
    for (size_t i = 0; i < N; i += 3)
        deadlines_drop(&d, &one[i]);
    for (size_t i = 0; i < N; i++)
        kept += i % 3 != 0;
    CHECK_EQ(d.n, kept);
    deadlines_run(&d, 499, &told);
    CHECK(told.last <= 499);
    CHECK(deadlines_nearest(&d) > 499);
    deadlines_run(&d, 1000, &told);
    CHECK_EQ(told.n, kept);
    CHECK_EQ(deadlines_nearest(&d), INT64_MAX);
    deadlines_fini(&d);
}

struct repeat {
    struct deadlines d;
    struct deadline one;
    int times;
};

static void
set_again(void *ctx, void *of)
{
    struct repeat *a = of;

    CHECK(ctx == a);
    CHECK_EQ(a->one.place, 0); /* it is out before it is called */
    if (++a->times < 3)
        CHECK_EQ(deadlines_set(&a->d, &a->one, 10 * a->times), 0);
}

TEST(manager_deadlines_that_are_set_by_one_that_was_due)
{
    struct repeat a = {.one = {.due = set_again, .of = &a}};

    CHECK_EQ(deadlines_set(&a.d, &a.one, 5), 0);
    deadlines_run(&a.d, 4, &a);
    CHECK_EQ(a.times, 0);
    deadlines_run(&a.d, 10, &a); /* 5, and 10, which is due as well */
    CHECK_EQ(a.times, 2);
    CHECK_EQ(deadlines_nearest(&a.d), 20);
    CHECK_EQ(deadlines_set(&a.d, &a.one, INT64_MAX), 0); /* taken out */
    CHECK_EQ(a.d.n, 0);
    deadlines_drop(&a.d, &a.one); /* once more, without effect */
    deadlines_run(&a.d, INT64_MAX - 1, &a);
    CHECK_EQ(a.times, 2);
    deadlines_fini(&a.d);
}
