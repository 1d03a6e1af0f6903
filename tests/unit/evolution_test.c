/* SPDX-License-Identifier: MIT */
#include "evolution/evolution.h"

#include "core/pack.h"
#include "plugin/state.h"
#include "unit/prior_help.h"

#include <math.h>

NOT_UNDER_TSAN;

struct world {
    uint64_t seed;
    struct space *space;
    struct evolution *e;
    double x[X_MAX], before[X_MAX];
    struct evolution_origin origin;
};

static struct world *
world_new(const char *space, size_t size, uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    struct prior prior;

    w->seed = seed;
    w->space = help_space(space);
    w->e = evolution_new(size, help_random(&w->seed));
    prior = help_prior(w->space);
    CHECK_EQ(evolution_space(w->e, &prior), 0);
    return w;
}

static void
world_free(struct world *w)
{
    evolution_free(w->e);
    space_free(w->space);
    free(w);
}

static int
ask(struct world *w, uint64_t id)
{
    int rc = evolution_ask(w->e, id, w->x, &w->origin);

    if (rc == EVOLUTION_POINT)
        help_check_point(w->space, w->x);
    return rc;
}

static void
run(struct world *w, uint64_t id, double value)
{
    CHECK_EQ(ask(w, id), EVOLUTION_POINT);
    evolution_tell(w->e, id, w->x, value);
    evolution_ended(w->e, id);
}

TEST(evolution_gives_draws_of_the_prior_first_and_then_children)
{
    struct world *w = world_new(MIXED_SPACE, 8, 1);

    for (uint64_t id = 0; id < 8; id++) {
        run(w, id, (double)id);
        CHECK(!w->origin.mutated);
    }
    for (uint64_t id = 8; id < 500; id++) {
        run(w, id, (double)id);
        CHECK(w->origin.mutated && w->origin.had_loser);
        CHECK(w->origin.parent > w->origin.loser); /* its value is higher */
        CHECK_EQ(w->e->n_members, 8);
    }
    world_free(w);
}

TEST(evolution_gives_nothing_while_its_population_is_out)
{
    struct world *w = world_new(MIXED_SPACE, 3, 1);

    for (uint64_t id = 0; id < 3; id++)
        CHECK_EQ(ask(w, id), EVOLUTION_POINT);
    CHECK_EQ(ask(w, 3), EVOLUTION_LATER);
    evolution_tell(w->e, 1, w->x, 5);
    CHECK_EQ(ask(w, 3), EVOLUTION_LATER); /* it has not ended */
    evolution_ended(w->e, 1);
    CHECK_EQ(ask(w, 3), EVOLUTION_POINT);
    CHECK(w->origin.mutated && !w->origin.had_loser && w->origin.parent == 1);
    CHECK_EQ(ask(w, 4), EVOLUTION_LATER);
    world_free(w);
}

TEST(evolution_changes_one_dimension_and_what_hangs_on_it)
{
    struct world *w = world_new(MIXED_SPACE, 1, 3);
    size_t n_dims = w->e->prior.n_dims, more = 0;

    run(w, 0, 0);
    for (uint64_t id = 1; id < 400; id++) {
        size_t differ = 0;

        memcpy(w->before, w->e->members[0].x, n_dims * sizeof(double));
        CHECK_EQ(ask(w, id), EVOLUTION_POINT);
        for (size_t i = 0; i < n_dims; i++) {
            bool same = memcmp(&w->before[i], &w->x[i], sizeof(double)) == 0;

            CHECK(same || i == w->origin.dim ||
                  prior_below(&w->e->prior, i, w->origin.dim));
            differ += !same;
        }
        more += differ > 1;
        evolution_tell(w->e, id, w->x, 0);
        evolution_ended(w->e, id);
    }
    CHECK(more > 10); /* another branch */
    world_free(w);
}

TEST(evolution_puts_a_draw_in_the_place_of_a_failed_trial)
{
    struct world *w = world_new(MIXED_SPACE, 4, 1);

    for (uint64_t id = 0; id < 100; id++) {
        CHECK_EQ(ask(w, id), EVOLUTION_POINT);
        CHECK(!w->origin.mutated);
        evolution_ended(w->e, id);
        CHECK_EQ(w->e->n_members, 4);
    }
    world_free(w);
}

TEST(evolution_takes_results_that_come_late_or_from_elsewhere)
{
    struct world *w = world_new(MIXED_SPACE, 2, 1);

    CHECK_EQ(ask(w, 0), EVOLUTION_POINT);
    evolution_ended(w->e, 0);
    evolution_tell(w->e, 0, w->x, 7); /* in the place of the new draw */
    CHECK_EQ(w->e->n_members, 2);
    evolution_tell(w->e, EVOLUTION_NO_ID, w->x, 3);
    CHECK(w->e->members[0].known && w->e->members[1].known);
    evolution_tell(w->e, EVOLUTION_NO_ID, w->x, 2); /* no better than any */
    evolution_tell(w->e, EVOLUTION_NO_ID, w->x, NAN);
    evolution_tell(w->e, EVOLUTION_NO_ID, w->x, 9); /* for the 3 */
    CHECK_EQ(w->e->n_members, 2);
    CHECK(w->e->members[0].value + w->e->members[1].value == 16);
    CHECK_EQ(ask(w, 1), EVOLUTION_POINT);
    CHECK(w->origin.parent == EVOLUTION_NO_ID && w->origin.loser == 0);
    world_free(w);
}

