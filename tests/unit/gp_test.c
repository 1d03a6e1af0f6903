/* SPDX-License-Identifier: MIT */
/* What the process says, what the search finds, and where it keeps away. */
#include "unit/gp_help.h"

#include <math.h>
#include <string.h>

NOT_UNDER_TSAN;

/* ---- the process ---- */

enum { ROWS = 21 };

static double
number(uint64_t i, uint32_t draw)
{
    struct random_stream s = random_stream(3, RANDOM_TEST, i, 0);

    return random_uniform(&s, draw);
}

static double
wave(const double *x)
{
    return 3 * x[0] + (x[1] - 0.4) * (x[1] - 0.4) * 8;
}

/* Of three columns, the last of which means nothing. */
static void
process_begin(struct process *p)
{
    size_t *group = calloc(3, sizeof *group);

    for (size_t i = 0; i < 3; i++)
        group[i] = i;
    CHECK_EQ(process_init(p, 3, group, 3, 32), 0);
    for (size_t i = 0; i < ROWS; i++) {
        for (uint32_t k = 0; k < 3; k++)
            p->x[i * 3 + k] = number(i, k);
        p->y[i] = wave(p->x + i * 3) - 2.3;
    }
}

static void
lanes_at(double *c, size_t lane, const double *x)
{
    for (size_t i = 0; i < 3; i++)
        c[i * NUM_LANES + lane] = x[i];
}

TEST(gp_process_of_one_row_more_is_the_same_as_anew)
{
    struct process a, b;

    process_begin(&a);
    process_begin(&b);
    CHECK_EQ(process_extend(&a, ROWS), 0);
    for (size_t i = 1; i <= ROWS; i++)
        CHECK_EQ(process_extend(&b, i), 0);
    for (size_t i = 0; i < ROWS; i++)
        CHECK(memcmp(a.root + i * a.room, b.root + i * b.room,
                     (i + 1) * sizeof *a.root) == 0);
    process_fini(&a);
    process_fini(&b);
}

TEST(gp_process_learns_what_matters)
{
    double c[3 * NUM_LANES], mean[NUM_LANES], variance[NUM_LANES];
    struct process p;

    process_begin(&p);
    p.n_told = ROWS;
    CHECK_EQ(process_fit(&p, 60), 0);
    CHECK(p.weight[2] < p.weight[0] && p.weight[2] < p.weight[1]);
    CHECK(p.noise < 1e-3);
    for (size_t k = 0; k < NUM_LANES; k++)
        lanes_at(c, k, (double[]){number(k, 7), number(k, 8), number(k, 9)});
    process_predict(&p, c, mean, variance);
    for (size_t k = 0; k < NUM_LANES; k++) {
        double x[] = {c[k], c[NUM_LANES + k]};

        CHECK(fabs(mean[k] - (wave(x) - 2.3)) < 0.2);
        CHECK(variance[k] > 0 && variance[k] < 0.1);
    }
    CHECK(fabs(process_fitted(&p, 4) - p.y[4]) < 0.02);
    process_fini(&p);
}

/* Of two rows: the density of a normal distribution, and the priors. */
TEST(gp_process_posterior_is_the_density)
{
    size_t *group = calloc(1, sizeof *group);
    double v, n, k, det, want;
    struct process p;

    CHECK_EQ(process_init(&p, 1, group, 1, 2), 0);
    p.x[1] = 0.3;
    p.y[0] = -1;
    p.y[1] = 0.5;
    p.n_told = 2;
    CHECK_EQ(process_fit(&p, 3), 0);
    v = p.variance;
    n = p.noise;
    k = 0.3 * sqrt(5 * p.weight[0]);
    k = v * (1 + k + k * k / 3) * exp(-k);
    det = (v + n) * (v + n) - k * k;
    want = -0.5 * ((v + n) * (1 + 0.25) + k) / det - 0.5 * log(det);
    want += -0.1 * (p.weight[0] + 1 / p.weight[0]);
    want += log(v) - v + 0.1 * p.theta[2] - 30 * n;
    CHECK(fabs(process_posterior(&p) - want) < 1e-6);
    process_fini(&p);
}

