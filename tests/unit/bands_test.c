/* SPDX-License-Identifier: MIT */
#include "bands/bands.h"

#include "unit/bands_help.h"

#include <math.h>

NOT_UNDER_TSAN;

static void
expect(struct bands_world *w, const char *label)
{
    char text[96];

    CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    bands_world_label(w, w->n_trials - 1, text);
    CHECK_STR(text, label);
}

/* What NNI 2.7's dispatcher said: R 3, eta 3, serial, maximize.  The failed
 * trial goes on, on its intermediate value. */
TEST(bands_are_those_of_the_recorded_dialogue)
{
    struct bands_world *w = bands_world_new(3, 3, BANDS_BEGUN, 0);

    expect(w, "0-1_0_0 1");
    expect(w, "0-1_0_1 1");
    expect(w, "0-1_0_2 1");
    CHECK_EQ(bands_world_ask(w), BANDS_LATER);
    bands_world_final(w, 0, 1);
    bands_world_metric(w, 1, 3, 0, true);
    bands_world_final(w, 2, 2);
    bands_world_end(w, 0);
    CHECK_EQ(bands_world_ask(w), BANDS_LATER);
    bands_world_end(w, 1);
    CHECK_EQ(bands_world_ask(w), BANDS_LATER);
    bands_world_end(w, 2);
    CHECK(w->trials[0].is_released && !w->trials[1].is_released);
    CHECK(!w->trials[2].is_released); /* with the next call */
    expect(w, "0-1_1_1 3");
    CHECK(w->trials[2].is_released);
    CHECK_EQ(w->trials[3].from, 1);
    expect(w, "0-0_0_3 3");
    expect(w, "0-0_0_4 3");
    CHECK_EQ(bands_world_ask(w), BANDS_JOB); /* s 0 is in its last round */
    CHECK_EQ(w->trials[6].hyperband, 1);
    bands_world_free(w);
}

/* Of nine trials three that none dominates, of which the first is beyond a
 * limit, and one that reports no costs. */
TEST(bands_promote_by_front_where_there_are_several_costs)
{
    static const double costs[9][2] = {{0, 0}, {5, 5}, {1, 4}, {2, 5}, {4, 1},
                                       {5, 2}, {2, 2}, {9, 9}, {0, 9}};
    struct bands_world *w = bands_world_new(9, 3, BANDS_BEGUN, 0);
    uint64_t from = 0;

    w->b->n_costs = 2;
    CHECK_EQ(bands_space(w->b, 1), 0);
    for (int i = 0; i < 9; i++)
        CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    for (uint64_t i = 0; i < 9; i++) {
        bands_lend(w->b, i == 8 ? NULL : costs[i], i == 0 ? 0.5 : 0);
        bands_world_final(w, i, 1);
        bands_world_end(w, i);
    }
    for (int i = 9; i < 12; i++) {
        CHECK_EQ(bands_world_ask(w), BANDS_JOB);
        CHECK_EQ(w->trials[i].round, 1);
        from |= (uint64_t)1 << w->trials[i].from;
    }
    CHECK_EQ(from, 1 << 2 | 1 << 4 | 1 << 6);
    bands_world_free(w);
}

/* The better one has the larger x, but only from step 3 on. */
static double
late(double x, uint64_t step)
{
    return step < 3 ? -x : x;
}

static double
early(double x, uint64_t step)
{
    return x + (double)step / 100;
}

/* One bracket of 27 with budgets 1, 3, 9, 27. */
static void
check_survivors(double (*curve)(double, uint64_t), const uint64_t *last)
{
    struct bands_world *w = bands_world_new(27, 3, BANDS_PARALLEL, 1);
    static const uint64_t counts[] = {27, 9, 3, 1};
    uint64_t id = 0;

    for (unsigned round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < counts[round]; i++) {
            CHECK_EQ(bands_world_ask(w), BANDS_JOB);
            CHECK_EQ(w->trials[w->n_trials - 1].round, round);
        }
        CHECK_EQ(bands_world_ask(w), round == 3 ? BANDS_DONE : BANDS_LATER);
        if (round > 0)
            CHECK_EQ(w->trials[id].n, last[round - 1]);
        while (id < w->n_trials)
            bands_world_run(w, id++, curve);
    }
    CHECK_EQ(bands_world_ask(w), BANDS_DONE);
    CHECK_EQ(w->b->n_open, 0);
    CHECK_EQ(w->b->n_out, 0);
    for (uint64_t i = 0; i + 1 < w->n_trials; i++) {
        bool went_on = false;

        for (uint64_t j = 0; j < w->n_trials; j++)
            went_on = went_on || w->trials[j].from == i;
        CHECK(w->trials[i].is_released == !went_on);
    }
    bands_world_free(w);
}

