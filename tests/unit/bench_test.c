/* SPDX-License-Identifier: MIT */
#include "bench/search/archive.h"
#include "bench/search/bbob.h"
#include "bench/search/dims.h"
#include "bench/search/multi.h"
#include "bench/search/paired.h"
#include "bench/search/problem.h"
#include "bench/search/runs.h"
#include "bench/search/session.h"
#include "bench/search/table.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "numerics/hypervolume.h"
#include "numerics/random.h"
#include "t.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fmax(1, fabs(want));
}

/* ---- statistics ---- */

/* The table in Wilcoxon (1945) and every textbook since: two-sided, 5 %. */
TEST(bench_critical_values_are_those_of_the_tables)
{
    static const struct {
        size_t n;
        long critical;
    } table[] = {{1, -1},  {5, -1},  {6, 0},    {7, 2},    {8, 3},
                 {9, 5},   {10, 8},  {11, 10},  {12, 13},  {15, 25},
                 {20, 52}, {25, 89}, {30, 137}, {40, 264}, {50, 434}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        CHECK_EQ(paired_critical(table[i].n, 0.05), table[i].critical);
}

TEST(bench_critical_values_go_on_where_the_exact_ones_end)
{
    long exact = paired_critical(60, 0.05), next = paired_critical(61, 0.05);

    CHECK(next > exact && next < exact + 30);
    /* 100 * 101 / 4 - 1.96 * sqrt(100 * 101 * 201 / 24) = 1954.9 */
    CHECK_EQ(paired_critical(100, 0.05), 1954);
}

TEST(bench_selects_and_takes_medians)
{
    double v[] = {5, 1, 4, 1, 3, 9, 2, 6}, odd[] = {7, -1, 2}, one[] = {3};

    for (size_t k = 0; k < 8; k++) {
        static const double sorted[] = {1, 1, 2, 3, 4, 5, 6, 9};

        CHECK(paired_select(v, 8, k) == sorted[k]);
    }
    CHECK(paired_median(v, 8) == 3.5);
    CHECK(paired_median(odd, 3) == 2);
    CHECK(paired_median(one, 1) == 3);
}

TEST(bench_ranks_share_ties)
{
    static const double v[] = {2, 1, 2, 7};
    double ranks[4];

    paired_ranks(v, 4, ranks);
    CHECK(ranks[0] == 2.5 && ranks[1] == 1 && ranks[2] == 2.5 && ranks[3] == 4);
}

/* Six differences: 21 means of two, their median is the 11th, the interval all
 * of them.  By hand: of 1 ... 6 the means are 1, 1.5, 2, ..., 6. */
TEST(bench_interval_of_six_pairs_is_from_the_least_to_the_greatest)
{
    static const double d[] = {1, 2, 3, 4, 5, 6};
    struct paired p;

    CHECK_EQ(paired_compare(d, 6, 0.05, &p), 0);
    CHECK(p.has_interval && p.low == 1 && p.high == 6 && p.shift == 3.5);
    CHECK_EQ(p.wins, 0);
    CHECK_EQ(p.losses, 6);
}

/* Ten: the 9th and the 47th of 55 means.  Of 1 ... 10 the means in order are
 * 1, 1.5, 2, 2, 2.5, 2.5, 3, 3, 3, ...: the 9th is 3, by symmetry the 47th 8.
 */
TEST(bench_interval_of_ten_pairs_leaves_out_eight_means_on_each_side)
{
    static const double d[] = {10, 9, 1, 2, 8, 7, 3, 4, 6, 5};
    struct paired p;

    CHECK_EQ(paired_compare(d, 10, 0.05, &p), 0);
    CHECK(p.low == 3 && p.high == 8 && p.shift == 5.5);
}

TEST(bench_few_pairs_have_no_interval)
{
    static const double d[] = {-1, 0, 1, -2, -3};
    struct paired p;

    CHECK_EQ(paired_compare(d, 5, 0.05, &p), 0);
    CHECK(!p.has_interval && p.shift == -1);
    CHECK_EQ(p.wins, 3);
    CHECK_EQ(p.ties, 1);
    CHECK_EQ(p.losses, 1);
}

/* By hand: the sum of negative ranks is 1, and is at most so in 2 of 2^8 cases,
 * on either side. */
TEST(bench_p_values_are_those_of_the_interval)
{
    static const double d[] = {-1, 2, 3, 4, 5, 6, 7, 7};
    struct paired p;

    CHECK(near(paired_tail(3, 0), 1.0 / 8));
    CHECK(near(paired_tail(3, 3), 5.0 / 8)); /* {}, 1, 2, 3, 1 + 2 */
    CHECK(near(paired_tail(3, 6), 1));
    CHECK(fabs(paired_tail(100, 2525) - 0.5006858) < 1e-6);
    CHECK_EQ(paired_compare(d, 8, 4.0 / 256, &p), 0);
    CHECK(near(p.p, 4.0 / 256) && p.has_interval && p.low > 0);
    CHECK_EQ(paired_compare(d, 8, 3.9 / 256, &p), 0);
    CHECK(near(p.p, 4.0 / 256) && p.has_interval && p.low <= 0);
    CHECK_EQ(paired_compare(d, 8, 1.9 / 256, &p), 0);
    CHECK(!p.has_interval);
}

/* Holm's example has 0.01, 0.02, 0.03 and 0.06 of four: 0.0125 ends it at
 * 0.02, which 0.05 / 3 does not reach. */
TEST(bench_levels_are_holms)
{
    static const double p[] = {0.06, 0.01, 0.03, 0.02};
    static const double small[] = {0.03, 0.012, 0.001};
    double level[4];

    paired_holm(p, 4, 0.05, level);
    CHECK(near(level[1], 0.05 / 4));
    CHECK(near(level[3], 0.05 / 3));
    CHECK(near(level[2], 0.05 / 3) && near(level[0], 0.05 / 3));
    paired_holm(small, 3, 0.05, level);
    CHECK(near(level[2], 0.05 / 3) && near(level[1], 0.05 / 2));
    CHECK(near(level[0], 0.05));
}

/* ---- problems ---- */

/* f1, instance 1, in two dimensions: published with the suite. */
TEST(bench_bbob_instances_are_the_published_ones)
{
    struct bbob *b = bbob_new(1, 2, 1);

    CHECK(b != NULL);
    CHECK(near(bbob_optimum(b), 79.48));
    CHECK(near(bbob_optimal(b)[0], 0.2528));
    CHECK(near(bbob_optimal(b)[1], -1.1568));
    bbob_free(b);
    CHECK(bbob_new(2, 2, 1) == NULL);
    CHECK(bbob_new(1, 1, 1) == NULL);
    CHECK(bbob_new(1, BBOB_DIMS_MAX + 1, 1) == NULL);
}

TEST(bench_bbob_is_least_at_its_optimum)
{
    for (int f = 1; f < 24; f += 2)
        for (size_t d = 2; d <= 40; d += 19)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                struct bbob *b = bbob_new(f, d, seed);
                double x[BBOB_DIMS_MAX];

                CHECK(b != NULL);
                memcpy(x, bbob_optimal(b), d * sizeof *x);
                CHECK(fabs(bbob_value(b, x) - bbob_optimum(b)) < 1e-6);
                for (size_t i = 0; i < d; i++) {
                    x[i] += x[i] > 0 ? -0.3 : 0.3;
                    CHECK(bbob_value(b, x) > bbob_optimum(b));
                }
                bbob_free(b);
            }
}

