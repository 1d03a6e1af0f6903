/* SPDX-License-Identifier: MIT */
#include "tpe/axis.h"
#include "tpe/carry.h"
#include "tpe/good.h"
#include "tpe/points.h"
#include "tpe/rest.h"

#include "numerics/elementary.h"
#include "t.h"
#include "unit/tpe_help.h"

#include <math.h>
#include <stdlib.h>

NOT_UNDER_TSAN;

#define ONE(type, values) "{'x': {'_type': '" type "', '_value': " values "}}"
#define NESTED                                                      \
    "{'d': {'_type': 'choice', '_value': ["                         \
    " {'_name': 'A', 'n': {'_type': 'randint', '_value': [0, 5]}}," \
    " {'_name': 'B', 'u': {'_type': 'uniform', '_value': [0, 1]}}," \
    " {'_name': 'C'}]},"                                            \
    " 'w': {'_type': 'quniform', '_value': [0, 300, 1]}}"

/* Where the first integers of a space lie in another one with another step. */
TEST(tpe_carry_follows_the_step_of_integers)
{
    const struct tp_host host = {._struct_size = sizeof host};
    struct space *old = help_space(ONE("qrandint", "[0, 200, 10]"));
    struct space *other = help_space(ONE("qrandint", "[-40, 240, 20]"));
    struct space *plain = help_space(ONE("randint", "[5, 200]"));
    struct carry from, to;
    size_t dims[1];
    double x;

    CHECK_EQ(tpe_carry_init(&from, &host, space_dims(old)), 0);
    CHECK_EQ(tpe_carry_init(&to, &host, space_dims(other)), 0);
    tpe_carry_match(&from, &to, dims);
    CHECK(tpe_carry_point(&from, &to, dims, (const double[]){16}, &x));
    CHECK(x == 10); /* 160 */
    CHECK(!tpe_carry_point(&from, &to, dims, (const double[]){15}, &x));
    tpe_carry_fini(&to);
    CHECK_EQ(tpe_carry_init(&to, &host, space_dims(plain)), 0);
    CHECK(tpe_carry_point(&from, &to, dims, (const double[]){16}, &x));
    CHECK(x == 155);
    CHECK(!tpe_carry_point(&from, &to, dims, (const double[]){0}, &x));
    tpe_carry_fini(&to);
    tpe_carry_fini(&from);
    space_free(old);
    space_free(other);
    space_free(plain);
}

static struct axis
axis(const char *text)
{
    struct space *space = help_space(text);
    struct axis a = tpe_axis_of(TP_DIM(space_dims(space), 0));

    space_free(space);
    return a;
}

/* Cells lie side by side and fill the range; masses add up to 1. */
static void
check_cells(const char *text, double n)
{
    struct axis a = axis(text);
    double end = 0, prior = 0, kernel = 0, mu, s = 0.13;

    CHECK(a.kind == AXIS_RANGE && a.n == n);
    mu = tpe_axis_of_column(&a, (size_t)n / 3);
    for (size_t i = 0; i < (size_t)n; i++) {
        double at = tpe_axis_of_column(&a, i);
        struct place p = tpe_axis_place(&a, a.origin + a.unit * at);

        CHECK_EQ(tpe_axis_column(&a, at), i);
        CHECK(fabs(p.low - end) < 1e-12);
        CHECK(p.low <= p.at && p.at <= p.high && p.at == at);
        end = p.high;
        prior += num_exp(tpe_axis_log_prior(&a, p));
        kernel += num_exp(tpe_axis_log_kernel(mu, s, p));
    }
    CHECK(fabs(end - 1) < 1e-12);
    CHECK(fabs(prior - 1) < 1e-9);
    CHECK(fabs(kernel - (tpe_axis_below(&a, mu, s, 1) -
                         tpe_axis_below(&a, mu, s, 0))) < 1e-9);
}

TEST(tpe_axis_cells_fill_the_range)
{
    check_cells(ONE("randint", "[3, 9]"), 6);
    check_cells(ONE("qrandint", "[3, 16, 4]"), 4);
    check_cells(ONE("lograndint", "[3, 9]"), 6);
    check_cells(ONE("quniform", "[0, 10, 2.5]"), 5);
    check_cells(ONE("quniform", "[2, 10, 5]"), 3);
    check_cells(ONE("qloguniform", "[8, 1024, 8]"), 128);
    check_cells(ONE("qloguniform", "[1, 2981, 1]"), 2981);
    check_cells(ONE("quniform", "[0.1, 1, 0.05]"), 19);
}

