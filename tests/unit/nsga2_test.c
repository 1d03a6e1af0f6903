/* SPDX-License-Identifier: MIT */
/* What the population does.  What saves, fails and ends every tuner meets in
 * tuner_property_test.c. */
#include "nsga2/nsga2.h"

#include "cmaes/space.h"
#include "numerics/front.h"
#include "unit/prior_help.h"
#include "t.h"

#include <math.h>
#include <string.h>

NOT_UNDER_TSAN;

struct study {
    struct space *space;
    struct nsga2 *nsga2;
    uint64_t seed, next_id;
};

static const struct nsga2_options usual = {.population = 20,
                                           .crossover = 0.9,
                                           .crossover_index = 5,
                                           .mutation_index = 5};

static void
study_open(struct study *s, const char *space,
           const struct nsga2_options *options)
{
    const struct tp_space *dims;
    struct prior_random random;
    struct cmaes_dim *axes;
    struct prior prior;

    *s = (struct study){.seed = 1, .space = help_space(space)};
    dims = space_dims(s->space);
    axes = calloc(dims->n_dims + 1, sizeof *axes);
    for (size_t i = 0; i < dims->n_dims; i++)
        axes[i] = cmaes_dim_of(TP_DIM(dims, i));
    prior = help_prior(s->space);
    random = help_random(&s->seed);
    s->nsga2 = nsga2_new(options, &random, &prior, axes, 2);
    CHECK(s->nsga2 != NULL);
}

static void
study_close(struct study *s)
{
    nsga2_free(s->nsga2);
    space_free(s->space);
}

typedef double objective(const double *x, double *costs);

static void
study_run(struct study *s, objective *f, int trials)
{
    double x[X_MAX], costs[2];

    for (int i = 0; i < trials; i++) {
        uint64_t id = s->next_id++;
        double violation;

        nsga2_ask(s->nsga2, id, x);
        help_check_point(s->space, x);
        violation = f(x, costs);
        CHECK_EQ(nsga2_tell(s->nsga2, id, x, costs, violation), 0);
    }
}

#define U "{'_type': 'uniform', '_value': [-5, 5]}"
#define FOUR "{'a': " U ", 'b': " U ", 'c': " U ", 'd': " U "}"

/* The front lies between two valleys, sqrt(f1) + sqrt(f2) = 4. */
static double
valleys(const double *x, double *costs)
{
    costs[0] = costs[1] = 0;
    for (int i = 0; i < 4; i++) {
        costs[0] += (x[i] - 1) * (x[i] - 1);
        costs[1] += (x[i] + 1) * (x[i] + 1);
    }
    return 0;
}

TEST(nsga2_comes_to_the_front)
{
    struct study s;

    study_open(&s, FOUR, &usual);
    study_run(&s, valleys, 600);
    CHECK_EQ(s.nsga2->n, 20);
    for (size_t i = 0; i < s.nsga2->n; i++) {
        const double *c = s.nsga2->members[i]->costs;
        double sum = sqrt(c[0]) + sqrt(c[1]);

        CHECK(sum >= 4 - 1e-9 && sum < 4.4);
    }
    study_close(&s);
}

/* The first two costs are far from each other where a limit holds. */
static double
limited(const double *x, double *costs)
{
    valleys(x, costs);
    return x[0] > -1.5 ? x[0] + 1.5 : 0;
}

TEST(nsga2_goes_to_where_limits_hold)
{
    struct study s;

    study_open(&s, FOUR, &usual);
    study_run(&s, limited, 600);
    for (size_t i = 0; i < s.nsga2->n; i++)
        CHECK(s.nsga2->members[i]->violation == 0);
    study_close(&s);
}

static double
of_all_kinds(const double *x, double *costs)
{
    costs[0] = (x[0] != 1) + fabs(x[1] - 3) + fabs(x[2]);
    costs[1] = (x[0] != 2) + fabs(x[1] - 1) + fabs(x[2] - 1);
    return 0;
}