static struct outcome
run(const struct problem *p, uint64_t trial, const char *text, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), JSON_STRICT, err);
    struct outcome o = {.value = NAN};

    CHECK(doc != NULL);
    if (problem_run(p, trial, json_root(doc), &o, err) != 0)
        o.value = NAN;
    json_free(doc);
    return o;
}

static double
value_of(const struct problem *p, const char *text, struct err *err)
{
    return run(p, 0, text, err).value;
}

/* Where the optimum of an instance is. */
static void
write_optimum(const char *name, uint64_t seed, struct buf *out)
{
    struct problem *p = problem_new(name, seed, NULL);

    CHECK(p != NULL);
    buf_clear(out);
    problem_write_optimum(p, out);
    problem_free(p);
}

static bool
is_bbob(const char *name)
{
    return strncmp(name, "bbob", 4) == 0;
}

TEST(bench_problems_are_least_at_their_optimum_alone)
{
    char name[PROBLEM_NAME_MAX], family[PROBLEM_NAME_MAX];
    struct err err = {0};
    struct buf b;

    buf_init(&b, 1 << 16);
    for (size_t at = 0; problem_list(at, name, family) == 0; at++)
        for (uint64_t seed = 0; seed < (is_bbob(name) ? 2 : 20); seed++) {
            struct problem *p = problem_new(name, seed, NULL);
            double best = problem_optimum(p);

            write_optimum(name, seed, &b);
            CHECK(fabs(value_of(p, buf_text(&b), &err) - best) < 1e-6);
            write_optimum(name, seed + 1, &b);
            CHECK(value_of(p, buf_text(&b), &err) > best + 1e-6);
            CHECK(isnan(value_of(p, "{\"no\": 1}", &err)));
            problem_free(p);
        }
    buf_fini(&b);
}

