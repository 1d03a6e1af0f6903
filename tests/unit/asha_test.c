/* SPDX-License-Identifier: MIT */
/* The tuner asha's algorithm, without the plugin around it. */
#include "asha/asha.h"

#include "numerics/front.h"
#include "unit/asha_help.h"

#include <math.h>

NOT_UNDER_TSAN;

TEST(asha_has_the_levels_of_the_papers)
{
    static const struct {
        uint64_t min, max, eta;
        size_t n;
        uint64_t levels[8];
    } tables[] = {
        {1, 9, 3, 3, {1, 3, 9}},             /* Li 2020, figure 1 */
        {1, 81, 3, 5, {1, 3, 9, 27, 81}},    /* Li 2018, table 1 */
        {1, 256, 4, 5, {1, 4, 16, 64, 256}}, /* Li 2020, section 4.1 */
        {1, 52, 3, 5, {1, 3, 9, 27, 52}},    /* a rest is a rung, too */
        {4, 100, 4, 4, {4, 16, 64, 100}},
        {2, 3, 1000, 2, {2, 3}},
        {7, 7, 2, 1, {7}},
        {1, 2, 2, 2, {1, 2}},
    };
    uint64_t levels[ASHA_LEVELS_MAX];

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct asha_options o = {.min_budget = tables[i].min,
                                 .max_budget = tables[i].max,
                                 .eta = tables[i].eta};

        CHECK_EQ(asha_levels(&o, levels), tables[i].n);
        for (size_t k = 0; k < tables[i].n; k++)
            CHECK_EQ(levels[k], tables[i].levels[k]);
    }
}

TEST(asha_has_no_more_levels_than_there_is_room_for)
{
    struct asha_options o = {
        .min_budget = 1, .max_budget = INT64_MAX, .eta = 2};
    uint64_t levels[ASHA_LEVELS_MAX];

    CHECK_EQ(asha_levels(&o, levels), ASHA_LEVELS_MAX);
    CHECK_EQ(levels[62], (uint64_t)1 << 62);
    CHECK_EQ(levels[63], INT64_MAX);
}

/* Everything that a rung tells, found by looking at all entries. */
static void
check_rung(struct rung *r)
{
    size_t n = (size_t)(r->n / r->eta);
    double cut = NAN;
    uint32_t next = RUNG_NONE;
    size_t best_waits = SIZE_MAX;

    n = n > r->least ? n : r->least;
    n = n < r->n ? n : r->n;
    for (uint32_t i = 0; i < r->n; i++) {
        size_t rank = asha_rung_rank(r, i);

        CHECK_EQ(asha_rung_is_top(r, i), rank <= n);
        if (rank == n)
            cut = r->entries[i].loss;
        if (rank <= n && r->entries[i].state == RUNG_WAITING &&
            rank < best_waits) {
            next = i;
            best_waits = rank;
        }
    }
    CHECK_EQ(asha_rung_top(r), n);
    if (r->n_costs == 0)
        CHECK(isnan(asha_rung_cut(r)) ? n == 0 : asha_rung_cut(r) == cut);
    CHECK_EQ(asha_rung_next(r), next);
    if (r->n_costs > 0 && next != RUNG_NONE)
        CHECK(r->entries[next].loss == (double)best_waits - 1);
}

TEST(asha_rungs_know_their_top)
{
    uint64_t seed = 5;

    for (uint64_t eta = 2; eta < 6; eta++) {
        struct rung r;

        asha_rung_init(&r, eta, eta % 2, 0);
        for (uint32_t i = 0; i < 150; i++) {
            double loss = (double)draw(&seed, 20);

            loss = loss == 0 ? (double)NAN : loss == 1 ? INFINITY : loss;
            CHECK_EQ(asha_rung_add(&r, loss, i, i), i);
            if (draw(&seed, 4) > 0)
                asha_rung_wait(&r, i);
            check_rung(&r);
            if (draw(&seed, 2) > 0 && asha_rung_next(&r) != RUNG_NONE)
                asha_rung_promote(&r);
            check_rung(&r);
        }
        asha_rung_fini(&r);
    }
}

TEST(asha_takes_nan_for_the_worst_and_the_first_of_equals)
{
    static const double losses[] = {NAN, 3, INFINITY, 3, -INFINITY, NAN};
    static const size_t ranks[] = {4, 2, 5, 3, 1, 6};
    struct rung r;

    asha_rung_init(&r, 3, 0, 0);
    for (uint32_t i = 0; i < 6; i++)
        asha_rung_add(&r, losses[i], i, i);
    for (uint32_t i = 0; i < 6; i++)
        CHECK_EQ(asha_rung_rank(&r, i), ranks[i]);
    asha_rung_fini(&r);
}