TEST(gp_process_slopes_are_those_of_its_answers)
{
    double c[3 * NUM_LANES], mean[NUM_LANES], variance[NUM_LANES];
    double g[3 * NUM_LANES], by_mean[NUM_LANES], by_variance[NUM_LANES];
    struct process p;

    process_begin(&p);
    CHECK_EQ(process_extend(&p, ROWS), 0);
    process_learn(&p, ROWS);
    /* Lane 0 is the point, lanes 1 to 6 lie beside it. */
    for (size_t k = 0; k < NUM_LANES; k++) {
        double x[] = {0.31, 0.62, 0.53};

        if (k > 0 && k < 7)
            x[(k - 1) / 2] += k % 2 ? 1e-4 : -1e-4;
        lanes_at(c, k, x);
        by_mean[k] = 2;
        by_variance[k] = -3;
    }
    process_predict(&p, c, mean, variance);
    process_slopes(&p, c, 3, by_mean, by_variance, g);
    for (size_t i = 0; i < 3; i++) {
        size_t up = 2 * i + 1, down = up + 1;
        double want = 2 * (mean[up] - mean[down]) / 2e-4 -
                      3 * (variance[up] - variance[down]) / 2e-4;

        CHECK(fabs(g[i * NUM_LANES] - want) < 1e-3 * (1 + fabs(want)));
    }
    process_fini(&p);
}

/* ---- the search ---- */

struct study {
    struct gp_host host;
    struct gp *gp;
    uint64_t next_id;
    size_t n;
    double best, x[X_MAX]; /* the best point's */
};

static void
study_open(struct study *s, const char *space)
{
    const struct gp_options options = {.startup = 10, .growth = GP_GROWTH};

    memset(s, 0, sizeof *s);
    s->best = INFINITY;
    s->gp = gp_host_open(&s->host, space, &options);
    s->n = s->gp->n_dims;
}

static void
study_close(struct study *s)
{
    gp_free(s->gp);
    space_free(s->host.space);
}

static uint64_t
study_ask(struct study *s, double *x)
{
    CHECK_EQ(gp_ask(s->gp, s->next_id, x), 0);
    help_decode(s->host.space, x);
    return s->next_id++;
}

static void
study_tell(struct study *s, uint64_t id, const double *x, double value)
{
    CHECK_EQ(gp_tell(s->gp, id, x, GP_FINAL, value), 0);
    if (value < s->best) {
        s->best = value;
        memcpy(s->x, x, s->n * sizeof *x);
    }
}

typedef double objective(const struct study *s, const double *x);

static void
study_run(struct study *s, objective *f, int trials)
{
    double x[X_MAX];

    for (int i = 0; i < trials; i++) {
        uint64_t id = study_ask(s, x);

        study_tell(s, id, x, f(s, x));
    }
}

#define U "{'_type': 'uniform', '_value': [-5, 5]}"
#define FOUR "{'a': " U ", 'b': " U ", 'c': " U ", 'd': " U "}"

static double
sphere(const struct study *s, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum += (x[i] - 1.3) * (x[i] - 1.3);
    return sum;
}

static double
long_sphere(const struct study *s, const double *x)
{
    return 1024 * sphere(s, x) + 4096;
}

TEST(gp_finds_the_middle_of_a_sphere)
{
    struct study s;

    study_open(&s, FOUR);
    study_run(&s, sphere, 40);
    CHECK(s.best < 0.02);
    study_close(&s);
}

TEST(gp_goes_the_same_way_whatever_the_scale_and_another_with_another_seed)
{
    struct study a, b;
    double x[X_MAX], y[X_MAX];

    study_open(&a, FOUR);
    study_open(&b, FOUR);
    for (int i = 0; i < 30; i++) {
        uint64_t id = study_ask(&a, x);

        CHECK_EQ(study_ask(&b, y), id);
        for (size_t k = 0; k < 4; k++)
            CHECK(fabs(x[k] - y[k]) < 1e-3);
        study_tell(&a, id, x, sphere(&a, x));
        study_tell(&b, id, x, long_sphere(&b, x));
    }
    b.host.seed = 2;
    study_ask(&a, x);
    study_ask(&b, y);
    CHECK(memcmp(x, y, 4 * sizeof *x) != 0);
    study_close(&a);
    study_close(&b);
}