TEST(tpe_axis_knows_what_has_one_value)
{
    CHECK(axis(ONE("uniform", "[3, 3]")).kind == AXIS_SINGLE);
    CHECK(axis(ONE("normal", "[3, 0]")).kind == AXIS_SINGLE);
    CHECK(axis(ONE("randint", "[3, 4]")).kind == AXIS_SINGLE);
    CHECK(axis(ONE("choice", "['a']")).kind == AXIS_SINGLE);
    CHECK(axis(ONE("quniform", "[0, 1, 7]")).kind == AXIS_SINGLE);
    CHECK(axis(ONE("choice", "['a', 'b']")).kind == AXIS_CATEGORY);
    CHECK(axis(ONE("lognormal", "[0, 1]")).kind == AXIS_NORMAL);
}

/* What is drawn gives a place that gives the same value again. */
static void
check_draws(const char *text)
{
    struct space *space = help_space(text);
    struct axis a = tpe_axis_of(TP_DIM(space_dims(space), 0));

    for (int i = 0; i < 200; i++) {
        double mu = tpe_axis_draw_prior(&a, (i + 0.5) / 200), s = 0.1, x;
        double low = tpe_axis_below(&a, mu, s, 0);
        double high = tpe_axis_below(&a, mu, s, 1);
        double u = tpe_axis_draw(&a, mu, s, low + (high - low) * 0.3);
        struct place p;

        x = tpe_axis_value(&a, u);
        p = tpe_axis_place(&a, x);
        CHECK(space_check(space, &x, NULL) == 0);
        CHECK(p.low <= p.at && p.at <= p.high);
        CHECK(space_value(space, 0, x) ==
              space_value(space, 0, tpe_axis_value(&a, p.at)));
        CHECK(isfinite(tpe_axis_log_kernel(mu, s, p)));
        CHECK(isfinite(tpe_axis_log_prior(&a, p)));
    }
    space_free(space);
}

TEST(tpe_axis_draws_what_a_trial_can_have)
{
    check_draws(ONE("uniform", "[-3, 9]"));
    check_draws(ONE("loguniform", "[0.00001, 10]"));
    check_draws(ONE("randint", "[-3, 9]"));
    check_draws(ONE("quniform", "[0, 10, 3]"));
    check_draws(ONE("qloguniform", "[1, 1000, 7]"));
    check_draws(ONE("normal", "[5, 2]"));
    check_draws(ONE("qnormal", "[5, 2, 0.5]"));
    check_draws(ONE("lognormal", "[0, 1]"));
    check_draws(ONE("qlognormal", "[0, 1, 1]"));
}

TEST(tpe_axis_has_the_tails)
{
    struct place far = {40, 39.5, 40.5}, near = {0, -0.5, 0.5};

    CHECK(tpe_axis_log_kernel(0, 1, far) < -690);
    CHECK(isfinite(tpe_axis_log_kernel(0, 1, far)));
    /* erf(0.5 / sqrt(2)) */
    CHECK(fabs(num_exp(tpe_axis_log_kernel(0, 1, near)) - 0.38292492254802624) <
          1e-15);
}

/* A sample with 40 results in a nested space. */
static void
fill(struct points *p, const struct axis *axes, const struct space *space)
{
    double x[X_MAX];

    for (uint64_t i = 0; i < 40; i++) {
        space_sample(space, 4, i, x);
        CHECK(tpe_points_add(p, axes, i, x) == 0);
        tpe_points_set(p, i, POINT_DONE, (double)((i * 7) % 40), 0);
    }
}

static void
places(const struct axis *axes, size_t n, const double *x, struct place *at)
{
    for (size_t d = 0; d < n; d++)
        at[d] = isnan(x[d]) ? (struct place){NAN, NAN, NAN}
                            : tpe_axis_place(&axes[d], x[d]);
}

/* Every point of NESTED with 64 steps for `u`, whose densities are averaged:
 * the sum of the masses of all points, under `log_density`. */
static double
total(const struct axis *axes,
      double (*log_density)(void *ctx, const struct place *at), void *ctx)
{
    double sum = 0;

    for (int w = 0; w <= 300; w++)
        for (int i = 0; i < 5 + 64 + 1; i++) {
            double x[4] = {i < 5 ? 0 : i < 69 ? 1 : 2, NAN, NAN, w};
            struct place at[4];

            if (i < 5)
                x[1] = i;
            else if (i < 69)
                x[2] = (i - 5 + 0.5) / 64;
            places(axes, 4, x, at);
            sum += num_exp(log_density(ctx, at)) / (i >= 5 && i < 69 ? 64 : 1);
        }
    return sum;
}

static double
good_density(void *ctx, const struct place *at)
{
    double out;

    tpe_good_score(ctx, at, 1, &out);
    return out;
}

static double
rest_density(void *ctx, const struct place *at)
{
    return tpe_rest_score(ctx, at, INFINITY);
}