TEST(bands_keep_the_right_survivors)
{
    static const uint64_t best[] = {26, 26, 26}, lasts[] = {0, 0, 2};

    check_survivors(early, best);
    /* Of 0 to 2, which look best for 3 steps, the largest comes through. */
    check_survivors(late, lasts);
}

/* The number of trials of each budget. */
TEST(bands_run_each_bracket_with_its_numbers)
{
    struct bands_world *w = bands_world_new(81, 3, BANDS_PARALLEL, 5);
    uint64_t n[82] = {0}, id = 0;
    int rc;

    while ((rc = bands_world_ask(w)) != BANDS_DONE)
        if (rc == BANDS_LATER || w->n_trials - id == 6) /* six at a time */
            bands_world_run(w, id++, early);
    for (uint64_t i = 0; i < w->n_trials; i++)
        n[w->trials[i].budget]++;
    CHECK_EQ(n[1], 81);
    CHECK_EQ(n[3], 27 + 34);
    CHECK_EQ(n[9], 9 + 11 + 15);
    CHECK_EQ(n[27], 3 + 3 + 5 + 8);
    CHECK_EQ(n[81], 1 + 1 + 1 + 2 + 5);
    CHECK_EQ(w->n_trials, 206);
    bands_world_free(w);
}

/* In order of time: what is ready first goes first. */
TEST(bands_in_parallel_fill_gaps_with_the_next_bracket)
{
    struct bands_world *w = bands_world_new(3, 3, BANDS_PARALLEL, 0);

    expect(w, "0-1_0_0 1");
    expect(w, "0-1_0_1 1");
    expect(w, "0-1_0_2 1");
    expect(w, "0-0_0_3 3");
    for (uint64_t id = 0; id < 3; id++)
        bands_world_run(w, id, early);
    expect(w, "0-0_0_4 3"); /* was ready before */
    expect(w, "0-1_1_2 3");
    expect(w, "1-1_0_5 1");
    bands_world_free(w);
}

TEST(bands_of_bohb_wait_for_the_end_of_the_last_round)
{
    struct bands_world *w = bands_world_new(3, 3, BANDS_FINISHED, 2);

    for (uint64_t id = 0; id < 3; id++)
        expect(w, id == 0 ? "0-1_0_0 1" : id == 1 ? "0-1_0_1 1" : "0-1_0_2 1");
    for (uint64_t id = 0; id < 3; id++)
        bands_world_run(w, id, early);
    expect(w, "0-1_1_2 3");
    CHECK_EQ(bands_world_ask(w), BANDS_LATER);
    bands_world_run(w, 3, early);
    expect(w, "0-0_0_3 3");
    expect(w, "0-0_0_4 3");
    CHECK_EQ(bands_world_ask(w), BANDS_DONE);
    bands_world_free(w);
}

/* Of nine only `n_alive` report anything. */
static void
check_deaths(uint64_t n_alive)
{
    struct bands_world *w = bands_world_new(9, 3, BANDS_FINISHED, 1);
    uint64_t n_next = n_alive < 3 ? n_alive : 3;

    for (uint64_t id = 0; id < 9; id++)
        CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    for (uint64_t id = 0; id < 9; id++) {
        if (id < n_alive)
            bands_world_final(w, id, (double)id);
        bands_world_end(w, id);
    }
    for (uint64_t i = 0; i < n_next; i++) {
        CHECK_EQ(bands_world_ask(w), BANDS_JOB);
        CHECK_EQ(w->trials[9 + i].n, n_alive - 1 - i);
        CHECK_EQ(w->trials[9 + i].round, 1);
    }
    CHECK_EQ(bands_world_ask(w), n_next > 0 ? BANDS_LATER : BANDS_DONE);
    for (uint64_t i = 0; i < n_next; i++)
        bands_world_end(w, 9 + i); /* all die in the second round */
    CHECK_EQ(bands_world_ask(w), BANDS_DONE);
    CHECK_EQ(w->b->n_open, 0);
    for (uint64_t i = 0; i < w->n_trials; i++)
        CHECK(w->trials[i].is_released ==
              (i >= 9 || i >= n_alive || i + 3 < n_alive));
    bands_world_free(w);
}

