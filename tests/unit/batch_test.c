/* SPDX-License-Identifier: MIT */
#include "batch/batch.h"

#include "t.h"

#include <string.h>

static void
list(struct batch *b, const char *letters)
{
    struct batch_key keys[32];
    size_t n = strlen(letters);

    for (size_t i = 0; i < n; i++)
        keys[i] = (struct batch_key){{7, (uint64_t)letters[i]}};
    CHECK_EQ(batch_list(b, keys, n), 0);
}

static void
strike(struct batch *b, char letter)
{
    CHECK_EQ(batch_strike(b, (struct batch_key){{7, (uint64_t)letter}}), 0);
}

/* The next is element `want`; -1: there is none. */
static void
check_next(struct batch *b, int want)
{
    size_t got = 99;
    int rc = batch_next(b, &got);

    CHECK_EQ(rc, want >= 0);
    if (want >= 0)
        CHECK_EQ(got, want);
}

TEST(batch_gives_each_element_in_order)
{
    struct batch *b = batch_new();

    check_next(b, -1);
    list(b, "cab");
    for (int i = 0; i < 3; i++)
        check_next(b, i);
    check_next(b, -1);
    check_next(b, -1);
    batch_free(b);
}

TEST(batch_strikes_out_the_first_equal_one_that_is_left)
{
    struct batch *b = batch_new();

    list(b, "abacab");
    check_next(b, 0); /* a */
    strike(b, 'a');   /* 2 */
    strike(b, 'c');
    strike(b, 'c'); /* none is left */
    strike(b, 'z'); /* never was */
    check_next(b, 1);
    strike(b, 'b'); /* 5 */
    check_next(b, 4);
    check_next(b, -1);
    batch_free(b);
}

TEST(batch_goes_on_with_a_new_list)
{
    struct batch *b = batch_new();

    list(b, "aab");
    check_next(b, 0);
    strike(b, 'b');
    list(b, "xaabb"); /* one a and one b are done */
    check_next(b, 0);
    check_next(b, 2);
    check_next(b, 4);
    check_next(b, -1);
    list(b, "x");
    check_next(b, -1);
    batch_free(b);
}
