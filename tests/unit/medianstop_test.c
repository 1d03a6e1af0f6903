/* SPDX-License-Identifier: MIT */
#include "medianstop/medianstop.h"

#include "numerics/random.h"
#include "t.h"

#include <math.h>
#include <stdlib.h>

/* One trial as a test writes it. */
struct run {
    struct medianstop_trial *trial;
    double values[64];
    size_t n;
};

static struct medianstop_verdict
report(struct medianstop *m, struct run *r, double value)
{
    struct medianstop_verdict v;

    r->values[r->n++] = value;
    CHECK(medianstop_assess(m, &r->trial, r->values, r->n, &v) == 0);
    return v;
}

static void
end(struct medianstop *m, struct run *r, bool succeeded)
{
    CHECK(medianstop_ended(m, &r->trial, r->values, succeeded) == 0);
    CHECK(r->trial == NULL);
}

static void
complete(struct medianstop *m, const double *values, size_t n)
{
    struct run r = {0};

    for (size_t i = 0; i < n; i++)
        report(m, &r, values[i]);
    end(m, &r, true);
}

TEST(medianstop_compares_best_with_the_median_of_averages)
{
    struct medianstop *m = medianstop_new(true, 0);
    struct run b = {0}, c = {0};
    struct medianstop_verdict v;

    complete(m, (double[]){1, 2, 3}, 3); /* averages 1, 1.5, 2 */
    CHECK(report(m, &b, 0.5).stop);
    v = report(m, &c, 1);
    CHECK(!v.stop && v.compared && v.best == 1 && v.median == 1);
    v = report(m, &c, 1.2);
    CHECK(v.stop && v.best == 1.2 && v.median == 1.5);
    medianstop_free(m); /* b and c are still running */
}

TEST(medianstop_takes_the_middle_that_stops_fewer)
{
    for (int maximize = 0; maximize < 2; maximize++) {
        struct medianstop *m = medianstop_new(maximize, 0);
        struct run r = {0};

        for (int i = 1; i <= 4; i++)
            complete(m, (double[]){i}, 1);
        CHECK(report(m, &r, 2.5).median == (maximize ? 2 : 3));
        CHECK(!report(m, &r, 2.5).compared); /* nobody got this far */
        end(m, &r, true);
        medianstop_free(m);
    }
}

TEST(medianstop_counts_successes_only)
{
    struct medianstop *m = medianstop_new(true, 0);
    struct run failed = {0}, r = {0}, next = {0};

    report(m, &failed, 100);
    end(m, &failed, false);
    CHECK(!report(m, &r, 1).compared);
    end(m, &r, true);
    end(m, &r, true); /* an end without a report before it is nothing */
    CHECK(report(m, &next, 1).median == 1);
    medianstop_free(m);
}

TEST(medianstop_leaves_out_trials_shorter_than_start_step)
{
    struct medianstop *m = medianstop_new(true, 3);
    struct run r = {0};

    complete(m, (double[]){9, 9}, 2); /* never recorded */
    report(m, &r, 1);
    report(m, &r, 1);
    CHECK(r.trial == NULL);
    CHECK(!report(m, &r, 1).compared);
    CHECK(r.trial != NULL);
    end(m, &r, true); /* averages of all three values, the early ones, too */
    r = (struct run){.n = 2, .values = {0, 0}};
    CHECK(report(m, &r, 0).median == 1);
    medianstop_free(m);
}

TEST(medianstop_keeps_a_leading_nan_as_python_does)
{
    struct medianstop *m = medianstop_new(false, 0);
    struct run first = {0}, later = {0};

    complete(m, (double[]){1, 1, 1}, 3);
    complete(m, (double[]){NAN, 1, 1}, 3); /* its averages are not entered */
    CHECK(!report(m, &first, NAN).stop);
    CHECK(!report(m, &first, 50).stop);
    CHECK(report(m, &later, 5).stop);
    CHECK(report(m, &later, NAN).stop);
    CHECK(!report(m, &later, -INFINITY).stop);
    medianstop_free(m);
}

/* NNI's rules, as slowly as NNI applies them. */

#define TRIALS 40
#define STEPS 12

struct naive {
    bool maximize;
    size_t start_step;
    double running[TRIALS][STEPS];
    size_t n_running[TRIALS];
    double average[TRIALS][STEPS];
    size_t n_average[TRIALS];
};