/* The places are those in front_order()'s order, also of a rung that gets all
 * entries at once. */
static void
check_places(struct rung *r)
{
    const struct fronts *f = &r->fronts;
    uint32_t order[150];
    struct rung same;

    asha_rung_init(&same, r->eta, r->least, r->n_costs);
    for (uint32_t i = 0; i < r->n; i++)
        asha_rung_append(&same, f->costs + i * f->n_costs, f->violations[i], i,
                         i);
    CHECK_EQ(asha_rung_sort(&same), 0);
    CHECK_EQ(front_order(f->costs, f->violations, r->n, r->n_costs, order), 0);
    for (size_t i = 0; i < r->n; i++) {
        CHECK_EQ(asha_rung_rank(r, order[i]), i + 1);
        CHECK_EQ(asha_rung_rank(&same, order[i]), i + 1);
    }
    asha_rung_add_several(&same, NULL, 0, r->n, 0);
    CHECK_EQ(asha_rung_rank(&same, (uint32_t)r->n), r->n + 1);
    asha_rung_fini(&same);
}

TEST(asha_rungs_of_several_costs_go_by_front_and_crowding)
{
    uint64_t seed = 6;

    for (uint64_t eta = 2; eta < 6; eta++) {
        struct rung r;

        asha_rung_init(&r, eta, eta % 2, 2 + eta % 3);
        for (uint32_t i = 0; i < 150; i++) {
            double costs[4], violation;

            for (size_t k = 0; k < 4; k++)
                costs[k] = (double)draw(&seed, 9 + 5 * k);
            violation = draw(&seed, 4) == 0 ? (double)draw(&seed, 3) : 0;
            if (draw(&seed, 9) == 0)
                costs[1] = NAN;
            if (draw(&seed, 9) == 0)
                costs[0] = draw(&seed, 2) ? INFINITY : -INFINITY;
            CHECK_EQ(asha_rung_add_several(&r, i % 40 == 7 ? NULL : costs,
                                           violation, i, i),
                     i);
            if (draw(&seed, 4) > 0)
                asha_rung_wait(&r, i);
            check_rung(&r);
            if (draw(&seed, 2) > 0 && asha_rung_next(&r) != RUNG_NONE)
                asha_rung_promote(&r);
            check_rung(&r);
            check_places(&r);
        }
        asha_rung_fini(&r);
    }
}

/* All are on one front, which would take minutes if each one sorted all. */
TEST(asha_rungs_of_many_results_of_several_costs_do_not_take_long)
{
    enum { N = 5000 };
    static uint32_t order[N];
    struct fronts *f;
    uint64_t seed = 7;
    struct rung r;

    asha_rung_init(&r, 3, 0, 3);
    f = &r.fronts;
    for (uint32_t i = 0; i < N; i++) {
        double a = (double)draw(&seed, 100), b = (double)draw(&seed, 100);
        double costs[] = {a, b, 200 - a - b};

        CHECK_EQ(asha_rung_add_several(&r, costs, 0, i, i), i);
        asha_rung_wait(&r, i);
        if (asha_rung_next(&r) != RUNG_NONE)
            asha_rung_promote(&r);
    }
    CHECK_EQ(front_order(f->costs, f->violations, N, 3, order), 0);
    for (size_t i = 0; i < N; i += 100)
        CHECK_EQ(asha_rung_rank(&r, order[i]), i + 1);
    asha_rung_fini(&r);
}

/* One worker, nine configurations whose order is the same at every level, the
 * bracket s = 0 of Li 2020, figure 1: 9 trials to 1, 3 to 3, 1 to 9. */
TEST(asha_promotes_as_in_the_figure)
{
    static const double losses[9] = {5, 3, 4, 2, 7, 8, 1, 6, 9};
    static const struct {
        uint64_t budget, first;
    } jobs[] = {
        {1, 0}, {1, 1}, {1, 2}, {3, 1}, {1, 4},  {3, 4},  {1, 6},
        {1, 7}, {1, 8}, {3, 8}, {9, 8}, {1, 11}, {1, 12},
    };
    struct asha_options o = {1, 9, 3, 1, true, 9};
    struct world w;
    uint64_t id = 0, n = 0;
    double loss[16] = {0};

    world_init(&w, &o, 1);
    for (; id < sizeof jobs / sizeof jobs[0]; id++) {
        CHECK(world_ask(&w, id) <= ASHA_PROMOTED);
        if (w.s.first == id)
            loss[id] = losses[n++];
        CHECK_EQ(w.s.first, jobs[id].first);
        CHECK_EQ(w.s.budget, jobs[id].budget);
        CHECK_EQ(world_report(&w, id, w.s.budget, loss[w.s.first]),
                 w.s.budget == 9 ? ASHA_FINISH : ASHA_PAUSE);
        CHECK_EQ(asha_ended(w.a, id, true), 0);
    }
    CHECK_EQ(n, 9);
    CHECK_EQ(world_ask(&w, id), ASHA_DONE);
    CHECK_EQ(asha_rung(w.a, 0, 0)->n, 9);
    CHECK_EQ(asha_rung(w.a, 0, 1)->n, 3);
    CHECK_EQ(asha_rung(w.a, 0, 2)->n, 1);
    world_fini(&w);
}

