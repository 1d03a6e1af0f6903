/* SPDX-License-Identifier: MIT */
#include "dispatcher/histories.h"

#include "dispatcher_help.h"

TEST(histories_close_gaps)
{
    struct histories *hs = histories_new();
    struct history *h = histories_get(hs, "A");

    CHECK_EQ(history_enter(h, 0, 10), 1);
    CHECK_EQ(history_enter(h, 2, 12), 0);
    CHECK_EQ(history_enter(h, 4, 14), 0);
    CHECK_EQ(history_enter(h, 3, 13), 0);
    CHECK_EQ(h->n, 1);
    CHECK_EQ(history_enter(h, 1, 11), 1);
    CHECK_EQ(h->n, 5);
    CHECK_EQ(h->n_early, 0);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(h->values[i], 10 + i);
    CHECK_EQ(history_enter(h, 2, 99), 0); /* was there */
    CHECK_EQ(h->values[2], 12);
    histories_free(hs);
    histories_free(NULL);
}

TEST(histories_are_numbered_in_the_order_of_first_metrics)
{
    struct histories *hs = histories_new();
    struct history *removed;

    CHECK_EQ(histories_get(hs, "B")->trial, 0);
    CHECK_EQ(histories_get(hs, "A")->trial, 1);
    CHECK_EQ(histories_get(hs, "B")->trial, 0);
    CHECK(histories_find(hs, "C") == NULL);
    removed = histories_remove(hs, "B");
    CHECK_EQ(removed->trial, 0);
    history_free(removed);
    CHECK(histories_find(hs, "B") == NULL);
    CHECK(histories_remove(hs, "B") == NULL);
    CHECK_EQ(histories_get(hs, "B")->trial, 2);
    history_free(NULL);
    histories_free(hs);
}

TEST(histories_restart_forgets_values_but_not_the_stop)
{
    struct histories *hs = histories_new();
    struct history *h = histories_get(hs, "A");
    int mine;

    history_enter(h, 0, 1);
    history_enter(h, 5, 1);
    h->stopped = true;
    h->slot = &mine;
    history_restart(h, 3);
    CHECK_EQ(h->attempt, 3);
    CHECK_EQ(h->n, 0);
    CHECK_EQ(h->n_early, 0);
    CHECK(h->slot == NULL);
    CHECK(h->stopped); /* KI is sent once for each trial */
    CHECK_EQ(history_enter(h, 0, 2), 1);
    histories_free(hs);
}

/* A random order, each sequence once, against an array with holes. */
TEST(histories_agree_with_an_array)
{
    enum { N = 3000 };
    static uint64_t order[N];
    static bool have[N + 1];
    uint64_t state = 7;

    for (int round = 0; round < 20; round++) {
        struct histories *hs = histories_new();
        struct history *h = histories_get(hs, "A");
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
            CHECK_EQ(history_enter(h, order[i], (double)order[i]), n > before);
            CHECK_EQ(h->n, n);
            CHECK_EQ(h->n_early, (size_t)i + 1 - n);
        }
        for (size_t i = 0; i < N; i++)
            CHECK_EQ(h->values[i], i);
        histories_free(hs);
    }
}
