/* SPDX-License-Identifier: MIT */
#include "anneal/anneal.h"

#include "core/pack.h"
#include "plugin/state.h"
#include "unit/prior_help.h"

#include <math.h>

NOT_UNDER_TSAN;

struct world {
    uint64_t seed;
    struct space *space;
    struct anneal *a;
    double x[X_MAX];
    struct anneal_origin origin;
};

static struct world *
world_new(const char *space, enum anneal_lie lie, uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    struct prior prior;

    w->seed = seed;
    w->space = help_space(space);
    w->a = anneal_new(lie, help_random(&w->seed));
    prior = help_prior(w->space);
    CHECK_EQ(anneal_space(w->a, &prior), 0);
    return w;
}

static void
world_free(struct world *w)
{
    anneal_free(w->a);
    space_free(w->space);
    free(w);
}

static void
ask(struct world *w, uint64_t id)
{
    anneal_ask(w->a, id, 0, w->x, &w->origin);
    help_check_point(w->space, w->x);
}

/* Many ties, and some that are nothing. */
static double
some_loss(uint64_t id)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    uint64_t k = id * 2654435761u % 1009;

    return k < 3 ? odd[k] : (double)(k % 97);
}

#define UNIT "{'x': {'_type': 'uniform', '_value': [0, 1]}}"

TEST(anneal_begins_with_the_prior_and_comes_nearer)
{
    struct world *w = world_new(UNIT, ANNEAL_LIE_NONE, 1);

    for (uint64_t id = 0; id < 50; id++) {
        ask(w, id);
        CHECK(!w->origin.has_base);
    }
    CHECK_EQ(anneal_tell(w->a, 7, (double[]){0.25}, 1), 0);
    for (uint64_t t = 1; t < 200; t++) {
        double half = 0.5 / (1 + 0.1 * (double)t), low = 0.25 - half;

        ask(w, 100 + t);
        CHECK(w->origin.has_base && w->origin.rank < t);
        CHECK_EQ(w->origin.results, t);
        if (low < 0)
            low = 0; /* the interval is moved into the range */
        CHECK(w->x[0] >= low - 1e-12 && w->x[0] <= low + 2 * half + 1e-12);
        CHECK_EQ(anneal_tell(w->a, t + 1000, (double[]){0.25}, 1), 0);
    }
    world_free(w);
}

TEST(anneal_takes_the_best_half_of_the_time)
{
    struct world *w = world_new(UNIT, ANNEAL_LIE_NONE, 1);
    size_t times[3] = {0};

    for (uint64_t id = 0; id < 10; id++)
        CHECK_EQ(anneal_tell(w->a, id, (double[]){0.5}, 10 - (double)id), 0);
    for (uint64_t id = 0; id < 4000; id++) {
        ask(w, id);
        CHECK_EQ(w->origin.base, 9 - w->origin.rank);
        if (w->origin.rank < 3)
            times[w->origin.rank]++;
    }
    CHECK(times[0] > 1850 && times[0] < 2150);
    CHECK(times[1] > 880 && times[1] < 1120);
    CHECK(times[2] > 420 && times[2] < 580);
    world_free(w);
}

TEST(anneal_keeps_a_choice_more_often_the_more_results_there_are)
{
    struct world *w =
        world_new("{'c': {'_type': 'choice', '_value': [0, 1, 2, 3]}}",
                  ANNEAL_LIE_NONE, 1);
    size_t kept = 0;

    for (int i = 0; i < 10; i++) /* s = 1/2 */
        CHECK_EQ(anneal_tell(w->a, 0, (double[]){2}, 0), 0);
    for (uint64_t id = 0; id < 4000; id++) {
        ask(w, id);
        kept += w->x[0] == 2;
    }
    CHECK(kept > 2380 && kept < 2620); /* 4000 (1/2 + 1/8) */
    world_free(w);
}

/* The rules as they are written down, with all results kept: which trial is
 * the base of each dimension. */

#define TRIALS 600