/* ---- several costs ---- */

/* Anywhere; on the fronts of the literature, which have the first parameters
 * free and the others at one value, where `at` is none. */
static void
draw_point(const struct multi *m, const struct random_stream *r, uint32_t draw,
           double at, struct point *p)
{
    const struct dim *dims = multi_dims(m);

    memset(p, 0, sizeof *p);
    for (size_t i = 0; dims[i].name != NULL; i++) {
        double u = random_uniform(r, draw + (uint32_t)i);

        if (dims[i].kind == DIM_CHOICE) {
            p->option[i] = (int)(u * (double)dims_options(&dims[i]));
            continue;
        }
        u = !isnan(at) && i + 1 >= multi_n_costs(m) ? at : u;
        p->value[i] = dims_value(&dims[i], u);
        p->unit[i] = dims_unit(&dims[i], p->value[i]);
    }
}

static double
volume_of_points(const struct multi *m, uint64_t seed, double at, size_t n)
{
    struct random_stream r = random_stream(seed, RANDOM_TEST, 1, 0);
    double *costs = calloc(n * MULTI_COSTS_MAX, sizeof *costs), out, beyond;
    size_t used = 0;
    struct point p;

    for (size_t i = 0; i < n; i++) {
        draw_point(m, &r, (uint32_t)i * 64, at, &p);
        multi_values(m, &p, costs + used * multi_n_costs(m), &beyond);
        CHECK(beyond >= 0 && (beyond == 0 || multi_is_limited(m)));
        used += beyond == 0;
    }
    CHECK_EQ(
        hypervolume(costs, used, multi_n_costs(m), multi_reference(m), &out),
        0);
    free(costs);
    return out / multi_ideal(m);
}

TEST(bench_several_costs_have_an_ideal_that_is_hardly_reached)
{
    for (size_t at = 0; multi_name(at) != NULL; at++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            struct multi *m = multi_new(multi_name(at), seed);
            double u = strcmp(multi_name(at), "zdt4") == 0 ||
                               strstr(multi_name(at), "dtlz2") != NULL
                           ? 0.5
                           : 0;
            bool is_known = strcmp(multi_family(at), "zdt") == 0 ||
                            strcmp(multi_family(at), "dtlz") == 0;
            double share = volume_of_points(m, seed, NAN, 500);

            CHECK(multi_ideal(m) > 0 && share < 0.98);
            if (is_known) {
                share = volume_of_points(m, seed, u, 500);
                CHECK(share > 0.85 && share <= 1);
            }
            multi_free(m);
        }
    CHECK(multi_new("none", 0) == NULL);
}

