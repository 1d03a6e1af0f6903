/* SPDX-License-Identifier: MIT */
/* The numbers are those of NNI 3.0 with SciPy 1.10.1. */
#include "curvefitting/curvefitting.h"

#include "curvefitting/leastsquares.h"
#include "numerics/random.h"
#include "t.h"

#include "elementary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

NOT_UNDER_TSAN;

#define MANY 64

static const double curve[] = {0.3, 0.45, 0.55, 0.62, 0.66, 0.69, 0.71, 0.725};
#define N_CURVE (sizeof curve / sizeof *curve)

static size_t
curve_named(const char *name)
{
    for (size_t i = 0; i < N_CURVES; i++)
        if (strcmp(curves[i].name, name) == 0)
            return i;
    CHECK(false);
    return 0;
}

static int
fit(size_t k, const double *y, size_t n, double *p)
{
    double x[MANY], ln_x[MANY], work[MANY * (CURVE_PARAMS_MAX + 2)];
    struct curve_places places = {x, ln_x, n};

    for (size_t i = 0; i < n; i++) {
        x[i] = (double)(i + 1);
        ln_x[i] = num_log(x[i]);
    }
    return curve_fit(k, &places, y, p, work);
}

static double
uniform(void *ctx, uint32_t b, uint32_t draw)
{
    struct random_stream s = random_stream(*(uint64_t *)ctx, RANDOM_TEST, 0, b);

    return random_uniform(&s, draw);
}

static struct prediction
predicted(const double *y, size_t n, double target, uint64_t seed)
{
    struct predict_random random = {uniform, &seed};
    struct prediction p;

    CHECK_EQ(predict(y, n, target, &random, &p), 0);
    return p;
}

static bool
near(double got, double want, double tolerance)
{
    bool ok = fabs(got - want) <= tolerance;

    if (!ok)
        printf("# got %.17g, expected %.17g\n", got, want);
    return ok;
}

TEST(curvefitting_curves_have_the_values_of_nni)
{
    double at_9 = 0, at_15 = 0;

    CHECK(near(
        curve_value(curve_named("vap"), 9, curves[curve_named("vap")].params),
        0.5591906328335763, 1e-15));
    CHECK(near(curve_value(curve_named("logx_linear"), 15,
                           curves[curve_named("logx_linear")].params),
               1.0704360293379522, 1e-15));
    for (size_t i = 0; i < N_CURVES; i++) {
        at_9 += curve_value(i, 9, curves[i].params) / N_CURVES;
        at_15 += curve_value(i, 15, curves[i].params) / N_CURVES;
    }
    CHECK(near(at_9, 1.1543379521172443, 1e-14));
    CHECK(near(at_15, 1.6949395581692737, 1e-14));
}

TEST(curvefitting_fits_what_scipy_fits)
{
    static const struct {
        const char *name;
        int rc;
        double at_20;
        double params[3]; /* 0: not known */
    } table[N_CURVES] = {
        {"vap", 0, 0.874247, {0}},
        {"pow3", 0, 0.873005, {0}},
        {"linear", 0, 1.461845, {0.056369048, 0.33446429}},
        {"logx_linear", 0, 0.938498, {0.20978472, 0.31003955}},
        {"dr_hill_zero_background",
         0,
         0.814918,
         {0.87325551, 1.1033063, 1.832678}},
        {"log_power", 0, 0.814918, {0}},
        {"pow4", -1, 0.363691, {0}},
        {"mmf", 0, 0.777707, {0}},
        {"exp4", 0, 0.749998, {0}},
        {"ilog2", -1, 0.636462, {0.78, 0.43}},
        {"weibull", 0, 0.749998, {0}},
        {"janoschek", 0, 0.749998, {0}},
    };

    for (size_t i = 0; i < N_CURVES; i++) {
        double p[CURVE_PARAMS_MAX];

        CHECK_STR(curves[i].name, table[i].name);
        CHECK_EQ(fit(i, curve, N_CURVE, p), table[i].rc);
        CHECK(near(curve_value(i, 20, p), table[i].at_20, 1e-6));
        for (size_t k = 0; k < 3; k++)
            if (table[i].params[k] != 0)
                CHECK(near(p[k], table[i].params[k],
                           1e-7 * fabs(table[i].params[k])));
    }
}