/* Curves that do not cross: who is in the top third when it gets to a level
 * goes on, so that the best always does. */
TEST(asha_stops_what_is_not_in_the_top_of_its_rung)
{
    static const struct {
        double loss;
        uint64_t used; /* results until it was stopped, or 9 */
    } trials[] = {
        {5, 9}, /* the first is the best so far */
        {6, 1},   {4, 9}, {7, 1},   {8, 1}, {4.5, 3}, {9, 1},
        {4.7, 1}, {3, 9}, {4.2, 3}, {2, 9}, {2.5, 9}, {1, 9},
    };
    struct asha_options o = {1, 9, 3, 1, false, 0};
    struct world w;

    world_init(&w, &o, 1);
    for (uint64_t id = 0; id < sizeof trials / sizeof trials[0]; id++) {
        uint64_t used = 0;
        int said = ASHA_GO;

        CHECK_EQ(world_ask(&w, id), ASHA_NEW);
        CHECK_EQ(w.s.budget, 9);
        while (said == ASHA_GO)
            said = world_report(&w, id, ++used, trials[id].loss);
        CHECK_EQ(used, trials[id].used);
        CHECK_EQ(said, used == 9 ? ASHA_FINISH : ASHA_STOP);
        CHECK_EQ(world_report(&w, id, used + 1, -1), said); /* still */
        CHECK_EQ(asha_ended(w.a, id, true), 0);
    }
    world_fini(&w);
}

/* It reports each fifth step alone. */
TEST(asha_counts_a_report_at_each_level_it_has_passed)
{
    struct asha_options o = {1, 27, 3, 1, false, 0};
    struct world w;

    world_init(&w, &o, 1);
    world_ask(&w, 0);
    CHECK_EQ(world_report(&w, 0, 5, 2), ASHA_GO);
    CHECK_EQ(asha_rung(w.a, 0, 0)->n, 1);
    CHECK_EQ(asha_rung(w.a, 0, 1)->n, 1);
    CHECK_EQ(world_report(&w, 0, 10, 1), ASHA_GO);
    CHECK_EQ(asha_rung(w.a, 0, 2)->n, 1);
    world_ask(&w, 1);
    CHECK_EQ(world_report(&w, 1, 5, 3), ASHA_STOP);
    CHECK_EQ(asha_rung(w.a, 0, 0)->n, 2);
    CHECK_EQ(asha_rung(w.a, 0, 1)->n, 1); /* it went no further */
    CHECK_EQ(world_report(&w, 0, 30, 1), ASHA_FINISH);
    world_fini(&w);
}

TEST(asha_counts_a_step_that_is_reported_again_once)
{
    struct asha_options o = {1, 9, 3, 1, false, 0};
    struct world w;

    for (int promotes = 0; promotes < 2; promotes++) {
        o.promotes = promotes;
        world_init(&w, &o, 1);
        world_ask(&w, 0);
        for (int attempt = 0; attempt < 3; attempt++)
            for (uint64_t used = 1; used <= 2; used++)
                CHECK_EQ(world_report(&w, 0, used, 1),
                         promotes ? ASHA_PAUSE : ASHA_GO);
        CHECK_EQ(asha_rung(w.a, 0, 0)->n, 1);
        CHECK_EQ(asha_rung(w.a, 0, 1)->n, 0);
        world_fini(&w);
    }
}

/* What starts from scratch, because it was given no checkpoint, reports the
 * levels it has been to again. */
TEST(asha_lets_a_promoted_trial_begin_from_scratch)
{
    struct asha_options o = {1, 4, 2, 1, true, 0};
    struct world w;
    uint64_t id;

    world_init(&w, &o, 1);
    for (id = 0; id < 2; id++)
        world_run(&w, id, (double)id);
    CHECK_EQ(world_ask(&w, id), ASHA_PROMOTED);
    CHECK_EQ(w.s.from, 0);
    CHECK_EQ(world_report(&w, id, 1, 0), ASHA_GO);
    CHECK_EQ(world_report(&w, id, 2, 0), ASHA_PAUSE);
    CHECK_EQ(asha_rung(w.a, 0, 0)->n, 2);
    CHECK_EQ(asha_rung(w.a, 0, 1)->n, 1);
    world_fini(&w);
}