/* The family that each is of, and how many there are. */
TEST(bench_families_have_their_problems)
{
    static const struct {
        const char *family;
        size_t n;
    } table[] = {
        {"bbob_d2", 12},  {"bbob_d5", 12}, {"bbob_d10", 12},   {"bbob_d20", 12},
        {"bbob_d40", 12}, {"mixed", 4},    {"conditional", 3}, {"options", 2},
        {"decades", 4},   {"nests", 2},    {"noisy", 18},      {"binomial", 4},
        {"crashes", 11},
    };
    char name[PROBLEM_NAME_MAX], family[PROBLEM_NAME_MAX];
    size_t at = 0;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        for (size_t k = 0; k < table[i].n; k++) {
            CHECK_EQ(problem_list(at++, name, family), 0);
            CHECK_STR(family, table[i].family);
        }
    CHECK_EQ(problem_list(at, name, family), -1);
}

/* Of 2,000 trials at one point: how many failed, the mean of what was observed
 * and its standard deviation.  The true value stays. */
struct sample {
    double failed, mean, sd, value;
};

static struct sample
sample(const char *name, const char *text)
{
    struct problem *p = problem_new(name, 1, NULL);
    double sum = 0, squares = 0, value = value_of(p, text, NULL), n = 0;

    for (uint64_t trial = 0; trial < 2000; trial++) {
        struct outcome o = run(p, trial, text, NULL);
        struct outcome again = run(p, trial, text, NULL);

        CHECK(o.value == value && again.observed == o.observed);
        CHECK_EQ(o.failed, again.failed);
        if (o.failed)
            continue;
        sum += o.observed;
        squares += o.observed * o.observed;
        n++;
    }
    problem_free(p);
    return (struct sample){1 - n / 2000, sum / n,
                           sqrt(squares / n - sum / n * (sum / n)), value};
}

TEST(bench_noise_is_drawn_for_each_trial_and_as_strong_as_it_says)
{
    static const char x[] = "{\"x0\": 1, \"x1\": 1, \"x2\": 1, \"x3\": 1, "
                            "\"x4\": 1}";
    struct problem *p = problem_new("bbob_f1_d5", 1, NULL);
    double excess = value_of(p, x, NULL) - problem_optimum(p);
    struct sample s = sample("bbob_f1_d5_gauss_moderate", x);

    CHECK(fabs(s.mean - s.value) < 0.001 * excess);
    CHECK(s.sd > 0.009 * excess && s.sd < 0.011 * excess);
    s = sample("bbob_f1_d5_gauss_severe", x);
    CHECK(s.mean - problem_optimum(p) > 1.4 * excess); /* exp(1 / 2) = 1.65 */
    s = sample("bbob_f1_d5_uniform_moderate", x);
    CHECK(s.mean > s.value && s.sd < 0.2 * excess);
    s = sample("bbob_f1_d5_uniform_severe", x);
    CHECK(s.mean > s.value + 100 * excess);
    s = sample("bbob_f1_d5_cauchy_moderate", x);
    CHECK(s.mean > s.value + 9 && s.mean < s.value + 11);
    s = sample("bbob_f1_d5_cauchy_severe", x);
    CHECK(s.mean > s.value + 900 && s.mean < s.value + 1100);
    problem_free(p);
}

/* At the optimum 5 % are wrong; it is without other noise. */
TEST(bench_examples_failures_and_optima_go_together)
{
    struct buf b;
    struct sample s;

    buf_init(&b, 1 << 16);
    write_optimum("network", 1, &b);
    s = sample("network_binomial", buf_text(&b));
    CHECK(s.mean > 0.048 && s.mean < 0.052);
    CHECK(s.sd > 0.009 && s.sd < 0.022); /* of 500, of 100 */
    s = sample("network_chance", buf_text(&b));
    CHECK(s.failed > 0.08 && s.failed < 0.12 && s.sd < 1e-6);
    CHECK(sample("network_edge", buf_text(&b)).failed == 0);
    write_optimum("bbob_f9_d5", 1, &b);
    CHECK(sample("bbob_f9_d5_edge", buf_text(&b)).failed == 0);
    s = sample("bbob_f9_d5_gauss_severe", buf_text(&b));
    CHECK(near(s.mean, s.value));
    buf_fini(&b);
}