#define WIDE                                                \
    "{'w': {'_type': 'uniform', '_value': [0.00001, 0.1]}," \
    " 'n': {'_type': 'randint', '_value': [1, 10001]}," U2 "}"
#define U2 " 'u': {'_type': 'uniform', '_value': [0, 1]}"

/* By the logarithms of the two that span decades. */
static double
by_logarithms(const struct study *s, const double *x)
{
    double w = log10(x[0]) + 3.5, n = log10(x[1] + 1) - 2, u = x[2] - 0.3;

    (void)s;
    return w * w + n * n + u * u;
}

static double
linear(const struct study *s, const double *x)
{
    double w = x[0] * 10 - 0.6, n = x[1] / 1e4 - 0.3, u = x[2] - 0.3;

    (void)s;
    return w * w + n * n + u * u;
}

TEST(gp_goes_by_logarithms_where_results_are_likelier_so)
{
    struct study s;

    study_open(&s, WIDE);
    study_run(&s, by_logarithms, 50);
    CHECK(gp_is_warped(s.gp, 0) && gp_is_warped(s.gp, 1));
    CHECK(!gp_is_warped(s.gp, 2));
    CHECK(s.best < 0.01);
    study_close(&s);
    study_open(&s, WIDE);
    study_run(&s, linear, 50);
    CHECK(!gp_is_warped(s.gp, 0) && !gp_is_warped(s.gp, 1));
    CHECK(s.best < 0.001);
    study_close(&s);
}

#define MIXED                                                    \
    "{'c': {'_type': 'choice', '_value': ['p', 'q', 'r', 's']}," \
    " 'q': {'_type': 'quniform', '_value': [0, 20, 1]},"         \
    " 'i': {'_type': 'randint', '_value': [0, 12]},"             \
    " 'n': {'_type': 'normal', '_value': [3, 2]},"               \
    " 'u': {'_type': 'loguniform', '_value': [0.0001, 1]}}"

static double
mixed(const struct study *s, const double *x)
{
    double sum = x[0] == 2 ? 0 : 1;

    sum += 0.3 * fabs(space_value(s->host.space, 1, x[1]) - 17);
    sum += 0.2 * fabs(x[2] - 4) + 0.2 * (x[3] - 4) * (x[3] - 4);
    return sum + 0.1 * (x[4] + 5) * (x[4] + 5);
}

TEST(gp_finds_elements_and_rounded_values)
{
    struct study s;

    study_open(&s, MIXED);
    study_run(&s, mixed, 80);
    CHECK(s.best < 0.1);
    CHECK(s.x[0] == 2 && s.x[2] == 4);
    CHECK(space_value(s.host.space, 1, s.x[1]) == 17);
    study_close(&s);
}

#define NESTED                                                         \
    "{'m': {'_type': 'choice', '_value': ["                            \
    "   {'_name': 'a', 'x': " U "},"                                   \
    "   {'_name': 'b', 'y': " U ", 'k': {'_type': 'choice',"           \
    "                                    '_value': ['p', 'q', 'r']}}," \
    "   {'_name': 'c'}]}, 'z': " U "}"

static double
nested(const struct study *s, const double *x)
{
    double z = x[s->n - 1] - 2, own = 3;

    if (x[0] == 0)
        own = 0.2 * (x[1] + 1) * (x[1] + 1) + 1;
    if (x[0] == 1)
        own = 0.1 * (x[2] - 3) * (x[2] - 3) + (x[3] != 1);
    return own + 0.1 * z * z;
}

TEST(gp_finds_the_best_branch)
{
    struct study s;

    study_open(&s, NESTED);
    study_run(&s, nested, 60);
    CHECK(s.best < 0.02);
    CHECK(s.x[0] == 1 && s.x[3] == 1);
    study_close(&s);
}