TEST(tpe_good_is_a_distribution)
{
    struct space *space = help_space(NESTED);
    struct axis axes[X_MAX];
    size_t n = help_axes(space, axes);
    struct points p;
    struct good g;

    tpe_points_init(&p, n);
    fill(&p, axes, space);
    CHECK(tpe_good_init(&g, axes, n) == 0);
    CHECK(tpe_good_set(&g, &p, p.ranked, 7, 1) == 0);
    CHECK(fabs(total(axes, good_density, &g) - 1) < 1e-4);
    tpe_good_fini(&g);
    tpe_points_fini(&p);
    space_free(space);
}

/* The sum over kernels, each worked out by itself. */
static double
slowly(const struct rest *r, const struct points *p, const struct place *at)
{
    double sum = 0;

    for (size_t k = 0; k <= p->n; k++) {
        double t = 0, hit, miss;

        for (size_t d = 0; d < p->n_dims; d++) {
            const struct axis *a = &r->axes[d];
            double mu = k < p->n ? tpe_points_at(p, k)[d] : NAN;
            double s = r->dims[d].s;

            if (isnan(at[d].at))
                continue;
            tpe_axis_category(a, r->width_n, &hit, &miss);
            if (isnan(mu))
                t += tpe_axis_log_prior(a, at[d]);
            else if (a->kind == AXIS_CATEGORY)
                t += mu == at[d].at ? hit : miss;
            else
                t += tpe_axis_log_kernel(mu, s, at[d]) -
                     num_log(tpe_axis_below(a, mu, s, 1) -
                             tpe_axis_below(a, mu, s, 0));
        }
        sum += num_exp(t) / (double)(p->n + 1);
    }
    return num_log(sum);
}

TEST(tpe_rest_is_a_distribution_and_the_sum_of_its_kernels)
{
    struct space *space = help_space(NESTED);
    struct axis axes[X_MAX];
    size_t n = help_axes(space, axes);
    double weight[REST_MOST], x[X_MAX];
    struct place at[X_MAX];
    struct points p;
    struct rest r;

    tpe_points_init(&p, n);
    fill(&p, axes, space);
    CHECK(tpe_rest_init(&r, axes, n, REST_MOST) == 0);
    for (size_t i = 0; i < p.n; i++) {
        weight[i] = 1;
        CHECK(tpe_rest_put(&r, &p, i) == 0);
    }
    tpe_rest_shape(&r, &p, p.n);
    tpe_rest_weigh(&r, weight, 1);
    CHECK(fabs(total(axes, rest_density, &r) - 1) < 1e-4);
    for (uint64_t i = 0; i < 50; i++) {
        space_sample(space, 9, i, x);
        places(axes, n, x, at);
        double all = slowly(&r, &p, at);

        CHECK(fabs(tpe_rest_score(&r, at, INFINITY) - all) < 1e-6);
        CHECK(fabs(tpe_rest_score(&r, at, all + 1e-5) - all) < 1e-6);
        CHECK(tpe_rest_score(&r, at, all - 1) == INFINITY);
    }
    tpe_rest_fini(&r);
    tpe_points_fini(&p);
    space_free(space);
}

/* Beyond REST_MOST the oldest lose their kernels: what is left scores as the
 * latest alone do. */
TEST(tpe_rest_has_the_latest)
{
    static double weight[REST_MOST];
    struct space *space = help_space(ONE("uniform", "[0, 1]"));
    struct axis axes[X_MAX];
    size_t n = help_axes(space, axes), more = 100;
    struct points p, late;
    struct rest r, s;
    struct place at = {0.3, 0.3, 0.3};

    tpe_points_init(&p, n);
    tpe_points_init(&late, n);
    CHECK(tpe_rest_init(&r, axes, n, REST_MOST) == 0 &&
          tpe_rest_init(&s, axes, n, REST_MOST) == 0);
    for (uint64_t i = 0; i < REST_MOST + more; i++) {
        double x;

        space_sample(space, 4, i, &x);
        CHECK(tpe_points_add(&p, axes, i, &x) == 0);
        CHECK(tpe_rest_put(&r, &p, i) == 0);
        if (i < more)
            continue;
        CHECK(tpe_points_add(&late, axes, i, &x) == 0);
        CHECK(tpe_rest_put(&s, &late, i - more) == 0);
    }
    CHECK_EQ(r.n, REST_MOST);
    CHECK_EQ(tpe_rest_point(&r, 0, p.n), REST_MOST);
    CHECK_EQ(tpe_rest_point(&r, more, p.n), more);
    for (size_t i = 0; i < REST_MOST; i++)
        weight[i] = 1;
    tpe_rest_shape(&r, &p, 500);
    tpe_rest_shape(&s, &late, 500);
    tpe_rest_weigh(&r, weight, 1);
    tpe_rest_weigh(&s, weight, 1);
    CHECK(fabs(tpe_rest_score(&r, &at, INFINITY) -
               tpe_rest_score(&s, &at, INFINITY)) < 1e-9);
    tpe_rest_fini(&r);
    tpe_rest_fini(&s);
    tpe_points_fini(&p);
    tpe_points_fini(&late);
    space_free(space);
}
