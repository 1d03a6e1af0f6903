/* SPDX-License-Identifier: MIT */
/* How the search follows several costs, with limits, failures and ends.  What
 * saves, fails and ends every tuner meets in tuner_property_test.c. */
#include "gp/several.h"

#include "numerics/hypervolume.h"
#include "unit/gp_help.h"

#include <math.h>
#include <string.h>

NOT_UNDER_TSAN;

#define EACH_RULE(name)                    \
    static void name(enum several_rule r); \
    TEST(several_##name##_by_weights)      \
    {                                      \
        name(SEVERAL_WEIGHTS);             \
    }                                      \
    TEST(several_##name##_by_volume)       \
    {                                      \
        name(SEVERAL_VOLUME);              \
    }                                      \
    static void name(enum several_rule rule)

enum { TRIALS_MAX = 100, N_COSTS = 2 };

struct study {
    struct gp_host host;
    struct several *several;
    uint64_t next_id;
    size_t n; /* dimensions */
    double costs[TRIALS_MAX * N_COSTS];
    size_t n_costs; /* rows of them, within limits */
};

static void
study_open(struct study *s, const char *space, enum several_rule rule)
{
    const struct gp_options options = {
        .startup = 10,
        .growth = SEVERAL_GROWTH,
        .never_apart = true,
        .n_values = rule == SEVERAL_VOLUME ? N_COSTS : 1};
    struct gp *gp;

    memset(s, 0, sizeof *s);
    gp = gp_host_open(&s->host, space, &options);
    s->n = gp->n_dims;
    s->several = several_new(gp, rule, N_COSTS);
    CHECK(s->several != NULL);
}

static void
study_close(struct study *s)
{
    several_free(s->several);
    space_free(s->host.space);
}

static uint64_t
study_ask(struct study *s, double *x)
{
    CHECK_EQ(several_ask(s->several, s->next_id, x), 0);
    help_decode(s->host.space, x);
    return s->next_id++;
}

static void
study_tell(struct study *s, uint64_t id, const double *x, const double *costs,
           double violation)
{
    CHECK_EQ(several_tell(s->several, id, x, GP_FINAL, costs, violation), 0);
    if (violation <= 0)
        memcpy(s->costs + N_COSTS * s->n_costs++, costs,
               N_COSTS * sizeof *costs);
}

/* Costs at x, and how far x is beyond the limit. */
typedef double objective(const struct study *s, const double *x, double *costs);

static void
study_run(struct study *s, objective *f, int trials)
{
    double x[X_MAX], costs[N_COSTS];

    for (int i = 0; i < trials; i++) {
        uint64_t id = study_ask(s, x);
        double violation = f(s, x, costs);

        study_tell(s, id, x, costs, violation);
    }
}

static double
study_volume(const struct study *s, double a, double b)
{
    const double reference[N_COSTS] = {a, b};
    double out;

    CHECK_EQ(hypervolume(s->costs, s->n_costs, N_COSTS, reference, &out), 0);
    return out;
}

#define U "{'_type': 'uniform', '_value': [-5, 5]}"
#define FOUR "{'a': " U ", 'b': " U ", 'c': " U ", 'd': " U "}"

/* Two valleys: the front lies between them, sqrt(f1) + sqrt(f2) = 2. */
static double
valleys(const struct study *s, const double *x, double *costs)
{
    costs[0] = costs[1] = 0;
    for (size_t i = 0; i < s->n; i++) {
        costs[0] += (x[i] - 1) * (x[i] - 1) / (double)s->n;
        costs[1] += (x[i] + 1) * (x[i] + 1) / (double)s->n;
    }
    return 0;
}

static double
long_valleys(const struct study *s, const double *x, double *costs)
{
    valleys(s, x, costs);
    costs[1] = 1000 * costs[1] - 300;
    return 0;
}

/* Up to (6, 6) all have 36 - 8/3, and the best one alone has 25. */
EACH_RULE(finds_the_front_between_two_valleys)
{
    struct study s;

    study_open(&s, FOUR, rule);
    study_run(&s, valleys, 60);
    CHECK(study_volume(&s, 6, 6) > 32.5);
    CHECK(s.several->n_front >= 8);
    study_close(&s);
}

EACH_RULE(goes_by_no_unit)
{
    struct study s;

    study_open(&s, FOUR, rule);
    study_run(&s, long_valleys, 60);
    CHECK(study_volume(&s, 6, 5700) > 32500);
    study_close(&s);
}

#define MIXED                                                     \
    "{'c': {'_type': 'choice', '_value': ['p', 'q', 'r', 's']},"  \
    " 'i': {'_type': 'randint', '_value': [0, 12]},"              \
    " 'n': {'_type': 'choice', '_value': [{'_name': 'a', 'x': " U \
    "}, {'_name': 'b', 'y': " U "}]}}"

/* Each step of i trades the costs, in one branch alone. */
static double
mixed(const struct study *s, const double *x, double *costs)
{
    double own = x[2] == 0 ? 4 + x[3] * x[3] : (x[4] - 2) * (x[4] - 2) / 8;

    (void)s;
    own += x[0] == 2 ? 0 : 1 + x[0];
    costs[0] = own + x[1];
    costs[1] = own + 11 - x[1];
    return 0;
}

EACH_RULE(finds_elements_branches_and_steps)
{
    struct study s;

    study_open(&s, MIXED, rule);
    study_run(&s, mixed, 80);
    /* All of it: steps below the line from (0, 11) to (11, 0). */
    CHECK(study_volume(&s, 12, 12) > 0.93 * 78);
    study_close(&s);
}

/* Half of the front is beyond the limit, and so is most of the space. */
static double
limited(const struct study *s, const double *x, double *costs)
{
    valleys(s, x, costs);
    return fmax(x[0] + 1.5, 0);
}

EACH_RULE(goes_to_where_limits_hold)
{
    size_t before;
    struct study s;

    study_open(&s, FOUR, rule);
    study_run(&s, limited, 50);
    before = s.n_costs;
    study_run(&s, limited, 30);
    CHECK(s.n_costs - before >= 10);
    CHECK(study_volume(&s, 6, 6) > 22);
    study_close(&s);
}

EACH_RULE(takes_failures_stops_and_ends_late_and_early)
{
    const double none[] = {1, NAN}, bad[] = {30, 30}, good[] = {0.1, 0.1};
    const double y[X_MAX] = {-4, 4, 4, -4};
    struct study s;
    double x[X_MAX];
    uint64_t id;

    study_open(&s, FOUR, rule);
    study_run(&s, valleys, 12);
    id = study_ask(&s, x);
    CHECK_EQ(several_lost(s.several, id, x, true, GP_FAILED), 0);
    CHECK_EQ(s.several->n, 13);
    CHECK_EQ(s.several->gp->n_failed, 1);
    CHECK_EQ(several_tell(s.several, id, x, GP_FINAL, good, 0), 0);
    CHECK_EQ(s.several->n, 13);
    CHECK_EQ(s.several->gp->n_failed, 0);
    CHECK_EQ(s.several->n_front, 1);
    CHECK_EQ(several_tell(s.several, id, x, GP_FINAL, bad, 0), 0);
    CHECK(s.several->n_front > 1);
    CHECK_EQ(several_tell(s.several, GP_NO_ID, y, GP_FINAL, none, 0), 0);
    CHECK_EQ(several_tell(s.several, GP_NO_ID, y, GP_FINAL, bad, INFINITY), 0);
    CHECK_EQ(s.several->gp->n_failed, 2);
    id = study_ask(&s, x);
    CHECK_EQ(several_tell(s.several, id, x, GP_STOPPED, NULL, 0), 0);
    id = study_ask(&s, x);
    CHECK_EQ(several_tell(s.several, id, x, GP_STOPPED, good, 0), 0);
    id = study_ask(&s, x);
    CHECK_EQ(several_lost(s.several, id, x, false, GP_FAILED), 0);
    CHECK_EQ(s.several->n, 17);
    study_run(&s, valleys, 50);
    /* What was told of two points makes the costs look rough; the one that was
     * stopped leads nowhere. */
    CHECK(study_volume(&s, 6, 6) > (rule == SEVERAL_VOLUME ? 20 : 29));
    study_close(&s);
}

/* What is far beyond limits can be modelled. */
EACH_RULE(bears_that_all_are_stopped_or_beyond)
{
    const double costs[] = {1, 2};
    double x[X_MAX];
    struct study s;

    study_open(&s, FOUR, rule);
    for (int i = 0; i < 15; i++) {
        uint64_t id = study_ask(&s, x);

        CHECK(rule != SEVERAL_VOLUME || s.several->gp->story.n_modelled == 0);
        CHECK_EQ(several_tell(s.several, id, x, GP_STOPPED,
                              i % 2 == 0 ? costs : NULL, 0),
                 0);
    }
    for (int i = 0; i < 15; i++)
        study_tell(&s, study_ask(&s, x), x, costs, 1e301);
    CHECK(s.several->gp->story.n_modelled > 0);
    study_close(&s);
}

/* All are equally good, or beyond by as much but the last one. */
EACH_RULE(learns_from_the_newest_of_many)
{
    double x[X_MAX], costs[N_COSTS];
    struct study s;

    for (int limited = 0; limited < 2; limited++) {
        const struct gp *gp;

        study_open(&s, FOUR, rule);
        gp = s.several->gp;
        for (size_t i = 0; i < 450; i++) {
            space_sample(s.host.space, 1, i, x);
            costs[0] = x[0];
            costs[1] = -x[0];
            CHECK_EQ(several_tell(s.several, GP_NO_ID, x, GP_FINAL, costs,
                                  limited == 1 && i < 449 ? 1 : 0),
                     0);
        }
        study_ask(&s, x);
        CHECK_EQ(gp->values[0].n_rows, 400);
        CHECK_EQ(gp->values[0].rows[399], 449);
        CHECK_EQ(gp->story.n_modelled, 400);
        study_close(&s);
    }
}

EACH_RULE(keeps_away_from_what_is_out)
{
    struct study s;
    double x[8][X_MAX];

    study_open(&s, FOUR, rule);
    study_run(&s, valleys, 30);
    for (int i = 0; i < 8; i++)
        study_ask(&s, x[i]);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < i; k++) {
            double sum = 0;

            for (int d = 0; d < 4; d++)
                sum += fabs(x[i][d] - x[k][d]);
            CHECK(sum > 1e-3);
        }
    study_close(&s);
}

EACH_RULE(scores_what_is_better_higher_and_changes_nothing)
{
    const double good[] = {0.1, -0.1, 0, 0.2}, poor[] = {-4, 4, -4, -4};
    const double *points[] = {poor, good};
    double out[2], x[X_MAX], y[X_MAX];
    struct study a, b;

    study_open(&a, FOUR, rule);
    study_open(&b, FOUR, rule);
    for (int i = 0; i < 25; i++) {
        study_run(&a, valleys, 1);
        study_run(&b, valleys, 1);
        CHECK_EQ(several_score(a.several, points, 2, out), 0);
    }
    CHECK(out[1] > out[0]);
    study_ask(&a, x);
    study_ask(&b, y);
    CHECK(memcmp(x, y, 4 * sizeof *x) == 0);
    study_close(&a);
    study_close(&b);
}