TEST(curvefitting_fits_nothing_to_fewer_values_than_parameters)
{
    double p[CURVE_PARAMS_MAX];

    CHECK_EQ(fit(curve_named("mmf"), curve, 3, p), -1);
    CHECK(p[0] == 0.7 && p[3] == 5);
    CHECK_EQ(fit(curve_named("linear"), curve, 2, p), 0);
    CHECK(near(p[0], 0.15, 1e-9) && near(p[1], 0.15, 1e-9));
}

/* Rosenbrock's valley, from where More, Garbow and Hillstrom start it. */
static void
rosenbrock(void *ctx, const double *p, double *r, size_t m)
{
    (void)ctx;
    (void)m;
    r[0] = 10 * (p[1] - p[0] * p[0]);
    r[1] = 1 - p[0];
}

TEST(curvefitting_least_squares_find_the_end_of_a_valley)
{
    double p[2] = {-1.2, 1}, work[2 * 4];

    CHECK_EQ(leastsquares(rosenbrock, NULL, p, 2, 2, work), 0);
    CHECK(near(p[0], 1, 1e-12) && near(p[1], 1, 1e-12));
}

static void
never_finite(void *ctx, const double *p, double *r, size_t m)
{
    (void)ctx;
    (void)p;
    for (size_t i = 0; i < m; i++)
        r[i] = i == 0 ? INFINITY : NAN;
}

TEST(curvefitting_least_squares_say_when_there_is_nothing)
{
    double p[2] = {3, 4}, work[4 * 4];

    CHECK_EQ(leastsquares(never_finite, NULL, p, 2, 4, work), -1);
    CHECK(p[0] == 3 && p[1] == 4);
}

TEST(curvefitting_predicts_what_nni_predicts)
{
    static const char *const agree[] = {"dr_hill_zero_background",
                                        "log_power",
                                        "mmf",
                                        "exp4",
                                        "weibull",
                                        "janoschek"};

    for (uint64_t seed = 0; seed < 20; seed++) {
        struct prediction p = predicted(curve, N_CURVE, 20, seed);

        CHECK_EQ(p.n_fitted, 10);
        CHECK_EQ(p.n_agreed, 6);
        for (size_t i = 0; i < 6; i++)
            CHECK_STR(curves[p.agreed[i]].name, agree[i]);
        /* NNI, seeds 0 to 4: 0.77621 to 0.77632 */
        CHECK(p.value > 0.7760 && p.value < 0.7765);
    }
}

TEST(curvefitting_does_not_predict_what_jumps_about)
{
    double y[] = {1, 199, 0, 199, 1, 209, 2};
    struct prediction p = predicted(y, 7, 20, 0);

    CHECK(isnan(p.value));
    CHECK(p.n_agreed < 4);
}

TEST(curvefitting_predicts_from_whatever_there_is)
{
    static const double odd[][6] = {
        {0, 0, 0, 0, 0, 0},          {1, 1, 1, 1, 1, 1},
        {1e300, 1e300, 1e300, 1, 1}, {-1, -2, -3, -4, -5, -6},
        {1e-300, 2e-300, 3e-300},    {5, 4, 3, 2, 1, 0},
        {-1e308, 1e308, -1e308},     {0.1, 0.2, 0.4, 0.8, 1.6, 3.2},
    };

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t n = 1; n <= 6; n++) {
            struct prediction p = predicted(odd[i], n, 20, 0);

            CHECK(p.n_agreed <= N_CURVES);
            CHECK_EQ(isfinite(p.value) != 0, p.n_agreed >= 4);
        }
}

/* ---- the rule ---- */

static struct curvefitting
rule(bool maximize)
{
    return (struct curvefitting){.maximize = maximize,
                                 .target = 20,
                                 .threshold = 0.95,
                                 .start_step = 6,
                                 .gap = 1};
}

static struct curvefitting_verdict
assess(const struct curvefitting *c, const double *values, size_t n,
       size_t *judged)
{
    uint64_t seed = 1;
    struct predict_random random = {uniform, &seed};
    struct curvefitting_verdict v;

    CHECK_EQ(curvefitting_assess(c, values, n, judged, &random, &v), 0);
    return v;
}