/* Not before its trial has ended: until then there is no checkpoint. */
TEST(asha_promotes_what_has_ended)
{
    struct asha_options o = {1, 9, 3, 1, true, 0};
    struct world w;

    world_init(&w, &o, 1);
    for (uint64_t id = 0; id < 3; id++) {
        world_ask(&w, id);
        CHECK_EQ(world_report(&w, id, 1, (double)id), ASHA_PAUSE);
    }
    asha_ended(w.a, 1, true);
    asha_ended(w.a, 2, true);
    CHECK_EQ(world_ask(&w, 3), ASHA_NEW); /* 0 is still on its way */
    asha_ended(w.a, 0, true);
    CHECK_EQ(world_ask(&w, 4), ASHA_PROMOTED);
    CHECK_EQ(w.s.from, 0);
    world_fini(&w);
}

/* A trial that reports a final result alone. */
TEST(asha_takes_a_final_result_for_the_level)
{
    struct asha_options o = {3, 27, 3, 1, true, 0};
    struct world w;

    world_init(&w, &o, 1);
    for (uint64_t id = 0; id < 3; id++) {
        world_ask(&w, id);
        CHECK_EQ(asha_final(w.a, id, w.x, (double)id, &w.j), ASHA_PAUSE);
        CHECK(w.j.is_recorded);
        CHECK_EQ(asha_final(w.a, id, w.x, 9, &w.j), ASHA_PAUSE);
        CHECK(!w.j.is_recorded);
        asha_ended(w.a, id, true);
    }
    CHECK_EQ(world_ask(&w, 3), ASHA_PROMOTED);
    CHECK_EQ(w.s.from, 0);
    CHECK_EQ(w.s.budget, 9);
    world_fini(&w);
}

TEST(asha_leaves_out_what_fails)
{
    struct asha_options o = {1, 9, 3, 1, true, 0};
    struct world w;
    uint64_t id;

    world_init(&w, &o, 1);
    for (id = 0; id < 4; id++)
        world_ask(&w, id);
    asha_ended(w.a, 3, false); /* without a result: never ranked */
    CHECK_EQ(asha_rung(w.a, 0, 0)->n, 0);
    for (uint64_t i = 0; i < 3; i++)
        world_report(&w, i, 1, (double)i);
    asha_ended(w.a, 0, false); /* the best, behind its rung: keeps its rank */
    asha_ended(w.a, 1, true);
    asha_ended(w.a, 2, true);
    CHECK_EQ(world_ask(&w, id), ASHA_NEW);
    world_report(&w, id, 1, -1);
    asha_ended(w.a, id++, true);
    CHECK_EQ(world_ask(&w, id), ASHA_PROMOTED);
    CHECK_EQ(w.s.from, 4);
    asha_ended(w.a, id++, false); /* a promoted one: it is out for good */
    CHECK_EQ(asha_rung(w.a, 0, 1)->n, 0);
    CHECK_EQ(world_ask(&w, id), ASHA_NEW);
    world_fini(&w);
}

TEST(asha_never_waits_for_a_straggler)
{
    struct asha_options o = {1, 27, 3, 1, true, 0};
    struct world w;
    uint64_t id;

    world_init(&w, &o, 1);
    world_ask(&w, 0); /* and is never heard of again */
    for (id = 1; id < 2000; id++) {
        CHECK(world_ask(&w, id) <= ASHA_PROMOTED);
        world_report(&w, id, w.s.budget, (double)(w.s.first * 7919 % 1009));
        asha_ended(w.a, id, true);
    }
    CHECK(asha_rung(w.a, 0, 3)->n > 20);
    CHECK_EQ(world_report(&w, 0, 1, -1), ASHA_PAUSE); /* its result counts */
    asha_ended(w.a, 0, true);
    for (w.s.from = 1; w.s.from != 0; id++) /* those of higher rungs first */
        CHECK_EQ(world_ask(&w, id), ASHA_PROMOTED);
    world_fini(&w);
}

TEST(asha_asked_again_answers_the_same)
{
    struct asha_options o = {1, 4, 2, 1, true, 0};
    struct asha_suggestion before;
    struct world w;

    world_init(&w, &o, 1);
    world_run(&w, 0, 1);
    world_run(&w, 1, 2);
    CHECK_EQ(world_ask(&w, 2), ASHA_PROMOTED);
    before = w.s;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(world_ask(&w, 2), ASHA_PROMOTED);
        CHECK(memcmp(&before, &w.s, sizeof before) == 0);
    }
    CHECK_EQ(world_ask(&w, 3), ASHA_NEW);
    CHECK_EQ(world_ask(&w, 3), ASHA_NEW);
    CHECK_EQ(w.a->begun, 3);
    world_fini(&w);
}