/* Of the corners of a cube around the optimum just one half fails: beyond the
 * plane, and so not the one across. */
TEST(bench_the_optimum_lies_at_the_edge_of_what_fails)
{
    struct bbob *b = bbob_new(1, 5, 2);
    struct problem *p = problem_new("bbob_f1_d5_edge", 1, NULL);
    int failed[32];

    for (int corner = 0; corner < 32; corner++) {
        char text[400];
        int len = 0;

        for (int i = 0; i < 5; i++)
            len += snprintf(text + len, sizeof text - (size_t)len,
                            "%c\"x%d\": %.17g", i > 0 ? ',' : '{', i,
                            bbob_optimal(b)[i] +
                                ((corner >> i & 1) != 0 ? 0.01 : -0.01));
        snprintf(text + len, sizeof text - (size_t)len, "}");
        failed[corner] = run(p, 0, text, NULL).failed;
    }
    for (int corner = 0; corner < 32; corner++)
        CHECK_EQ(failed[corner] + failed[31 - corner], 1);
    problem_free(p);
    bbob_free(b);
}

TEST(bench_problems_refuse_what_is_not_in_their_space)
{
    static const struct {
        const char *text, *error;
    } table[] = {
        {"{\"x0\": 1}", "x1: is missing"},
        {"{\"x0\": 1, \"x1\": 5.1}", "x1: 5.0999999999999996 is not within"},
        {"{\"x0\": 1, \"x1\": \"a\"}", "x1: expected a number, not a string"},
        {"{\"x0\": 1, \"x1\": 2, \"x2\": 3}", "expected 2 parameters, not 3"},
    };
    struct problem *p = problem_new("bbob_f1_d2", 0, NULL);
    struct err err;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        CHECK(isnan(value_of(p, table[i].text, &err)));
        CHECK_HAS(err.text, table[i].error);
    }
    problem_free(p);
    CHECK(problem_new("bbob_f1_d2x", 0, &err) == NULL);
    CHECK_STR(err.text, "'bbob_f1_d2x' is no problem");
    CHECK(problem_new("bbob_f1_d41", 0, &err) == NULL);
    CHECK(problem_new("kernels_sometimes", 0, &err) == NULL);
}

/* As wide as six decades: half-way is a thousand, and the optimum may be. */
TEST(bench_six_decades_are_logarithmic)
{
    static const struct dim dims[] = {
        {"i", DIM_INTEGER, 1, 1000001, 0, {0}, 0, 0},
        {"g", DIM_GRID, 1, 1e6, 1, {0}, 0, 0},
        {"few", DIM_GRID, 1, 1e4, 1, {0}, 0, 0},
    };

    CHECK(dims_value(&dims[0], 0.5) == 1000);
    CHECK(dims_value(&dims[0], 1 - 1e-16) == 1000000);
    CHECK(near(dims_unit(&dims[0], 1), 0));
    CHECK(near(dims_unit(&dims[1], 1000), 0.5));
    CHECK(near(dims_unit(&dims[2], 5000.5), 0.5));
}

TEST(bench_grids_and_integers_are_checked)
{
    static const struct dim dims[] = {
        {"g", DIM_GRID, 0.05, 1, 0.1, {0}, 0, 0},
        {"i", DIM_INTEGER, 2, 5, 0, {0}, 0, 0},
        {0},
    };
    static const struct {
        const char *text;
        int rc;
    } table[] = {
        {"{\"g\": 0.05, \"i\": 2}", 0}, {"{\"g\": 0.3, \"i\": 4}", 0},
        {"{\"g\": 1.0, \"i\": 3}", 0},  {"{\"g\": 0.35, \"i\": 3}", -1},
        {"{\"g\": 0.3, \"i\": 5}", -1}, {"{\"g\": 0.3, \"i\": 2.5}", -1},
    };
    struct point p;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct json *doc =
            json_parse(table[i].text, strlen(table[i].text), 0, NULL);

        CHECK_EQ(dims_read(dims, json_root(doc), &p, NULL), table[i].rc);
        json_free(doc);
    }
}

