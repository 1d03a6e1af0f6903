/* SPDX-License-Identifier: MIT */
/* Sequences that NNI 2.7 and 3.0 give; grid.h has the order. */
#include "grid/grid.h"

#include "space/space.h"
#include "t.h"
#include "unit/space_help.h"

#include "keyset/keyset.h"

#include <math.h>

struct walk {
    struct space *space;
    struct grid *grid;
    struct keyset seen;
};

static double
value(void *ctx, size_t i, double x)
{
    const struct walk *w = ctx;

    return space_value(w->space, i, x);
}

static struct walk *
walk_new(const char *space)
{
    struct walk *w = calloc(1, sizeof *w);
    const struct tp_space *s;
    struct grid_dim dims[X_MAX];

    w->space = help_space(space);
    s = space_dims(w->space);
    for (size_t i = 0; i < s->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(s, i);

        dims[i] = (struct grid_dim){
            .n_choices = d->n_choices,
            .is_normal = (d->flags & TP_DIM_NORMAL) != 0,
            .low = d->low,
            .high = d->high,
            .mu = d->mu,
            .sigma = d->sigma,
            .parent = d->parent == TP_NO_PARENT ? GRID_NO_PARENT : d->parent,
            .parent_choice = d->parent_choice,
        };
    }
    w->grid = grid_new(dims, s->n_dims, value, w);
    CHECK(w->grid != NULL);
    return w;
}

static void
walk_free(struct walk *w)
{
    grid_free(w->grid);
    keyset_fini(&w->seen);
    space_free(w->space);
    free(w);
}

/* The next unseen point as JSON, or "none". */
static struct line
step(struct walk *w)
{
    double x[X_MAX];
    uint64_t key[2];

    while (grid_next(w->grid, x) == GRID_POINT) {
        CHECK(space_check(w->space, x, NULL) == 0);
        space_key(w->space, x, key);
        if (keyset_add(&w->seen, key, NULL) == 1)
            return help_decode(w->space, x);
    }
    return (struct line){"none"};
}

/* `want`: what the points decode to, "none" last where it ends there. */
static void
check(const char *space, const char *const *want, size_t n)
{
    struct walk *w = walk_new(space);

    for (size_t i = 0; i < n; i++) {
        struct line quoted = {{0}};

        snprintf(quoted.text, sizeof quoted.text, "%s", want[i]);
        for (char *p = quoted.text; *p != '\0'; p++)
            if (*p == '\'')
                *p = '"';
        CHECK_STR(step(w).text, quoted.text);
    }
    walk_free(w);
}

