/* SPDX-License-Identifier: MIT */
#include "pbt/pbt.h"

#include "unit/pbt_help.h"

NOT_UNDER_TSAN;

static const struct pbt_settings four = {
    .size = 4, .factor = 0.2, .resample = 0.25, .fraction = 0.2};

/* A whole trial. */
static void
run(struct world *w, uint64_t id, double value)
{
    CHECK_EQ(ask(w, id), PBT_POINT);
    tell(w, id, value);
    end(w, id, PBT_END_WELL);
}

/* A round of trials id, id + 1, ... with these values. */
static void
run_round(struct world *w, uint64_t id, const double *values)
{
    for (size_t i = 0; i < w->p->set.size; i++)
        CHECK_EQ(ask(w, id + i), PBT_POINT);
    for (size_t i = 0; i < w->p->set.size; i++)
        tell(w, id + i, values[i]);
    for (size_t i = 0; i < w->p->set.size; i++)
        end(w, id + i, PBT_END_WELL);
}

static void
check_place(struct pbt_place place, uint64_t member, uint64_t turn)
{
    CHECK_EQ(place.member, member);
    CHECK_EQ(place.turn, turn);
}

/* The session recorded with NNI's manager: results, and the folders that NNI
 * handed out. */
TEST(pbt_rounds_hand_out_the_worst_first_as_nni)
{
    static const double results[3][4] = {
        {0.3035108528454296, 0.3381128974045699, 0.38856209267973496,
         0.4099743237392145},
        {0.399838104103118, 0.3381128974045699, 0.38856209267973496,
         0.4099743237392145},
        {0.399838104103118, 0.38856209267973496, 0.399838104103118,
         0.4099743237392145}};
    static const uint64_t load[4][4] = {
        {0, 1, 2, 3}, {3, 1, 2, 3}, {3, 2, 0, 3}, {3, 0, 1, 3}};
    static const uint64_t save[4][4] = {
        {0, 1, 2, 3}, {0, 1, 2, 3}, {1, 2, 0, 3}, {2, 0, 1, 3}};
    struct world *w = world_new(LINE_SPACE, &four, 1);

    for (uint64_t round = 0; round < 4; round++) {
        for (size_t i = 0; i < 4; i++) {
            CHECK_EQ(ask(w, round * 4 + i), PBT_POINT);
            check_place(w->a.load, load[round][i], round - (round > 0));
            check_place(w->a.save, save[round][i], round);
            CHECK_EQ(w->a.kind, round == 0 ? PBT_FRESH
                                : i == 0   ? PBT_COPY
                                           : PBT_ON);
        }
        CHECK_EQ(ask(w, 100), PBT_LATER);
        for (size_t i = 0; round < 3 && i < 4; i++)
            tell(w, round * 4 + i, results[round][i]);
        for (size_t i = 0; i < 4; i++)
            end(w, round * 4 + i, PBT_END_WELL);
    }
    world_free(w);
}

TEST(pbt_rounds_go_on_from_ones_own_state_or_from_one_of_the_best)
{
    static const double values[4] = {3, 1, 4, 2};
    struct world *w = world_new(LINE_SPACE, &four, 2);
    double best;

    run_round(w, 10, values);
    best = w->p->members[2].x[0];
    CHECK_EQ(ask(w, 20), PBT_POINT); /* member 1, the worst */
    CHECK(w->a.kind == PBT_COPY && w->a.member == 1 && w->a.donor == 2);
    CHECK_EQ(w->a.from, 12);
    CHECK_EQ(w->a.rank, 3);
    CHECK_EQ(w->a.donor_rank, 0);
    CHECK(w->a.base[0] == best && w->x[0] != best);
    CHECK_EQ(ask(w, 21), PBT_POINT);
    CHECK(w->a.kind == PBT_ON && w->a.member == 3 && w->a.from == 13);
    CHECK_EQ(ask(w, 22), PBT_POINT);
    CHECK(w->a.kind == PBT_ON && w->a.member == 0 && w->a.from == 10);
    CHECK_EQ(ask(w, 23), PBT_POINT);
    CHECK(w->a.kind == PBT_ON && w->a.member == 2 && w->a.from == 12);
    CHECK(w->x[0] == best);
    world_free(w);
}

TEST(pbt_rounds_copy_each_of_the_best_in_place_of_the_worst)
{
    struct pbt_settings set = {.size = 10, .fraction = 0.3, .factor = 0.1};
    struct world *w = world_new(LINE_SPACE, &set, 3);
    double values[10];
    int from[10] = {0};

    for (uint64_t round = 0; round < 60; round++) {
        for (size_t i = 0; i < 10; i++)
            values[i] = (double)((i * 7 + round) % 10);
        run_round(w, round * 10, values);
        CHECK_EQ(w->p->n_donors, 3);
        for (size_t i = 0; i < 10; i++)
            CHECK(w->p->members[i].kind ==
                  (w->p->members[i].rank < 7 ? PBT_ON : PBT_COPY));
        CHECK_EQ(ask(w, 10000 + round), PBT_POINT);
        CHECK(w->a.kind == PBT_COPY && w->a.donor_rank < 3);
        from[w->a.donor_rank]++;
        tell(w, 10000 + round, 0);
        end(w, 10000 + round, PBT_END_WELL);
        for (size_t i = 1; i < 10; i++)
            run(w, 20000 + round * 10 + i, (double)i);
    }
    CHECK(from[0] > 8 && from[1] > 8 && from[2] > 8);
    world_free(w);
}

