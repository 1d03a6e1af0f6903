/* SPDX-License-Identifier: MIT */
#include "dispatcher/series.h"

#include "dispatcher_help.h"

TEST(histories_close_gaps)
{
    struct series_map *hs = series_map_new();
    struct series *h = series_get(hs, "A");

    CHECK_EQ(series_enter(h, 0, 10), 1);
    CHECK_EQ(series_enter(h, 2, 12), 0);
    CHECK_EQ(series_enter(h, 4, 14), 0);
    CHECK_EQ(series_enter(h, 3, 13), 0);
    CHECK_EQ(h->n, 1);
    CHECK_EQ(series_enter(h, 1, 11), 1);
    CHECK_EQ(h->n, 5);
    CHECK_EQ(h->n_early, 0);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(h->values[i], 10 + i);
    CHECK_EQ(series_enter(h, 2, 99), 0); /* was there */
    CHECK_EQ(h->values[2], 12);
    series_map_free(hs);
    series_map_free(NULL);
}

TEST(histories_are_numbered_in_the_order_of_first_metrics)
{
    struct series_map *hs = series_map_new();
    struct series *removed;

    CHECK_EQ(series_get(hs, "B")->trial, 0);
    CHECK_EQ(series_get(hs, "A")->trial, 1);
    CHECK_EQ(series_get(hs, "B")->trial, 0);
    CHECK(series_find(hs, "C") == NULL);
    removed = series_remove(hs, "B");
    CHECK_EQ(removed->trial, 0);
    series_free(removed);
    CHECK(series_find(hs, "B") == NULL);
    CHECK(series_remove(hs, "B") == NULL);
    CHECK_EQ(series_get(hs, "B")->trial, 2);
    series_free(NULL);
    series_map_free(hs);
}

TEST(histories_restart_forgets_values_but_not_the_stop)
{
    struct series_map *hs = series_map_new();
    struct series *h = series_get(hs, "A");
    int mine;

    series_enter(h, 0, 1);
    series_enter(h, 5, 1);
    h->stopped = true;
    h->slot = &mine;
    series_restart(h, 3);
    CHECK_EQ(h->attempt, 3);
    CHECK_EQ(h->n, 0);
    CHECK_EQ(h->n_early, 0);
    CHECK(h->slot == NULL);
    CHECK(h->stopped); /* KI is sent once for each trial */
    CHECK_EQ(series_enter(h, 0, 2), 1);
    series_map_free(hs);
}

/* A random order, each sequence once, against an array with holes. */
TEST(histories_agree_with_an_array)
{
    enum { N = 3000 };
    static uint64_t order[N];
    static bool have[N + 1];
    uint64_t state = 7;

    for (int round = 0; round < 20; round++) {
        struct series_map *hs = series_map_new();
        struct series *h = series_get(hs, "A");
        size_t n = 0, reach = 1 + help_below(&state, 50);

        memset(have, 0, sizeof have);
        for (uint64_t i = 0; i < N; i++)
            order[i] = i;
        for (uint64_t i = 0; i < N; i++) { /* shuffled, not too far */
            uint64_t j = i + help_below(&state, reach), kept = order[i];

            j = j < N ? j : N - 1;
            order[i] = order[j];
            order[j] = kept;
        }
        for (int i = 0; i < N; i++) {
            size_t before = n;

            have[order[i]] = true;
            while (have[n])
                n++;
            CHECK_EQ(series_enter(h, order[i], (double)order[i]), n > before);
            CHECK_EQ(h->n, n);
            CHECK_EQ(h->n_early, (size_t)i + 1 - n);
        }
        for (size_t i = 0; i < N; i++)
            CHECK_EQ(h->values[i], i);
        series_map_free(hs);
    }
}