#define CHECK_WALK(space, ...)                       \
    check(space, (const char *const[]){__VA_ARGS__}, \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define ONE(type, values) "{'x': {'_type': '" type "', '_value': " values "}}"

TEST(grid_refines_a_uniform_range)
{
    CHECK_WALK(ONE("uniform", "[0, 1]"), "{'x': 0.5}", "{'x': 0.25}",
               "{'x': 0.75}", "{'x': 0.125}", "{'x': 0.375}", "{'x': 0.625}",
               "{'x': 0.875}", "{'x': 0.0625}");
    CHECK_WALK(ONE("loguniform", "[0.001, 1]"), "{'x': 0.0316227766016838}",
               "{'x': 0.005623413251903492}", "{'x': 0.1778279410038923}",
               "{'x': 0.002371373705661656}");
}

TEST(grid_of_rounded_values_ends)
{
    CHECK_WALK(ONE("quniform", "[0, 10, 2.5]"), "{'x': 5.0}", "{'x': 2.5}",
               "{'x': 7.5}", "{'x': 0.0}", "{'x': 10.0}", "none", "none");
    CHECK_WALK(ONE("quniform", "[2, 10, 5]"), "{'x': 5.0}", "{'x': 10.0}",
               "{'x': 2.0}", "none");
}

TEST(grid_of_finite_values_ends)
{
    CHECK_WALK(ONE("randint", "[-2, 3]"), "{'x': -2}", "{'x': -1}", "{'x': 0}",
               "{'x': 1}", "{'x': 2}", "none", "none");
    CHECK_WALK(ONE("choice", "['a', 'a', 'b']"), "{'x': 'a'}", "{'x': 'b'}",
               "none");
    CHECK_WALK(ONE("uniform", "[99.9, 99.9]"), "{'x': 99.9}", "none");
    CHECK_WALK(ONE("normal", "[3, 0]"), "{'x': 3.0}", "none");
}

/* What the prior's median rounds to has nothing but neighbours to the end of
 * the doubles: the halving has to stop there. */
TEST(grid_of_values_beyond_the_doubles_ends)
{
    struct walk *w = walk_new(ONE("lognormal", "[1e6, 1]"));
    double x;
    int rc;

    while ((rc = grid_next(w->grid, &x)) == GRID_POINT)
        CHECK(space_check(w->space, &x, NULL) != 0);
    CHECK_EQ(rc, GRID_END);
    walk_free(w);
}

TEST(grid_skips_what_is_inactive)
{
    CHECK_WALK(
        "{'D': {'_type': 'choice', '_value': ["
        " {'_name': 'A', 'x': {'_type': 'choice', '_value': [1, 2]}},"
        " {'_name': 'B', 'y': {'_type': 'uniform', '_value': [0, 1]}},"
        " {'_name': 'C'}]}, 'z': {'_type': 'choice', '_value': ['s', 't']}}",
        "{'D': {'_name': 'A', 'x': 1}, 'z': 's'}",
        "{'D': {'_name': 'A', 'x': 1}, 'z': 't'}",
        "{'D': {'_name': 'A', 'x': 2}, 'z': 's'}",
        "{'D': {'_name': 'A', 'x': 2}, 'z': 't'}",
        "{'D': {'_name': 'B', 'y': 0.5}, 'z': 's'}",
        "{'D': {'_name': 'B', 'y': 0.5}, 'z': 't'}",
        "{'D': {'_name': 'C'}, 'z': 's'}", "{'D': {'_name': 'C'}, 'z': 't'}",
        "{'D': {'_name': 'B', 'y': 0.25}, 'z': 's'}",
        "{'D': {'_name': 'B', 'y': 0.25}, 'z': 't'}",
        "{'D': {'_name': 'B', 'y': 0.75}, 'z': 's'}",
        "{'D': {'_name': 'B', 'y': 0.75}, 'z': 't'}",
        "{'D': {'_name': 'B', 'y': 0.125}, 'z': 's'}");
}

/* NNI's quantiles are SciPy's sqrt(2) * erfinv(2p - 1), one unit in the last
 * place off; so y alone is compared with a tolerance. */
TEST(grid_mixes_kinds_in_the_order_of_nni)
{
    static const double want[][3] = {
        {5, 0, 2},
        {7, 0, 2},
        {5, 0, 3},
        {5, -0.6744897501960818, 2},
        {5, -0.6744897501960818, 3},
        {5, 0.6744897501960818, 2},
        {5, 0.6744897501960818, 3},
        {7, 0, 3},
        {7, -0.6744897501960818, 2},
        {7, -0.6744897501960818, 3},
        {7, 0.6744897501960818, 2},
        {7, 0.6744897501960818, 3},
        {5, -1.1503493803760083, 2},
        {5, -1.1503493803760083, 3},
    };
    struct walk *w =
        walk_new("{'x': {'_type': 'choice', '_value': [5, 7]},"
                 " 'y': {'_type': 'normal', '_value': [0, 1]},"
                 " 'z': {'_type': 'quniform', '_value': [2, 3, 1]}}");

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        double y, x[3];
        struct line got = step(w);

        CHECK_EQ(sscanf(got.text, "{\"x\": %lf, \"y\": %lf, \"z\": %lf}", &x[0],
                        &y, &x[2]),
                 3);
        CHECK(x[0] == want[i][0] && x[2] == want[i][2]);
        CHECK(fabs(y - want[i][1]) <= 4e-16 * fabs(want[i][1]));
    }
    walk_free(w);
}

TEST(grid_gives_every_combination_once)
{
    struct walk *w =
        walk_new("{'a': {'_type': 'quniform', '_value': [0, 7, 1]},"
                 " 'b': {'_type': 'randint', '_value': [0, 5]},"
                 " 'c': {'_type': 'qnormal', '_value': [0, 0.01, 1]},"
                 " 'd': {'_type': 'choice', '_value': [1, 1, 2]}}");
    size_t n = 0;

    while (strcmp(step(w).text, "none") != 0)
        n++;
    CHECK_EQ(n, 8 * 5 * 1 * 2); /* c never leaves 0 */
    walk_free(w);
}
