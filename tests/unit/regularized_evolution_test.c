/* SPDX-License-Identifier: MIT */
#include "regularized_evolution/aging.h"

#include "core/pack.h"
#include "plugin/state.h"
#include "unit/prior_help.h"

#include <math.h>

NOT_UNDER_TSAN;

struct world {
    uint64_t seed;
    struct space *space;
    struct aging *a;
    double x[X_MAX];
    struct aging_origin origin;
};

static struct world *
world_new(const char *space, size_t size, size_t sample)
{
    struct world *w = calloc(1, sizeof *w);
    struct prior prior;

    w->seed = 4;
    w->space = help_space(space);
    w->a = aging_new(size, sample, help_random(&w->seed));
    prior = help_prior(w->space);
    aging_space(w->a, &prior);
    return w;
}

static void
world_free(struct world *w)
{
    aging_free(w->a);
    space_free(w->space);
    free(w);
}

static int
ask(struct world *w, uint64_t id)
{
    int rc = aging_ask(w->a, id, w->x, &w->origin);

    if (rc == AGING_POINT)
        help_check_point(w->space, w->x);
    return rc;
}

static void
run(struct world *w, uint64_t id, double value)
{
    CHECK_EQ(ask(w, id), AGING_POINT);
    CHECK_EQ(aging_tell(w->a, id, w->x, value), 0);
    aging_ended(w->a, id);
}

TEST(regularized_evolution_lets_the_oldest_leave)
{
    struct world *w = world_new(MIXED_SPACE, 10, 10);

    for (uint64_t id = 0; id < 300; id++) {
        run(w, id, id == 3 ? 1e9 : (double)id);
        CHECK(w->origin.mutated == (id >= 10));
        CHECK_EQ(w->a->n_members, id < 10 ? id + 1 : 10);
        CHECK_EQ(aging_at(w->a, 0)->id, id < 10 ? 0 : id - 9);
        if (id > 13) /* 3 has left, the best of all */
            CHECK(w->origin.parent >= id - 10);
    }
    world_free(w);
}

TEST(regularized_evolution_takes_the_best_of_its_sample)
{
    struct world *w = world_new(MIXED_SPACE, 5, 200);

    for (uint64_t id = 0; id < 5; id++)
        run(w, id, id == 2 ? 1 : NAN);
    for (uint64_t id = 5; id < 20; id++) {
        CHECK_EQ(ask(w, id), AGING_POINT);
        CHECK_EQ(w->origin.parent, 2);
        CHECK(w->origin.parent_value == 1);
    }
    world_free(w);
}

TEST(regularized_evolution_changes_one_dimension_to_another_value)
{
    struct world *w = world_new(MIXED_SPACE, 1, 1);
    size_t times[X_MAX] = {0}, n_dims = w->a->prior.n_dims;

    run(w, 0, 0);
    for (uint64_t id = 1; id < 2000; id++) {
        double before[X_MAX];

        memcpy(before, aging_at(w->a, 0)->x, n_dims * sizeof *before);
        run(w, id, 0);
        CHECK(w->origin.dim < n_dims);
        times[w->origin.dim]++;
        for (size_t i = 0; i < n_dims; i++)
            if (i == w->origin.dim)
                CHECK(before[i] != w->x[i]);
            else if (!prior_below(&w->a->prior, i, w->origin.dim))
                CHECK(memcmp(&before[i], &w->x[i], sizeof *before) == 0);
    }
    for (size_t i = 0; i < n_dims; i++)
        CHECK((times[i] > 0) == (i != 8)); /* `one` has one value */
    world_free(w);
}

