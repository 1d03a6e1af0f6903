/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/idset.h"
#include "core/map.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(map_finds_what_was_put_and_not_what_was_removed)
{
    static int values[5000];
    struct map m = {0};
    char key[16];
    size_t at = 0, walked = 0;

    CHECK(map_get(&m, "x", 1) == NULL);
    CHECK(map_remove(&m, "x", 1) == NULL);
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "job%d", i);
        CHECK_EQ(map_put(&m, key, strlen(key), &values[i]), 0);
    }
    for (int i = 0; i < 5000; i += 3) {
        snprintf(key, sizeof key, "job%d", i);
        CHECK(map_remove(&m, key, strlen(key)) == &values[i]);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "job%d", i);
        CHECK(map_get(&m, key, strlen(key)) ==
              (i % 3 == 0 ? NULL : &values[i]));
    }
    while (map_next(&m, &at) != NULL)
        walked++;
    CHECK_EQ(walked, m.count);
    map_fini(&m);
}

TEST(map_replaces_and_takes_any_bytes)
{
    struct map m = {0};
    int a, b;
    uint64_t id = 7;

    CHECK_EQ(map_put(&m, "", 0, &a), 0);
    CHECK_EQ(map_put(&m, "", 0, &b), 0);
    CHECK_EQ(map_put(&m, &id, sizeof id, &a), 0);
    CHECK_EQ(m.count, 2);
    CHECK(map_get(&m, "", 0) == &b);
    CHECK(map_get(&m, &id, sizeof id) == &a);
    map_fini(&m);
}

TEST(map_by_number_sorts_the_values_by_a_member)
{
    struct {
        char before[8];
        uint64_t number;
    } values[300], **sorted;
    struct map m = {0};
    size_t n = 7;

    sorted = map_by_number(&m, sizeof values->before, &n);
    CHECK(sorted != NULL);
    CHECK_EQ(n, 0);
    free(sorted);
    for (uint64_t i = 0; i < 300; i++) {
        values[i].number = (i * 7919 % 300) << 40;
        CHECK_EQ(map_put(&m, &i, sizeof i, &values[i]), 0);
    }
    sorted = map_by_number(&m, sizeof values->before, &n);
    CHECK_EQ(n, 300);
    for (uint64_t i = 0; i < n; i++)
        CHECK_EQ(sorted[i]->number, i << 40);
    free(sorted);
    map_fini(&m);
}

TEST(idset_holds_exactly_what_was_added)
{
    struct idset s = {0};

    CHECK(!idset_has(&s, 0));
    for (uint64_t i = 0; i < 10000; i += 7)
        CHECK_EQ(idset_add(&s, i), 0);
    for (uint64_t i = 0; i < 20000; i++)
        CHECK_EQ(idset_has(&s, i), i < 10000 && i % 7 == 0);
    idset_fini(&s);
}