/* NNI hands a failed trial's missing checkpoint on, when it is none of the
 * worst. */
TEST(pbt_rounds_copy_the_best_over_whoever_failed)
{
    struct world *w = world_new(LINE_SPACE, &four, 4);

    for (uint64_t id = 0; id < 4; id++)
        CHECK_EQ(ask(w, id), PBT_POINT);
    end(w, 0, PBT_END_BADLY);
    end(w, 1, PBT_END_BADLY);
    tell(w, 2, -(double)INFINITY);
    end(w, 2, PBT_END_WELL);
    end(w, 3, PBT_END_BADLY);
    for (uint64_t id = 4; id < 7; id++) {
        CHECK_EQ(ask(w, id), PBT_POINT);
        CHECK(w->a.kind == PBT_COPY && w->a.donor == 2 && w->a.from == 2);
    }
    CHECK_EQ(ask(w, 7), PBT_POINT);
    CHECK(w->a.kind == PBT_ON && w->a.member == 2);
    world_free(w);
}

TEST(pbt_rounds_begin_anew_when_all_failed)
{
    struct world *w = world_new(LINE_SPACE, &four, 5);

    for (uint64_t id = 0; id < 40; id++) {
        CHECK_EQ(ask(w, id), PBT_POINT);
        CHECK(w->a.kind == PBT_FRESH && w->a.from == PBT_NO_ID);
        check_place(w->a.load, w->a.member, id / 4);
        check_place(w->a.save, w->a.member, id / 4);
        end(w, id, PBT_END_BADLY);
    }
    world_free(w);
}

/* NNI dies of the first and waits for ever for the second. */
TEST(pbt_rounds_count_each_trial_once)
{
    struct world *w = world_new(LINE_SPACE, &four, 6);

    for (uint64_t id = 0; id < 4; id++)
        CHECK_EQ(ask(w, id), PBT_POINT);
    tell(w, 0, 9);
    end(w, 0, PBT_END_BADLY); /* after its result */
    CHECK_EQ(report(w, 1, 5, 1), PBT_GO);
    CHECK_EQ(report(w, 1, 8, 2), PBT_GO);
    end(w, 1, PBT_END_WELL); /* with no final result: the latest counts */
    end(w, 2, PBT_END_WELL); /* with none at all */
    tell(w, 2, 7);           /* but there it is */
    CHECK_EQ(ask(w, 4), PBT_LATER);
    CHECK_EQ(report(w, 3, 100, 1), PBT_GO);
    end(w, 3, PBT_END_BADLY);
    tell(w, 3, 100); /* too late: the round is over */
    CHECK_EQ(ask(w, 4), PBT_POINT);
    CHECK(w->a.kind == PBT_COPY && w->a.member == 3 && w->a.donor == 0);
    CHECK_EQ(ask(w, 5), PBT_POINT);
    CHECK_EQ(w->a.member, 2);
    CHECK_EQ(ask(w, 6), PBT_POINT);
    CHECK_EQ(w->a.member, 1);
    CHECK_EQ(ask(w, 7), PBT_POINT);
    CHECK_EQ(w->a.member, 0);
    world_free(w);
}

/* With a fraction of one half or more nobody is both. */
TEST(pbt_rounds_copy_nobody_over_itself)
{
    struct pbt_settings set = {.size = 1, .fraction = 0.2, .factor = 0.2};
    struct world *w = world_new(LINE_SPACE, &set, 7);
    static const double values[5] = {5, 4, 3, 2, 1};

    for (uint64_t id = 0; id < 9; id++) {
        run(w, id, (double)id);
        CHECK_EQ(w->a.kind, id == 0 ? PBT_FRESH : PBT_ON);
    }
    world_free(w);
    set.size = 5;
    set.fraction = 0.9;
    w = world_new(LINE_SPACE, &set, 8);
    run_round(w, 0, values);
    CHECK_EQ(ask(w, 5), PBT_POINT);
    CHECK(w->a.kind == PBT_ON); /* all are among the best */
    world_free(w);
    set.fraction = 0.5;
    w = world_new(LINE_SPACE, &set, 8);
    run_round(w, 0, values);
    for (uint64_t id = 5; id < 10; id++) {
        CHECK_EQ(ask(w, id), PBT_POINT);
        CHECK_EQ(w->a.kind, id < 7 ? PBT_COPY : PBT_ON);
        CHECK(w->a.kind == PBT_ON || w->a.donor < 3);
    }
    world_free(w);
    set.fraction = 0;
    w = world_new(LINE_SPACE, &set, 8);
    run_round(w, 0, values);
    CHECK_EQ(ask(w, 5), PBT_POINT);
    CHECK_EQ(w->a.kind, PBT_ON);
    world_free(w);
}