struct naive {
    double x[TRIALS][X_MAX], loss[TRIALS];
    size_t n;
};

/* How many results come before result k among those that have dimension d;
 * -1: k does not. */
static long
rank_of(const struct naive *v, size_t k, size_t d)
{
    long rank = 0;

    if (isnan(v->x[k][d]) || isnan(v->loss[k]))
        return -1;
    for (size_t i = 0; i < v->n; i++)
        if (!isnan(v->x[i][d]) &&
            (v->loss[i] < v->loss[k] || (v->loss[i] == v->loss[k] && i < k)))
            rank++;
    return rank;
}

static void
check_lists(const struct anneal *a, const struct naive *v)
{
    for (size_t d = 0; d < a->prior.n_dims; d++) {
        const struct anneal_group *g = &a->groups[a->group_of[d]];
        uint64_t count = 0;

        for (size_t k = 0; k < v->n; k++) {
            long rank = rank_of(v, k, d);

            count += rank >= 0;
            if (rank < 0 || rank >= ANNEAL_BEST)
                continue;
            CHECK((size_t)rank < g->n_best);
            CHECK_EQ(g->best[rank]->id, k);
            CHECK(memcmp(g->best[rank]->x, v->x[k],
                         a->prior.n_dims * sizeof(double)) == 0);
        }
        CHECK_EQ(g->count, count);
        CHECK_EQ(g->n_best, count < ANNEAL_BEST ? count : ANNEAL_BEST);
    }
}

TEST(anneal_forgets_nothing_that_it_would_look_at)
{
    struct world *w = world_new(MIXED_SPACE, ANNEAL_LIE_NONE, 6);
    struct naive *v = calloc(1, sizeof *v);

    for (uint64_t id = 0; id < TRIALS; id++) {
        ask(w, id);
        memcpy(v->x[id], w->x, sizeof w->x);
        v->loss[id] = some_loss(id);
        v->n++;
        CHECK_EQ(anneal_tell(w->a, id, w->x, v->loss[id]), 0);
        if (id % 60 == 59)
            check_lists(w->a, v);
    }
    CHECK(w->a->n_points <= ANNEAL_BEST * w->a->n_groups);
    CHECK(w->a->n_points < w->a->n_results);
    free(v);
    world_free(w);
}

TEST(anneal_finds_a_base_of_its_own_for_a_branch)
{
    struct world *w = world_new(
        "{'n': {'_type': 'choice', '_value': [{'_name': 'a', 'u': {'_type': "
        "'uniform', '_value': [0, 1]}}, {'_name': 'b'}]}}",
        ANNEAL_LIE_NONE, 2);
    size_t drawn = 0, there = 0;

    for (uint64_t id = 1; id <= 500; id++) /* the best are all in b */
        CHECK_EQ(anneal_tell(w->a, id, (double[]){1, NAN}, 0), 0);
    for (uint64_t id = 0; id < 2000; id++) {
        ask(w, id);
        drawn += w->x[0] == 0;
    }
    CHECK(drawn > 5 && drawn < 40); /* 2000 / 51 / 2 */
    CHECK_EQ(anneal_tell(w->a, 1000, (double[]){0, 0.75}, 9), 0);
    for (uint64_t id = 0; id < 4000; id++) {
        ask(w, id);
        if (w->x[0] != 0)
            continue;
        there++;
        CHECK(w->x[1] >= 0.09); /* s = 1 / 1.1, moved up to 1 */
    }
    CHECK(there > 5);
    world_free(w);
}

