/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "manager/live.h"

#include <inttypes.h>
#include <stdio.h>

static void
note(struct live *l, uint64_t number, uint64_t id)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, id);
    live_note(l, number, text);
}

static uint64_t
find(const struct live *l, const char *id)
{
    uint64_t number;

    return live_knows_id(l, id, &number) ? number : UINT64_MAX;
}

TEST(manager_live_keeps_ids_that_follow_each_other_as_one)
{
    struct live l = {0};

    for (uint64_t i = 0; i < 1000; i++) /* 1, 0, 3, 2, ...: as trials end */
        note(&l, i ^ 1, i ^ 1);
    CHECK_EQ(l.n_ids, 1);
    CHECK_EQ(l.n_numbers, 1000);
    CHECK_EQ(live_last_id(&l), 999);
    note(&l, 1000, 5000); /* the user's */
    note(&l, 1001, 5001);
    live_note(&l, 1002, "\"label\"");
    CHECK_EQ(l.n_ids, 2);
    CHECK_EQ(live_last_id(&l), 5001);
    CHECK_EQ(find(&l, "0"), 0);
    CHECK_EQ(find(&l, "999"), 999);
    CHECK_EQ(find(&l, "1000"), UINT64_MAX);
    CHECK_EQ(find(&l, "5001"), 1001);
    CHECK_EQ(find(&l, "5002"), UINT64_MAX);
    CHECK_EQ(find(&l, "\"label\""), 1002);
    CHECK_EQ(find(&l, "\"other\""), UINT64_MAX);
    live_fini(&l);
}