TEST(evolution_never_prefers_nan)
{
    struct world *w = world_new(MIXED_SPACE, 6, 1);

    for (uint64_t id = 0; id < 6; id++)
        run(w, id, id == 2 ? -1e300 : NAN);
    for (uint64_t id = 6; id < 60; id++) {
        run(w, id, NAN);
        CHECK(w->origin.parent == 2 || !w->origin.had_loser ||
              isinf(w->origin.parent_value));
        CHECK(w->origin.loser != 2);
    }
    world_free(w);
}

TEST(evolution_answers_an_id_that_is_out_with_another_point)
{
    struct world *w = world_new(MIXED_SPACE, 2, 1);

    CHECK_EQ(ask(w, 0), EVOLUTION_POINT);
    memcpy(w->before, w->x, sizeof w->x);
    CHECK_EQ(ask(w, 0), EVOLUTION_POINT);
    CHECK(memcmp(w->before, w->x, sizeof w->x) != 0);
    CHECK_EQ(w->e->n_out, 1);
    world_free(w);
}

TEST(evolution_climbs)
{
    struct world *w = world_new("{'x': {'_type': 'uniform', '_value': [0, 1]},"
                                " 'y': {'_type': 'uniform', '_value': [0, 1]}}",
                                10, 5);
    double sum = 0;

    for (uint64_t id = 0; id < 2000; id++) {
        CHECK_EQ(ask(w, id), EVOLUTION_POINT);
        evolution_tell(w->e, id, w->x, w->x[0] + w->x[1]);
        evolution_ended(w->e, id);
        sum += id >= 1900 ? w->x[0] + w->x[1] : 0;
    }
    CHECK(sum / 100 > 1.4); /* draws of the prior: 1 */
    world_free(w);
}

static void
save_all(const struct world *w, struct buf *out)
{
    struct tp_sink sink = state_sink(out);

    evolution_save(w->e, &sink);
    CHECK(!out->failed);
}

static const char *
load_all(struct world *w, const void *bytes, size_t len)
{
    struct unpack from = unpack_from(bytes, len);
    struct tp_source source = state_source(&from);
    const char *wrong = evolution_load(w->e, &source);

    return wrong == NULL && !unpack_done(&from) ? "left" : wrong;
}

TEST(evolution_goes_on_from_what_was_saved)
{
    struct world *w = world_new(MIXED_SPACE, 5, 8);
    struct world *loaded = world_new(MIXED_SPACE, 5, 8);
    struct buf first, second;

    buf_init(&first, 1 << 20);
    buf_init(&second, 1 << 20);
    for (uint64_t id = 0; id < 37; id++)
        run(w, id, sin((double)id));
    CHECK_EQ(ask(w, 40), EVOLUTION_POINT);
    save_all(w, &first);
    CHECK(load_all(loaded, first.data, first.len) == NULL);
    save_all(loaded, &second);
    CHECK_EQ(first.len, second.len);
    CHECK(memcmp(first.data, second.data, first.len) == 0);
    for (uint64_t id = 41; id < 80; id++) {
        run(w, id, sin((double)id));
        run(loaded, id, sin((double)id));
        CHECK(memcmp(w->x, loaded->x, sizeof w->x) == 0);
    }
    for (size_t len = 0; len < first.len; len += 8)
        CHECK(load_all(loaded, first.data, len) != NULL);
    buf_fini(&first);
    buf_fini(&second);
    world_free(w);
    world_free(loaded);
}

/* A filter that does not like a child gets others, whose parents are still the
 * better of two; nobody leaves for them. */
TEST(evolution_asked_again_gives_other_children)
{
    struct world *w = world_new(MIXED_SPACE, 8, 2);
    size_t bytes = w->e->prior.n_dims * sizeof(double);
    int others = 0;

    for (uint64_t id = 0; id < 8; id++)
        run(w, id, (double)id);
    CHECK_EQ(ask(w, 8), EVOLUTION_POINT);
    for (int again = 0; again < 50; again++) {
        memcpy(w->before, w->x, bytes);
        CHECK_EQ(ask(w, 8), EVOLUTION_POINT);
        CHECK(w->origin.mutated && !w->origin.had_loser);
        CHECK(w->origin.parent != 0); /* the worst wins no tournament */
        CHECK_EQ(w->e->n_members, 7);
        others += memcmp(w->before, w->x, bytes) != 0;
    }
    CHECK(others > 35); /* an element may be drawn that was there */
    world_free(w);
}
