/* SPDX-License-Identifier: MIT */
#include "unit/space_help.h"

#include <math.h>

NOT_UNDER_TSAN;

/* Values of "p" of a one-dimension space, read back from the JSON. */
static double
value_of(const struct space *s, uint64_t seed, uint64_t id)
{
    struct json *doc;
    struct jval v;
    double x, value = NAN;

    space_sample(s, seed, id, &x);
    doc = help_json(help_decode(s, &x).text);
    CHECK(jval_get(json_root(doc), "p", &v) && jval_number(v, &value));
    json_free(doc);
    return value;
}

static void
check_grid(const char *entry, double q, double low, double high)
{
    char text[LINE_MAX_BYTES];
    struct space *s;

    snprintf(text, sizeof text, "{'p': %s}", entry);
    s = help_space(text);
    for (uint64_t id = 0; id < 2000; id++) {
        double v = value_of(s, 3, id);

        CHECK(low <= v && v <= high);
        CHECK(v == low || v == high || nearbyint(v / q) * q == v);
    }
    space_free(s);
}

TEST(space_q_kinds_lie_on_the_grid)
{
    check_grid("{'_type': 'quniform', '_value': [2, 10, 5]}", 5, 2, 10);
    check_grid("{'_type': 'quniform', '_value': [-5.5, -0.5, 6]}", 6, -5.5,
               -0.5);
    check_grid("{'_type': 'qloguniform', '_value': [0.001, 100, 1]}", 1, 0.001,
               100);
    check_grid("{'_type': 'qnormal', '_value': [-1.5, 5, 0.1]}", 0.1, -INFINITY,
               INFINITY);
    check_grid("{'_type': 'qlognormal', '_value': [-1.5, 5, 0.1]}", 0.1, 0,
               INFINITY);
}

/* Pearson's statistic of how often values[k] came, against expected shares. */
static double
chi_square(const char *entry, const double *values, const double *shares,
           size_t n)
{
    enum { SAMPLES = 20000 };
    char text[LINE_MAX_BYTES];
    size_t counts[16] = {0}, hits = 0;
    struct space *s;
    double sum = 0;

    snprintf(text, sizeof text, "{'p': %s}", entry);
    s = help_space(text);
    for (uint64_t id = 0; id < SAMPLES; id++) {
        double v = value_of(s, 11, id);

        for (size_t k = 0; k < n; k++)
            if (v == values[k]) {
                counts[k]++;
                hits++;
            }
    }
    CHECK_EQ(hits, SAMPLES);
    for (size_t k = 0; k < n; k++) {
        double want = shares[k] * SAMPLES;

        sum += ((double)counts[k] - want) * ((double)counts[k] - want) / want;
    }
    space_free(s);
    return sum;
}

TEST(space_frequencies)
{
    static const double even[] = {0.2, 0.2, 0.2, 0.2, 0.2};
    static const double edges[] = {0.125, 0.25, 0.25, 0.25, 0.125};
    double log_shares[3] = {log(1.5), log(2.5 / 1.5), log(3 / 2.5)};

    for (size_t k = 0; k < 3; k++)
        log_shares[k] /= log(3);
    /* 99.99 % of chi-square: 23.5 with 4, 18.4 with 2 degrees of freedom. */
    CHECK(chi_square("{'_type': 'choice', '_value': [5, 4, 3, 2, 1]}",
                     (const double[]){1, 2, 3, 4, 5}, even, 5) < 23.5);
    CHECK(chi_square("{'_type': 'randint', '_value': [-2, 3]}",
                     (const double[]){-2, -1, 0, 1, 2}, even, 5) < 23.5);
    CHECK(chi_square("{'_type': 'quniform', '_value': [0, 10, 2.5]}",
                     (const double[]){0, 2.5, 5, 7.5, 10}, edges, 5) < 23.5);
    CHECK(chi_square("{'_type': 'quniform', '_value': [2, 10, 5]}",
                     (const double[]){2, 5, 10},
                     (const double[]){0.0625, 0.625, 0.3125}, 3) < 18.4);
    CHECK(chi_square("{'_type': 'qloguniform', '_value': [1, 3, 1]}",
                     (const double[]){1, 2, 3}, log_shares, 3) < 18.4);
    CHECK(chi_square("{'_type': 'qrandint', '_value': [1, 10, 2]}",
                     (const double[]){1, 3, 5, 7, 9}, even, 5) < 23.5);
    /* Each has all of the logarithmic scale that is rounded to it. */
    for (size_t k = 0; k < 3; k++)
        log_shares[k] = log((k + 1.5) / (k + 0.5)) / log(7);
    CHECK(chi_square("{'_type': 'lograndint', '_value': [1, 4]}",
                     (const double[]){1, 2, 3}, log_shares, 3) < 18.4);
}

/* Mean and standard deviation of n samples, each within 4 of its own standard
 * errors of what is expected. */
static void
check_moments(const char *entry, bool of_log, double mean, double deviation,
              double kurtosis)
{
    enum { SAMPLES = 20000 };
    char text[LINE_MAX_BYTES];
    struct space *s;
    double sum = 0, squares = 0;

    snprintf(text, sizeof text, "{'p': %s}", entry);
    s = help_space(text);
    for (uint64_t id = 0; id < SAMPLES; id++) {
        double v = value_of(s, 13, id);

        v = (of_log ? log(v) : v) - mean;
        sum += v;
        squares += v * v;
    }
    sum /= SAMPLES * deviation;
    squares /= SAMPLES * deviation * deviation;
    CHECK(fabs(sum) < 4 / sqrt(SAMPLES));
    CHECK(fabs(squares - 1) < 4 * sqrt((kurtosis - 1) / SAMPLES));
    space_free(s);
}

TEST(space_moments)
{
    check_moments("{'_type': 'uniform', '_value': [-1, 5]}", false, 2,
                  6 / sqrt(12), 1.8);
    check_moments("{'_type': 'loguniform', '_value': [0.001, 10]}", true,
                  log(0.1), log(10000) / sqrt(12), 1.8);
    check_moments("{'_type': 'normal', '_value': [-1, 5]}", false, -1, 5, 3);
    check_moments("{'_type': 'lognormal', '_value': [2, 0.5]}", true, 2, 0.5,
                  3);
    check_moments("{'_type': 'qnormal', '_value': [7, 5, 0.01]}", false, 7, 5,
                  3);
}