TEST(bands_go_on_with_whoever_is_left)
{
    for (uint64_t n_alive = 0; n_alive <= 9; n_alive++)
        check_deaths(n_alive);
}

TEST(bands_rank_by_the_last_value_and_ties_by_time)
{
    struct bands_world *w = bands_world_new(9, 3, BANDS_FINISHED, 1);

    for (uint64_t id = 0; id < 9; id++)
        CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    bands_world_metric(w, 5, 7, 0, true);
    bands_world_metric(w, 5, 99, 1, true); /* over its budget */
    bands_world_metric(w, 4, 7, 0, true);
    bands_world_final(w, 3, 1);
    bands_world_final(w, 3, 50);            /* a second one */
    bands_world_metric(w, 3, 60, 0, false); /* after the final one */
    bands_world_metric(w, 2, 100, 0, true);
    bands_world_final(w, 2, 0); /* beats any step */
    bands_world_final(w, 1, NAN);
    bands_world_final(w, 0, -INFINITY);
    for (uint64_t id = 0; id < 9; id++)
        bands_world_end(w, id);
    for (uint64_t id = 9; id < 12; id++)
        CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    CHECK_EQ(w->trials[9].n, 5);
    CHECK_EQ(w->trials[10].n, 4);
    CHECK_EQ(w->trials[11].n, 3);
    bands_world_free(w);
}

/* A value of an earlier step, of a trial that was started again. */
TEST(bands_keep_the_value_of_the_highest_step)
{
    struct bands_world *w = bands_world_new(9, 3, BANDS_BEGUN, 0);
    struct bands_job job;

    for (uint64_t id = 0; id < 9; id++)
        CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    for (uint64_t id = 0; id < 9; id++)
        bands_world_run(w, id, early);
    CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    bands_world_metric(w, 9, 5, 1, false);
    bands_world_metric(w, 9, 3, 0, false);
    CHECK(bands_find(w->b, 9, &job) && job.slot->value == 5);
    bands_world_metric(w, 9, 4, 1, false);
    CHECK(bands_find(w->b, 9, &job) && job.slot->value == 4);
    bands_world_metric(w, 9, 8, 7, true); /* steps were skipped */
    CHECK(bands_find(w->b, 9, &job) && job.slot->value == 8);
    bands_world_free(w);
}

TEST(bands_answer_again_for_the_same_id)
{
    struct bands_world *w = bands_world_new(3, 3, BANDS_BEGUN, 0);
    struct bands_job job;

    expect(w, "0-1_0_0 1");
    for (uint64_t k = 1; k < 4; k++) {
        CHECK_EQ(bands_ask(w->b, 0, &job), BANDS_JOB);
        CHECK_EQ(job.again, k);
        CHECK_EQ(job.slot->n, 0);
    }
    expect(w, "0-1_0_1 1");
    CHECK(bands_find(w->b, 1, &job) && job.again == 0);
    bands_world_free(w);
}

/* Numbers go on, brackets that were given up do not count, and what waited in
 * them is released. */
TEST(bands_begin_anew_in_a_new_space)
{
    struct bands_world *w = bands_world_new(9, 3, BANDS_FINISHED, 1);

    for (uint64_t id = 0; id < 9; id++)
        CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    for (uint64_t id = 0; id < 9; id++)
        bands_world_run(w, id, early);
    CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    CHECK_EQ(bands_world_ask(w), BANDS_JOB);
    bands_world_end(w, 9);
    bands_world_end(w, 10);
    CHECK_EQ(bands_space(w->b, 1), 0);
    expect(w, "0-1_0_9 3");
    for (uint64_t id = 0; id < 6; id++)
        CHECK(w->trials[id].is_released);
    CHECK(w->trials[6].is_released);  /* waited for its second round */
    CHECK(!w->trials[7].is_released); /* went on in 9 and 10 */
    CHECK(!w->trials[8].is_released);
    CHECK(w->trials[9].is_released && w->trials[10].is_released);
    CHECK_EQ(bands_ended(w->b, 8, &w->trials[8].x), 0); /* of the old space */
    CHECK_EQ(w->b->open[0]->n_ended, 0);
    bands_world_free(w);
}