TEST(pbt_rounds_of_an_interval_pause_and_finish)
{
    struct pbt_settings set = four;
    struct world *w;

    set.interval = 3;
    set.max_budget = 7;
    w = world_new(LINE_SPACE, &set, 9);
    for (uint64_t round = 0; round < 3; round++) {
        uint64_t budget = round == 2 ? 7 : 3 * (round + 1);
        enum pbt_verdict last = round == 2 ? PBT_FINISH : PBT_PAUSE;

        for (uint64_t id = round * 4; id < round * 4 + 4; id++) {
            CHECK_EQ(ask(w, id), PBT_POINT);
            CHECK_EQ(w->a.budget, budget);
        }
        for (uint64_t id = round * 4; id < round * 4 + 4; id++) {
            CHECK_EQ(report(w, id, 50, budget - 1), PBT_GO);
            CHECK_EQ(report(w, id, (double)id, budget), last);
            CHECK_EQ(report(w, id, 99, budget + 1), last);
            CHECK(w->p->members[w->a.member].score < 50);
            CHECK_EQ(ask(w, 1000), PBT_LATER);
            end(w, id, last == PBT_PAUSE ? PBT_END_PAUSED : PBT_END_WELL);
        }
    }
    CHECK_EQ(ask(w, 1000), PBT_OVER);
    CHECK_EQ(w->n_released, 8); /* all but the last round's */
    world_free(w);
}

TEST(pbt_rounds_release_what_the_round_before_left)
{
    struct world *w = world_new(LINE_SPACE, &four, 10);
    static const double values[4] = {1, 2, 3, 4};

    run_round(w, 0, values);
    CHECK_EQ(w->n_released, 0);
    run_round(w, 4, values);
    CHECK_EQ(w->n_released, 4); /* all have begun with them and ended */
    for (uint64_t id = 0; id < 4; id++)
        CHECK(help_released(w, id));
    run_round(w, 8, values);
    CHECK_EQ(w->n_released, 8);
    world_free(w);
}

TEST(pbt_begins_at_the_best_points_from_elsewhere)
{
    struct pbt_settings set = four;
    struct world *w;
    double x;

    set.size = 3;
    w = world_new(LINE_SPACE, &set, 11);
    for (int i = 0; i < 10; i++) {
        x = (i * 7 % 10) / 10.0;
        pbt_import(w->p, &x, i == 4 ? NAN : x); /* 0.8 is worth nothing */
    }
    CHECK_EQ(w->p->n_starts, 3);
    CHECK_EQ(ask(w, 0), PBT_POINT);
    CHECK(w->a.imported && w->x[0] == 0.9);
    CHECK_EQ(ask(w, 0), PBT_POINT); /* another point was wanted */
    CHECK(!w->a.imported && w->x[0] != 0.9);
    CHECK_EQ(ask(w, 1), PBT_POINT);
    CHECK(w->a.imported && w->x[0] == 0.7);
    CHECK_EQ(ask(w, 2), PBT_POINT);
    CHECK(w->a.imported && w->x[0] == 0.6);
    world_free(w);
}

TEST(pbt_begins_anew_in_a_new_space_and_in_new_folders)
{
    struct world *w = world_new(LINE_SPACE, &four, 12);
    static const double values[4] = {1, 2, 3, 4};
    struct explore_space mine;

    run_round(w, 0, values);
    CHECK_EQ(ask(w, 4), PBT_POINT);
    space_free(w->space);
    w->space = help_space(MIXED_SPACE);
    mine = help_explore_space(w->space);
    CHECK_EQ(pbt_space(w->p, &mine), 0);
    CHECK_EQ(ask(w, 5), PBT_POINT);
    CHECK(w->a.kind == PBT_FRESH && w->a.from == PBT_NO_ID && w->a.turn == 0);
    check_place(w->a.load, 0, 2);
    check_place(w->a.save, 0, 2);
    end(w, 4, PBT_END_WELL); /* of the space before */
    world_free(w);
}

TEST(pbt_asked_again_gives_another_point_where_it_may)
{
    struct world *w = world_new(LINE_SPACE, &four, 13);
    static const double values[4] = {1, 2, 3, 4};
    double before;
    uint64_t donor;

    run_round(w, 0, values);
    CHECK_EQ(ask(w, 4), PBT_POINT);
    before = w->x[0];
    donor = w->a.donor;
    for (int i = 0, same = 0; i < 20; i++) {
        CHECK_EQ(ask(w, 4), PBT_POINT);
        CHECK(w->a.kind == PBT_COPY && w->a.donor == donor);
        same += w->x[0] == before;
        CHECK(same < 12);
    }
    CHECK_EQ(ask(w, 5), PBT_POINT);
    before = w->x[0];
    CHECK_EQ(ask(w, 5), PBT_POINT); /* it goes on, and nowhere else */
    CHECK(w->x[0] == before && w->a.member == 1);
    world_free(w);
}