/* Trials fail on more than half of the space, the best point at its edge. */
static bool
fails(const double *x)
{
    return x[0] + x[1] > 2.5 || x[2] > 3;
}

TEST(gp_keeps_away_from_where_trials_fail)
{
    size_t early = 0, late = 0;
    struct study s;
    double x[X_MAX];

    study_open(&s, FOUR);
    for (int i = 0; i < 90; i++) {
        uint64_t id = study_ask(&s, x);

        if (!fails(x)) {
            study_tell(&s, id, x, sphere(&s, x));
            continue;
        }
        CHECK_EQ(gp_lost(s.gp, id, x, true, GP_FAILED), 0);
        early += i < 45;
        late += i >= 45;
    }
    CHECK(s.best < 0.03);
    CHECK(late < 35 && early < 30);
    CHECK(s.gp->story.feasible > 0 && s.gp->story.feasible < 1);
    study_close(&s);
}

TEST(gp_keeps_away_from_what_is_out)
{
    struct study s;
    double x[8][X_MAX];

    study_open(&s, FOUR);
    study_run(&s, sphere, 30);
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

TEST(gp_repeats_nothing_while_there_is_something_new)
{
    struct study s;
    double x[X_MAX];
    bool seen[18] = {false};

    study_open(&s, "{'a': {'_type': 'choice', '_value': [1, 2, 3]},"
                   " 'b': {'_type': 'randint', '_value': [0, 6]}}");
    for (int i = 0; i < 18; i++) {
        uint64_t id = study_ask(&s, x);
        size_t at = (size_t)(x[0] * 6 + x[1]);

        CHECK(!seen[at]);
        seen[at] = true;
        study_tell(&s, id, x, x[0] + x[1]);
    }
    study_ask(&s, x);
    study_close(&s);
}

static double
plain(const struct study *s, const double *x)
{
    (void)s;
    (void)x;
    return 1;
}

TEST(gp_draws_in_between_while_there_is_no_progress)
{
    struct study s;
    size_t apart = 0;

    study_open(&s, FOUR);
    for (int i = 0; i < 45; i++) {
        study_run(&s, plain, 1);
        CHECK(i > GP_STALL || !s.gp->story.is_apart);
        apart += s.gp->story.is_apart;
    }
    CHECK_EQ(apart, 8);
    study_run(&s, sphere, 20); /* below 1, and ever lower */
    CHECK(!s.gp->story.is_apart);
    study_close(&s);
}

#define MIDDLE                                               \
    "{'n': {'_type': 'normal', '_value': [3, 1]},"           \
    " 'l': {'_type': 'loguniform', '_value': [0.01, 100]},"  \
    " 'i': {'_type': 'randint', '_value': [0, 9]},"          \
    " 'c': {'_type': 'choice', '_value': [{'_name': 'only'," \
    " 'u': " U "}]}}"
#define IN_THE_MIDDLE                                    \
    "{\"n\": 3.0, \"l\": 1.0000000000000009, \"i\": 4, " \
    "\"c\": {\"_name\": \"only\", \"u\": 0.0}}"

/* Whether that trial, the first asked for, is in the middle. */
static bool
begins_in_middle(bool may, uint64_t id, bool has_result, bool again)
{
    const struct gp_options options = {
        .startup = 10, .growth = GP_GROWTH, .from_middle = may};
    struct gp_host host;
    struct gp *gp = gp_host_open(&host, MIDDLE, &options);
    double x[X_MAX];
    bool is_middle;

    if (has_result) {
        CHECK_EQ(gp_ask(gp, id + 1, x), 0);
        CHECK_EQ(gp_tell(gp, id + 1, x, GP_FINAL, 1), 0);
    }
    CHECK_EQ(gp_ask(gp, id, x), 0);
    if (again)
        CHECK_EQ(gp_ask(gp, id, x), 0);
    is_middle = strcmp(help_decode(host.space, x).text, IN_THE_MIDDLE) == 0;
    CHECK_EQ(gp->story.is_middle, is_middle);
    gp_free(gp);
    space_free(host.space);
    return is_middle;
}

TEST(gp_begins_in_the_middle_unless_it_knows_more)
{
    CHECK(begins_in_middle(true, 0, false, false));
    CHECK(!begins_in_middle(false, 0, false, false));
    CHECK(!begins_in_middle(true, 1, false, false));
    CHECK(!begins_in_middle(true, 0, true, false));
    CHECK(!begins_in_middle(true, 0, false, true));
}

TEST(gp_takes_results_late_and_early_and_from_outside)
{
    struct study s;
    double x[X_MAX], y[X_MAX] = {-4, 4, 4, -4};
    uint64_t id;

    study_open(&s, FOUR);
    study_run(&s, sphere, 12);
    id = study_ask(&s, x);
    CHECK_EQ(gp_lost(s.gp, id, x, true, GP_FAILED), 0);
    CHECK_EQ(s.gp->n_failed, 1);
    CHECK_EQ(gp_tell(s.gp, id, x, GP_FINAL, 3), 0);
    CHECK_EQ(s.gp->n_failed, 0);
    CHECK_EQ(s.gp->results.n, 13);
    CHECK_EQ(gp_tell(s.gp, GP_NO_ID, y, GP_FINAL, NAN), 0);
    CHECK_EQ(s.gp->n_failed, 1);
    id = study_ask(&s, x);
    CHECK_EQ(gp_tell(s.gp, id, x, GP_STOPPED, -50), 0);
    id = study_ask(&s, x);
    CHECK_EQ(gp_lost(s.gp, id, x, false, GP_FAILED), 0);
    CHECK_EQ(s.gp->results.n, 15);
    CHECK_EQ(s.gp->pending.n, 0);
    study_run(&s, sphere, 30);
    CHECK(s.best < 0.05); /* the one that was stopped leads nowhere */
    study_close(&s);
}

/* How many of the newest `n` results the process has, of `all` from outside
 * that are as good as each other, or were stopped and have no value. */
static size_t
newest_known(size_t all, size_t n, bool were_stopped)
{
    struct study s;
    double x[X_MAX] = {0};
    size_t known = 0;

    study_open(&s, FOUR);
    for (size_t i = 0; i < all; i++) {
        x[0] = 10 * number(i, 0) - 5;
        CHECK_EQ(gp_tell(s.gp, GP_NO_ID, x,
                         were_stopped && i % 3 == 0 ? GP_STOPPED : GP_FINAL,
                         were_stopped && i % 3 == 0 ? NAN : (double)(i % 2)),
                 0);
    }
    study_ask(&s, x);
    CHECK_EQ(s.gp->values[0].n_rows, 400);
    for (size_t i = 0; i < 400; i++)
        known += s.gp->values[0].rows[i] >= all - n;
    study_close(&s);
    return known;
}

TEST(gp_has_the_newest_of_many_results_though_the_old_ones_are_as_good)
{
    CHECK_EQ(newest_known(900, 200, false), 200);
    CHECK_EQ(newest_known(900, 200, true), 200);
}

TEST(gp_scores_what_is_better_higher_and_changes_nothing)
{
    const double good[] = {1.3, 1.25, 1.3, 1.35}, bad[] = {-4, 4, -4, -4};
    const double *points[] = {bad, good};
    double out[2], x[X_MAX], y[X_MAX];
    struct study a, b;

    study_open(&a, FOUR);
    study_open(&b, FOUR);
    CHECK_EQ(gp_score(a.gp, points, 2, out), 0);
    CHECK(isnan(out[0]) && isnan(out[1]));
    for (int i = 0; i < 25; i++) {
        study_run(&a, sphere, 1);
        study_run(&b, sphere, 1);
        CHECK_EQ(gp_score(a.gp, points, 2, out), 0);
    }
    CHECK(out[1] > out[0]);
    study_ask(&a, x);
    study_ask(&b, y);
    CHECK(memcmp(x, y, 4 * sizeof *x) == 0);
    study_close(&a);
    study_close(&b);
}