TEST(anneal_lies_about_pending_points)
{
    static const struct {
        enum anneal_lie lie;
        uint64_t second; /* the base of rank 1, of 4 */
    } cases[] = {{ANNEAL_LIE_NONE, 2},
                 {ANNEAL_LIE_MIN, 50},
                 {ANNEAL_LIE_MEAN, 50},
                 {ANNEAL_LIE_MAX, 2}};

    for (size_t i = 0; i < 4; i++) {
        struct world *w = world_new(UNIT, cases[i].lie, 3);
        size_t seen = 0;

        CHECK_EQ(anneal_pend(w->a, 50, (double[]){0.5}), 0);
        ask(w, 0);
        CHECK(!w->origin.has_base); /* nothing to lie about yet */
        CHECK_EQ(anneal_tell(w->a, 1, (double[]){0.1}, 1), 0);
        CHECK_EQ(anneal_tell(w->a, 2, (double[]){0.2}, 6), 0);
        CHECK_EQ(anneal_tell(w->a, 3, (double[]){0.3}, 8), 0);
        for (uint64_t id = 0; id < 200; id++) {
            ask(w, id);
            CHECK_EQ(w->origin.results, cases[i].lie ? 4 : 3);
            if (w->origin.rank != 1)
                continue;
            seen++;
            CHECK_EQ(w->origin.base, cases[i].second);
            CHECK_EQ(w->origin.is_pending, cases[i].second == 50);
        }
        CHECK(seen > 10);
        anneal_unpend(w->a, 50);
        ask(w, 0);
        CHECK_EQ(w->origin.results, 3);
        world_free(w);
    }
}

TEST(anneal_finds_the_bottom)
{
    struct world *w = world_new("{'x': {'_type': 'uniform', '_value': [-5, 5]},"
                                " 'y': {'_type': 'normal', '_value': [0, 3]}}",
                                ANNEAL_LIE_NONE, 5);
    double best = INFINITY;

    for (uint64_t id = 0; id < 200; id++) {
        double loss;

        ask(w, id);
        loss = (w->x[0] - 2) * (w->x[0] - 2) + (w->x[1] + 1) * (w->x[1] + 1);
        best = loss < best ? loss : best;
        CHECK_EQ(anneal_tell(w->a, id, w->x, loss), 0);
    }
    CHECK(best < 0.02);
    world_free(w);
}

static void
save_all(const struct world *w, struct buf *out)
{
    struct tp_sink sink = state_sink(out);

    anneal_save(w->a, &sink);
    CHECK(!out->failed);
}

static const char *
load_all(struct world *w, const void *bytes, size_t len)
{
    struct unpack from = unpack_from(bytes, len);
    struct tp_source source = state_source(&from);
    const char *wrong = anneal_load(w->a, &source);

    return wrong == NULL && !unpack_done(&from) ? "left" : wrong;
}

static void
go_on(struct world *w, uint64_t id)
{
    ask(w, id);
    CHECK_EQ(anneal_pend(w->a, id, w->x), 0);
    if (id % 5 == 0)
        return;
    anneal_unpend(w->a, id);
    CHECK_EQ(anneal_tell(w->a, id, w->x, some_loss(id)), 0);
}

TEST(anneal_goes_on_from_what_was_saved)
{
    struct world *w = world_new(MIXED_SPACE, ANNEAL_LIE_MEAN, 8);
    struct world *loaded = world_new(MIXED_SPACE, ANNEAL_LIE_MEAN, 8);
    struct buf first, second;

    buf_init(&first, 1 << 20);
    buf_init(&second, 1 << 20);
    for (uint64_t id = 0; id < 150; id++)
        go_on(w, id);
    save_all(w, &first);
    CHECK(load_all(loaded, first.data, first.len) == NULL);
    save_all(loaded, &second);
    CHECK_EQ(first.len, second.len);
    CHECK(memcmp(first.data, second.data, first.len) == 0);
    for (uint64_t id = 150; id < 250; id++) {
        go_on(w, id);
        go_on(loaded, id);
        CHECK(memcmp(w->x, loaded->x, sizeof w->x) == 0);
    }
    for (size_t len = 0; len < first.len; len += 256) {
        struct world *broken = world_new(MIXED_SPACE, ANNEAL_LIE_MEAN, 8);

        CHECK(load_all(broken, first.data, len) != NULL);
        world_free(broken);
    }
    buf_fini(&first);
    buf_fini(&second);
    world_free(w);
    world_free(loaded);
}