static int
ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static size_t
averages_at(const struct naive *m, size_t step, double *out)
{
    size_t n = 0;

    for (size_t i = 0; i < TRIALS; i++)
        if (m->n_average[i] >= step && !isnan(m->average[i][step - 1]))
            out[n++] = m->average[i][step - 1];
    qsort(out, n, sizeof *out, ascending);
    return n;
}

static struct medianstop_verdict
naive_assess(struct naive *m, size_t id, const double *values, size_t n)
{
    struct medianstop_verdict v = {.best = NAN, .median = NAN};
    double sorted[TRIALS], best = values[0];
    size_t n_sorted;

    if (n < m->start_step)
        return v;
    for (size_t i = m->n_running[id]; i < n; i++)
        m->running[id][i] = values[i];
    m->n_running[id] = n;
    for (size_t i = 1; i < n; i++)
        if (m->maximize ? values[i] > best : values[i] < best)
            best = values[i];
    n_sorted = averages_at(m, n, sorted);
    if (n_sorted == 0)
        return v;
    v.compared = true;
    v.best = best;
    v.median = sorted[m->maximize ? (n_sorted - 1) / 2 : n_sorted / 2];
    v.stop = m->maximize ? best < v.median : best > v.median;
    return v;
}

static void
naive_ended(struct naive *m, size_t id, bool succeeded)
{
    double sum = 0;

    for (size_t i = 0; succeeded && i < m->n_running[id]; i++) {
        sum += m->running[id][i];
        m->average[id][i] = sum / (double)(i + 1);
    }
    m->n_average[id] = succeeded ? m->n_running[id] : 0;
    m->n_running[id] = 0;
}

static double
draw_value(const struct random_stream *s, uint32_t draw)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e308};
    double u = random_uniform(s, draw);

    if (u < 0.05)
        return odd[(size_t)(u / 0.05 * 6)];
    return u < 0.5 ? floor(u * 20) : 10 * u; /* many ties */
}

static void
same(struct medianstop_verdict got, struct medianstop_verdict want)
{
    CHECK_EQ(got.compared, want.compared);
    CHECK_EQ(got.stop, want.stop);
    CHECK(got.best == want.best || (isnan(got.best) && isnan(want.best)));
    CHECK(got.median == want.median ||
          (isnan(got.median) && isnan(want.median)));
}

/* Trials report in a drawn order, sometimes several values at once, and end
 * at a drawn time in a drawn way. */
static void
run_sequence(uint64_t seed)
{
    struct random_stream s = random_stream(seed, RANDOM_TEST, 0, 0);
    struct naive *naive = calloc(1, sizeof *naive);
    struct run runs[TRIALS] = {0};
    bool over[TRIALS] = {0};
    struct medianstop *m;

    naive->maximize = seed & 1;
    naive->start_step = seed / 2 % 5;
    m = medianstop_new(naive->maximize, naive->start_step);
    for (uint32_t draw = 0; draw < 800; draw += 4) {
        size_t id = (size_t)(random_uniform(&s, draw) * TRIALS);
        double u = random_uniform(&s, draw + 1);
        struct run *r = &runs[id];
        struct medianstop_verdict got;

        if (over[id])
            continue;
        if (r->n > 0 && (u < 0.15 || r->n + 2 > STEPS)) {
            naive_ended(naive, id, u < 0.12);
            end(m, r, u < 0.12);
            over[id] = true;
            continue;
        }
        if (u > 0.9) /* a gap was closed: two at once */
            r->values[r->n++] = draw_value(&s, draw + 2);
        got = report(m, r, draw_value(&s, draw + 3));
        same(got, naive_assess(naive, id, r->values, r->n));
    }
    medianstop_free(m);
    free(naive);
}

TEST(medianstop_agrees_with_the_rules_applied_naively)
{
    for (uint64_t seed = 0; seed < 4000; seed++)
        run_sequence(seed);
}

TEST(medianstop_keeps_up_with_many_completed_trials)
{
    enum { N = 20001, LONG = 50 };
    struct medianstop *m = medianstop_new(true, 0);
    double values[LONG];
    struct run r = {0};

    for (size_t i = 0; i < N; i++) {
        double level = (double)(i * 7919 % N); /* a permutation of 0..N-1 */

        for (size_t k = 0; k < LONG; k++)
            values[k] = level;
        complete(m, values, LONG);
    }
    for (size_t k = 0; k < LONG; k++)
        CHECK(report(m, &r, 0).median == (N - 1) / 2);
    medianstop_free(m);
}