TEST(nsga2_has_children_of_all_kinds)
{
    struct study s;
    size_t right = 0;

    study_open(&s, MIXED_SPACE, &usual);
    study_run(&s, of_all_kinds, 400);
    for (size_t i = 0; i < s.nsga2->n; i++)
        right += s.nsga2->members[i]->x[0] != 0;
    CHECK(right >= 18);
    study_close(&s);
}

/* A child has each number from a parent, unless it was crossed or changed; and
 * what neither parent has is drawn. */
TEST(nsga2_children_have_what_their_parents_have)
{
    const struct nsga2_options two = {.population = 2, .crossover = 1};
    const char *space = "{'n': {'_type': 'choice', '_value': ["
                        "   {'_name': 'a', 'x': " U "},"
                        "   {'_name': 'b', 'y': " U "},"
                        "   {'_name': 'c', 'z': " U "}]}}";
    const double mother[] = {0, -3, NAN, NAN}, father[] = {1, NAN, 4, NAN};
    const double even[] = {1, 2}, odd[] = {2, 1};
    size_t of_neither = 0;
    struct study s;
    double x[X_MAX];

    study_open(&s, space, &two);
    CHECK_EQ(nsga2_tell(s.nsga2, 0, mother, even, 0), 0);
    CHECK_EQ(nsga2_tell(s.nsga2, 1, father, odd, 0), 0);
    for (uint64_t id = 2; id < 300; id++) {
        nsga2_ask(s.nsga2, id, x);
        help_check_point(s.space, x);
        CHECK(s.nsga2->story.is_child);
        of_neither += x[0] == 2;
    }
    CHECK(of_neither > 20 && of_neither < 80);
    study_close(&s);
}

TEST(nsga2_keeps_the_best_in_their_order)
{
    double costs[2 * 20], violations[20];
    uint32_t order[20];
    struct study s;

    study_open(&s, FOUR, &usual);
    study_run(&s, limited, 70);
    for (size_t i = 0; i < 20; i++) {
        memcpy(costs + 2 * i, s.nsga2->members[i]->costs, 2 * sizeof *costs);
        violations[i] = s.nsga2->members[i]->violation;
    }
    CHECK_EQ(front_order(costs, violations, 20, 2, order), 0);
    for (size_t i = 1; i < 20; i++)
        CHECK(!front_dominates(costs + 2 * i, violations[i],
                               costs + 2 * (i - 1), violations[i - 1], 2));
    study_close(&s);
}

TEST(nsga2_takes_no_parent_that_has_no_costs)
{
    const double none[] = {1, NAN}, all[] = {-INFINITY, 1}, fine[] = {1, 1};
    const double x[] = {1, 2, 3, 4};
    struct study s;

    study_open(&s, FOUR, &usual);
    CHECK_EQ(nsga2_tell(s.nsga2, 0, x, none, 0), 0);
    CHECK_EQ(nsga2_tell(s.nsga2, 1, x, all, 0), 0);
    CHECK_EQ(s.nsga2->n, 0);
    CHECK_EQ(nsga2_tell(s.nsga2, 2, x, fine, NAN), 0);
    CHECK_EQ(s.nsga2->n, 1);
    CHECK(s.nsga2->members[0]->violation == INFINITY);
    study_close(&s);
}

TEST(nsga2_asked_again_has_another_child)
{
    double x[X_MAX], y[X_MAX], z[X_MAX];
    struct study s, t;

    study_open(&s, FOUR, &usual);
    study_open(&t, FOUR, &usual);
    study_run(&s, valleys, 40);
    study_run(&t, valleys, 40);
    nsga2_ask(s.nsga2, 40, x);
    nsga2_ask(s.nsga2, 40, y);
    CHECK(memcmp(x, y, 4 * sizeof *x) != 0);
    nsga2_ask(t.nsga2, 40, z);
    CHECK(memcmp(x, z, 4 * sizeof *x) == 0);
    study_close(&s);
    study_close(&t);
}
