/* SPDX-License-Identifier: MIT */
#include "bench/search/bbob.h"
#include "bench/search/dims.h"
#include "bench/search/paired.h"
#include "bench/search/problem.h"
#include "bench/search/runs.h"
#include "bench/search/session.h"
#include "bench/search/synth.h"
#include "bench/search/table.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
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
        CHECK_EQ(paired_critical(table[i].n), table[i].critical);
}

TEST(bench_critical_values_go_on_where_the_exact_ones_end)
{
    long exact = paired_critical(60), next = paired_critical(61);

    CHECK(next > exact && next < exact + 30);
    /* 100 * 101 / 4 - 1.96 * sqrt(100 * 101 * 201 / 24) = 1954.9 */
    CHECK_EQ(paired_critical(100), 1954);
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

    CHECK_EQ(paired_compare(d, 6, &p), 0);
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

    CHECK_EQ(paired_compare(d, 10, &p), 0);
    CHECK(p.low == 3 && p.high == 8 && p.shift == 5.5);
}

TEST(bench_few_pairs_have_no_interval)
{
    static const double d[] = {-1, 0, 1, -2, -3};
    struct paired p;

    CHECK_EQ(paired_compare(d, 5, &p), 0);
    CHECK(!p.has_interval && p.shift == -1);
    CHECK_EQ(p.wins, 3);
    CHECK_EQ(p.ties, 1);
    CHECK_EQ(p.losses, 1);
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
        for (size_t d = 2; d <= 10; d += 4)
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

static double
value_of(const struct problem *p, const char *text, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), JSON_STRICT, err);
    double v = NAN;

    CHECK(doc != NULL);
    if (problem_value(p, json_root(doc), &v, err) != 0)
        v = NAN;
    json_free(doc);
    return v;
}

TEST(bench_synthetic_problems_are_zero_at_their_optimum_alone)
{
    for (size_t at = 0; synth_name(at) != NULL; at++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct problem *p = problem_new(synth_name(at), seed, NULL);
            struct synth *s = synth_new(synth_name(at), seed);
            struct synth *other = synth_new(synth_name(at), seed + 1);
            struct buf b;
            struct err err = {0};

            buf_init(&b, 1 << 16);
            synth_write_optimum(s, &b);
            CHECK(value_of(p, buf_text(&b), &err) < 1e-12);
            CHECK(problem_optimum(p) == 0);
            buf_clear(&b);
            synth_write_optimum(other, &b);
            CHECK(value_of(p, buf_text(&b), &err) > 1e-6);
            buf_fini(&b);
            synth_free(s);
            synth_free(other);
            problem_free(p);
        }
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
                         &st));
    CHECK_EQ(st.n, 2);
    CHECK(near(st.regret, (0.05 + 0.1) / 2));
    CHECK(near(st.rank, 1));
    CHECK(st.paired && near(st.against.shift, -1));
    CHECK_EQ(st.against.wins, 2);
    CHECK(
        table_standing(&t, 0, names_find(&r.solvers, "peer/late"), base, &st));
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