/* ---- tables ---- */

static void
write_run(FILE *f, const char *problem, const char *solver, int seed,
          double at_10, double at_20)
{
    fprintf(f,
            "{\"problem\": \"%s\", \"family\": \"f\", \"solver\": \"%s\", "
            "\"seed\": %d, \"mode\": \"seq\", \"optimum\": 1.0, \"best\": [",
            problem, solver, seed);
    for (int i = 0; i < 20; i++)
        fprintf(f, "%s%.17g", i > 0 ? ", " : "", i < 10 ? at_10 : at_20);
    fprintf(f, "]}\n");
}

/* Random has 3 and 5 after 10 trials, optimum 1: the scale is 3. */
TEST(bench_tables_hold_ranks_regret_and_ratios)
{
    FILE *f = fopen("runs.jsonl", "w");
    struct standing st;
    struct table t;
    struct runs r;
    size_t base;

    write_run(f, "p", "random", 0, 3, 2.5);
    write_run(f, "p", "random", 1, 5, 4);
    write_run(f, "p", "good", 0, 4, 1.15);
    write_run(f, "p", "good", 1, 4, 1.3);
    fprintf(f, "no line of JSON\n{\"problem\": 1}\n");
    write_run(f, "unscaled", "good", 1, 4, 1.3);
    fclose(f);
    f = fopen("peers.jsonl", "w");
    write_run(f, "p", "late", 0, 9, 7);
    write_run(f, "elsewhere", "late", 0, 9, 7);
    fclose(f);
    runs_init(&r);
    CHECK_EQ(runs_read(&r, "runs.jsonl", "seq", false, NULL), 0);
    CHECK_EQ(runs_read(&r, "peers.jsonl", "seq", true, NULL), 0);
    CHECK_EQ(runs_read(&r, "peers.jsonl", "par:10", true, NULL), 0);
    CHECK_EQ(runs_read(&r, "missing.jsonl", "seq", true, NULL), -1);
    CHECK_EQ(r.n, 7);
    runs_sort(&r);
    CHECK_EQ(table_init(&t, &r, 20, "random"), 0);
    CHECK_EQ(t.n_pairs, 2);
    base = names_find(&r.solvers, "random");
    CHECK(table_standing(&t, TABLE_ALL, names_find(&r.solvers, "good"), base,
                         0.05, &st));
    CHECK_EQ(st.n, 2);
    CHECK(near(st.regret, (0.05 + 0.1) / 2));
    CHECK(near(st.rank, 1));
    CHECK(st.paired && near(st.against.shift, -1));
    CHECK_EQ(st.against.wins, 2);
    CHECK(table_standing(&t, 0, names_find(&r.solvers, "peer/late"), base, 0.05,
                         &st));
    CHECK_EQ(st.n, 1);
    CHECK(near(st.regret, 2) && near(st.rank, 3));
    CHECK(near(st.against.shift, log10(4)));
    table_fini(&t);
    runs_fini(&r);
}

TEST(bench_nothing_to_compare_is_no_crash)
{
    struct table t;
    struct runs r;
    FILE *f = fopen("empty.jsonl", "w");

    fclose(f);
    runs_init(&r);
    CHECK_EQ(runs_read(&r, "empty.jsonl", "seq", false, NULL), 0);
    runs_sort(&r);
    CHECK_EQ(table_init(&t, &r, 20, "random"), 0);
    CHECK_EQ(t.n_pairs, 0);
    table_fini(&t);
    runs_fini(&r);
}