TEST(regularized_evolution_makes_up_for_draws_that_failed)
{
    struct world *w = world_new(MIXED_SPACE, 4, 2);
    uint64_t id = 0;

    for (; id < 4; id++)
        CHECK_EQ(ask(w, id), AGING_POINT);
    CHECK_EQ(ask(w, id), AGING_LATER);
    aging_ended(w->a, 1);
    CHECK_EQ(ask(w, id), AGING_POINT);
    CHECK(!w->origin.mutated);
    CHECK_EQ(ask(w, ++id), AGING_LATER);
    CHECK_EQ(aging_tell(w->a, 1, w->x, 5), 0); /* late */
    CHECK_EQ(ask(w, id), AGING_POINT);
    CHECK(w->origin.mutated && w->origin.parent == 1);
    world_free(w);
}

TEST(regularized_evolution_counts_imports_as_members)
{
    struct world *w = world_new(MIXED_SPACE, 3, 9);

    prior_fill(&w->a->prior, w->x, &w->a->random, 99, 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(aging_tell(w->a, AGING_NO_ID, w->x, i), 0);
    CHECK_EQ(ask(w, 0), AGING_POINT);
    CHECK(w->origin.mutated && w->origin.parent == AGING_NO_ID);
    world_free(w);
}

TEST(regularized_evolution_has_nothing_to_change_in_a_space_of_one_point)
{
    struct world *w = world_new("{'c': {'_type': 'choice', '_value': [7]},"
                                " 'u': {'_type': 'uniform', '_value': [3, 3]}}",
                                2, 2);

    for (uint64_t id = 0; id < 10; id++) {
        run(w, id, 1);
        CHECK(w->x[0] == 0 && w->x[1] == 3);
    }
    CHECK_EQ(w->origin.dim, 2);
    world_free(w);
}

static void
save_all(const struct world *w, struct buf *out)
{
    struct tp_sink sink = state_sink(out);

    aging_save(w->a, &sink);
    CHECK(!out->failed);
}

TEST(regularized_evolution_goes_on_from_what_was_saved)
{
    struct world *w = world_new(MIXED_SPACE, 7, 3);
    struct world *loaded = world_new(MIXED_SPACE, 7, 3);
    struct unpack from;
    struct tp_source source;
    struct buf first, second;

    buf_init(&first, 1 << 20);
    buf_init(&second, 1 << 20);
    for (uint64_t id = 0; id < 40; id++)
        run(w, id, (double)(id * 37 % 11));
    CHECK_EQ(ask(w, 40), AGING_POINT);
    CHECK_EQ(ask(w, 41), AGING_POINT);
    save_all(w, &first);
    from = unpack_from(first.data, first.len);
    source = state_source(&from);
    CHECK(aging_load(loaded->a, &source) == NULL);
    CHECK(unpack_done(&from));
    save_all(loaded, &second);
    CHECK_EQ(first.len, second.len);
    CHECK(memcmp(first.data, second.data, first.len) == 0);
    for (uint64_t id = 42; id < 90; id++) {
        run(w, id, (double)(id * 37 % 11));
        run(loaded, id, (double)(id * 37 % 11));
        CHECK(memcmp(w->x, loaded->x, sizeof w->x) == 0);
    }
    buf_fini(&first);
    buf_fini(&second);
    world_free(w);
    world_free(loaded);
}

/* However often a filter asks for another answer, the population begins with
 * as many draws; then come other children of the best. */
TEST(regularized_evolution_asked_again_gives_others)
{
    struct world *w = world_new(MIXED_SPACE, 5, 200);
    double before[X_MAX];
    size_t bytes = w->a->prior.n_dims * sizeof(double);
    int others = 0;

    for (uint64_t id = 0; id < 20; id++) {
        CHECK_EQ(ask(w, id), AGING_POINT);
        for (int again = 0; again < 9; again++) {
            memcpy(before, w->x, bytes);
            CHECK_EQ(ask(w, id), AGING_POINT);
            CHECK_EQ(w->origin.mutated, id >= 5);
            others += memcmp(before, w->x, bytes) != 0;
        }
        CHECK_EQ(aging_tell(w->a, id, w->x, (double)id), 0);
        aging_ended(w->a, id);
    }
    CHECK(others > 150); /* of 180: two children may be alike */
    world_free(w);
}
