/* SPDX-License-Identifier: MIT */
#include "dispatcher/trials.h"

#include "dispatcher_help.h"

static struct parameter_id
number(uint64_t id)
{
    return (struct parameter_id){.kind = PARAMETER_NUMBER, .number = id};
}

static struct trial *
add(struct trials *t, uint64_t id)
{
    double x[2] = {(double)id, -1};

    return trials_add(t, id, NULL, x, 2);
}

static struct trial *
find(struct trials *t, uint64_t id)
{
    struct parameter_id p = number(id);

    return trials_find(t, &p);
}

static bool
finished(struct trials *t, uint64_t id)
{
    struct parameter_id p = number(id);

    return trials_finished(t, &p);
}

TEST(trials_keep_the_very_point)
{
    struct trials *t = trials_new();
    double y[1] = {0.5};
    struct trial *trial = add(t, 3);

    CHECK(find(t, 3) == trial);
    CHECK(trial->n_dims == 2 && trial->x[0] == 3 && trial->x[1] == -1);
    CHECK_EQ(trial_move(trial, y, 1), 0);
    CHECK(trial->n_dims == 1 && trial->x[0] == 0.5);
    CHECK_EQ(trial_move(trial, y, 0), 0);
    CHECK(find(t, 2) == NULL);
    CHECK(add(t, 3) == NULL); /* taken */
    CHECK_EQ(trials_out(t), 1);
    trials_free(t);
    trials_free(NULL);
}

TEST(trials_are_found_by_label_and_by_id)
{
    struct trials *t = trials_new();
    char text[] = "0-1";
    struct parameter_id label = {.kind = PARAMETER_LABEL, .label = text};
    struct parameter_id none = {.kind = PARAMETER_NONE};
    double x = 1;
    struct trial *trial = trials_add(t, 8, "0-1", &x, 1);

    CHECK(trials_find(t, &label) == trial);
    CHECK(find(t, 8) == trial);
    CHECK(trials_find(t, &none) == NULL);
    CHECK(trials_add(t, 9, "0-1", &x, 1) == NULL);
    CHECK(find(t, 9) == NULL);
    trial->result_told = trial->ended = true;
    trials_settle(t, trial);
    CHECK(trials_find(t, &label) == NULL);
    CHECK(trials_add(t, 9, "0-1", &x, 1) != NULL);
    trials_free(t);
}

TEST(trials_sorted_are_in_the_order_of_ids)
{
    struct trials *t = trials_new();
    struct trial **all;
    size_t n;

    all = trials_sorted(t, &n);
    CHECK(all != NULL && n == 0);
    free(all);
    for (uint64_t i = 0; i < 500; i++)
        add(t, i * 7919 % 500 + (i % 2) * 100000000);
    all = trials_sorted(t, &n);
    CHECK(n > 0);
    for (size_t i = 1; i < n; i++)
        CHECK(all[i - 1]->id < all[i]->id);
    free(all);
    trials_free(t);
}

/* Of those that ended without a result the newest are kept. */
TEST(trials_without_a_result_are_bounded)
{
    struct trials *t = trials_new();

    for (uint64_t id = 0; id < RESULTLESS_MAX + 10; id++) {
        struct trial *trial = add(t, id);

        trial->ended = true;
        trials_settle(t, trial);
    }
    CHECK_EQ(trials_out(t), 0);
    for (uint64_t id = 0; id < 10; id++)
        CHECK(find(t, id) == NULL && finished(t, id));
    for (uint64_t id = 10; id < RESULTLESS_MAX + 10; id++)
        CHECK(find(t, id) != NULL && !finished(t, id));
    trials_free(t);
}

/* Random lives against three flags for each id. */
TEST(trials_agree_with_a_table_of_flags)
{
    enum { N = 4000 };
    static bool out[N], told[N], ended[N];
    struct trials *t = trials_new();
    uint64_t state = 11, next = 0;

    for (int i = 0; i < 200000; i++) {
        uint64_t back = help_below(&state, 30);
        uint64_t id = back <= next ? next - back : 0;
        struct trial *trial;
        size_t n_out = 0;

        if (id == next && next == N)
            continue;
        if (id == next) {
            CHECK(add(t, next) != NULL);
            out[next++] = true;
            continue;
        }
        trial = find(t, id);
        CHECK_EQ(trial != NULL, out[id] && !(told[id] && ended[id]));
        CHECK_EQ(finished(t, id), told[id] && ended[id]);
        if (trial == NULL)
            continue;
        CHECK_EQ(trial->result_told, told[id]);
        CHECK_EQ(trial->ended, ended[id]);
        CHECK_EQ(trial->x[0], id);
        if (help_below(&state, 2) == 0)
            trial->result_told = told[id] = true;
        else
            trial->ended = ended[id] = true;
        trials_settle(t, trial);
        if (i % 1000 != 0)
            continue;
        for (uint64_t k = 0; k < next; k++)
            n_out += !ended[k];
        CHECK_EQ(trials_out(t), n_out);
    }
    CHECK_EQ(next, N);
    trials_free(t);
}