TEST(bench_results_may_stand_for_some_trials_alone)
{
    static const char head[] = "{\"problem\": \"p\", \"family\": \"f\", "
                               "\"solver\": \"s\", \"mode\": \"seq\"";
    FILE *f = fopen("sparse.jsonl", "w");
    struct runs r;

    fprintf(f, "%s, \"seed\": 0, \"after\": [2, 5], \"best\": [3, 1]}\n", head);
    fprintf(f, "%s, \"seed\": 1, \"after\": [2], \"best\": [3, 1]}\n", head);
    fprintf(f, "%s, \"seed\": 2, \"after\": [5, 2], \"best\": [3, 1]}\n", head);
    fprintf(f, "%s, \"seed\": 3, \"after\": [1e99, -1], \"best\": [3, 1]}\n",
            head);
    fclose(f);
    runs_init(&r);
    CHECK_EQ(runs_read(&r, "sparse.jsonl", "seq", true, NULL), 0);
    CHECK_EQ(r.n, 4);
    CHECK_EQ(r.v[0].n_best, 5);
    CHECK(isinf(r.v[0].best[0]) && near(r.v[0].best[1], 3));
    CHECK(near(r.v[0].best[3], 3) && near(r.v[0].best[4], 1));
    CHECK_EQ(r.v[1].n_best, 2);
    CHECK_EQ(r.v[2].n_best, 5);
    CHECK_EQ(r.v[3].n_best, 0);
    runs_fini(&r);
}

TEST(bench_archive_has_the_volume_of_its_front)
{
    static const double reference[] = {1, 1};
    static const double costs[][2] = {
        {0.5, 0.5}, {2, 0}, {0.75, 0.75}, {0.25, 0.75}, {0.25, 0.25}};
    static const double volumes[] = {0.25, 0.25, 0.25, 0.3125, 0.5625};
    static const size_t sizes[] = {1, 1, 1, 2, 1};
    struct archive a;

    archive_init(&a, 2, reference);
    for (size_t i = 0; i < 5; i++) {
        CHECK_EQ(archive_add(&a, costs[i]), 0);
        CHECK(near(a.volume, volumes[i]));
        CHECK_EQ(a.n, sizes[i]);
    }
    archive_fini(&a);
}

/* ---- a whole run ---- */

static char *
play(const char *tuner, size_t width, int want)
{
    struct session s = {
        .program = t_build("tunepipe"),
        .plugins = t_build("plugins"),
        .label = "ours",
        .tuner = tuner,
        .problem = "kernels",
        .family = "conditional",
        .seed = 3,
        .budget = 30,
        .width = width,
    };
    char *text = NULL;
    size_t len;
    struct err err;
    FILE *f = open_memstream(&text, &len);

    CHECK_EQ(session_run(&s, f, &err), want);
    fclose(f);
    return text;
}

TEST(bench_session_plays_the_same_twice_and_to_its_budget)
{
    char *once = play("random", 1, 0), *twice = play("random", 1, 0);
    struct runs r;
    FILE *f;

    CHECK_STR(once, twice);
    f = fopen("runs.jsonl", "w");
    fputs(once, f);
    fclose(f);
    runs_init(&r);
    CHECK_EQ(runs_read(&r, "runs.jsonl", "seq", false, NULL), 0);
    CHECK_EQ(r.n, 1);
    CHECK_EQ(r.v[0].n_best, 30);
    for (size_t i = 1; i < 30; i++)
        CHECK(r.v[0].best[i] <= r.v[0].best[i - 1]);
    runs_fini(&r);
    free(once);
    free(twice);
}

TEST(bench_session_keeps_several_in_flight)
{
    char *once = play("random", 10, 0), *twice = play("random", 10, 0);

    CHECK_STR(once, twice);
    CHECK_HAS(once, "\"mode\": \"par:10\"");
    free(once);
    free(twice);
}

TEST(bench_session_tells_of_a_tuner_that_is_missing)
{
    char *line = play("nosuch", 1, -1);

    CHECK_HAS(line, "\"error\": \"the dispatcher ");
    CHECK_HAS(line, "no tuner 'nosuch'");
    free(line);
}