TEST(curvefitting_compares_with_a_share_of_the_best)
{
    struct curvefitting c = rule(true);
    struct curvefitting_verdict v;
    size_t judged = 0;

    CHECK_EQ(assess(&c, curve, N_CURVE, &judged).reason, CURVEFITTING_NO_BEST);
    curvefitting_succeeded(&c, (double[]){9, 0.8}, 2);
    curvefitting_succeeded(&c, (double[]){0.7}, 1); /* no better */
    v = assess(&c, curve, N_CURVE, &judged);
    CHECK_EQ(v.reason, CURVEFITTING_JUDGED);
    CHECK(!v.stop && v.best == 0.8 && v.limit == 0.95 * 0.8);
    CHECK(near(v.predicted, 0.7763, 3e-4));
    CHECK_EQ(judged, N_CURVE);
    curvefitting_succeeded(&c, (double[]){0.82}, 1);
    judged = 0;
    CHECK(assess(&c, curve, N_CURVE, &judged).stop); /* below 0.779 */
}

TEST(curvefitting_turns_values_of_which_lower_is_better)
{
    struct curvefitting up = rule(true), down = rule(false);
    double loss[N_CURVE], falling[15];
    struct curvefitting_verdict v, w;
    size_t judged = 0;

    for (size_t i = 0; i < N_CURVE; i++)
        loss[i] = -curve[i];
    curvefitting_succeeded(&up, (double[]){0.82}, 1);
    curvefitting_succeeded(&down, (double[]){-0.82}, 1);
    v = assess(&up, curve, N_CURVE, &judged);
    judged = 0;
    w = assess(&down, loss, N_CURVE, &judged);
    CHECK(w.stop && w.predicted == -v.predicted && w.limit == -v.limit);

    /* A loss that falls to about 0.3: 5 % of room beyond the best. */
    for (size_t i = 0; i < 15; i++)
        falling[i] = 0.3 + 0.7 / (double)(i + 1) + 0.01 * (double)(i % 3);
    down = rule(false);
    curvefitting_succeeded(&down, (double[]){0.2}, 1);
    judged = 0;
    v = assess(&down, falling, 15, &judged);
    CHECK_EQ(v.reason, CURVEFITTING_JUDGED);
    CHECK(near(v.limit, 0.21, 1e-15) && v.predicted > 0.3 && v.stop);
}

TEST(curvefitting_waits_for_start_step_and_gap)
{
    struct curvefitting c = rule(true);
    size_t judged = 0;

    c.gap = 2;
    curvefitting_succeeded(&c, (double[]){0.5}, 1);
    CHECK_EQ(assess(&c, curve, 5, &judged).reason, CURVEFITTING_EARLY);
    CHECK_EQ(assess(&c, curve, 6, &judged).reason, CURVEFITTING_NO_PREDICTION);
    CHECK_EQ(judged, 6); /* all the same */
    CHECK_EQ(assess(&c, curve, 7, &judged).reason, CURVEFITTING_GAP);
    CHECK_EQ(assess(&c, curve, 8, &judged).reason, CURVEFITTING_JUDGED);
    CHECK_EQ(judged, 8);
}

TEST(curvefitting_judges_long_trials_each_quarter)
{
    struct curvefitting c = rule(true);
    double values[200];
    size_t judged = 0, times = 0;

    curvefitting_succeeded(&c, (double[]){0.5}, 1);
    for (size_t i = 0; i < 200; i++)
        values[i] = 1 - 1 / (double)(i + 1);
    for (size_t n = 1; n <= 200; n++) {
        size_t before = judged;

        assess(&c, values, n, &judged);
        times += judged != before;
        if (n >= 6 && n <= 20)
            CHECK_EQ(judged, n);
    }
    CHECK(times > 20 && times < 30);
}

TEST(curvefitting_judges_no_infinities)
{
    struct curvefitting c = rule(true);
    double values[8] = {0.1, 0.2, NAN, 0.3, 0.4, 0.5, 0.6, 0.7};
    size_t judged = 0;

    curvefitting_succeeded(&c, (double[]){INFINITY}, 1);
    CHECK(!c.has_best);
    curvefitting_succeeded(&c, (double[]){0.5}, 1);
    CHECK_EQ(assess(&c, values, 8, &judged).reason, CURVEFITTING_NOT_FINITE);
    values[2] = -INFINITY;
    CHECK_EQ(assess(&c, values, 8, &judged).reason, CURVEFITTING_NOT_FINITE);
    CHECK_EQ(judged, 0);
}
