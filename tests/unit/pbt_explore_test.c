/* SPDX-License-Identifier: MIT */
#include "pbt/explore.h"

#include "numerics/elementary.h"
#include "unit/pbt_help.h"

NOT_UNDER_TSAN;

/* The values that lie next to `from`, below and above, as a trial gets them;
 * from is a coordinate of the one dimension. */
struct near {
    double down, up;
};

static struct near
steps(const char *space_text, double from, double factor)
{
    struct space *space = help_space(space_text);
    struct explore_space s = help_explore_space(space);
    uint64_t seed = 3;
    struct explore how = {.factor = factor, .random = help_random(&seed)};
    double low = INFINITY, high = -(double)INFINITY, x;
    int n_low = 0;

    for (how.a = 0; how.a < 40; how.a++) {
        explore_point(&s, &how, &from, &x);
        help_check_point(space, &x);
        low = fmin(low, space_value(space, 0, x));
        high = fmax(high, space_value(space, 0, x));
    }
    for (how.a = 0; how.a < 40; how.a++) {
        explore_point(&s, &how, &from, &x);
        n_low += space_value(space, 0, x) == low;
        CHECK(space_value(space, 0, x) == low ||
              space_value(space, 0, x) == high);
    }
    CHECK(low == high || (n_low > 8 && n_low < 32));
    explore_space_fini(&s);
    space_free(space);
    return (struct near){low, high};
}

static void
check_steps(const char *space_text, double from, double factor, double down,
            double up)
{
    struct near n = steps(space_text, from, factor);

    CHECK(fabs(n.down - down) < 1e-12 * (1 + fabs(down)));
    CHECK(fabs(n.up - up) < 1e-12 * (1 + fabs(up)));
}

TEST(pbt_explores_indices_by_one)
{
    static const char choice[] =
        "{'c': {'_type': 'choice', '_value': ['a', 'b', 'c', 'd']}}";
    static const char randint[] =
        "{'c': {'_type': 'randint', '_value': [-2, 3]}}";

    check_steps(choice, 1, 0.2, 0, 2);
    check_steps(choice, 0, 0.2, 0, 1);
    check_steps(choice, 3, 0.2, 2, 3);
    check_steps(randint, 0, 0.2, -2, -1);
    check_steps(randint, 2, 0.2, -1, 1);
    check_steps(randint, 4, 0.2, 1, 2); /* 3 itself is never drawn */
}

TEST(pbt_explores_ranges_by_a_part_of_them)
{
    static const char uniform[] =
        "{'u': {'_type': 'uniform', '_value': [-5, 15]}}";
    static const char log[] =
        "{'l': {'_type': 'loguniform', '_value': [0.0001, 1]}}";

    check_steps(uniform, 3, 0.2, -1, 7);
    check_steps(uniform, -4, 0.2, -5, 0);
    check_steps(uniform, 14, 0.25, 9, 15);
    check_steps(log, num_log(0.01), 0.25, 0.001, 0.1);
    check_steps(log, num_log(0.5), 0.25, 0.05, 1);
    check_steps(log, num_log(0.0002), 0.5, 0.0001, 0.02);
}

TEST(pbt_explores_normal_kinds_by_a_part_of_sigma)
{
    check_steps("{'n': {'_type': 'normal', '_value': [1, 10]}}", 40, 0.2, 38,
                42);
    check_steps("{'n': {'_type': 'lognormal', '_value': [0, 2]}}", 1, 0.5,
                num_exp(0), num_exp(2));
    /* Where numbers end it stays. */
    check_steps("{'n': {'_type': 'lognormal', '_value': [0, 2]}}", 709, 0.5,
                num_exp(708), num_exp(709));
}

TEST(pbt_explores_quantised_kinds_by_one_multiple)
{
    static const char q[] =
        "{'q': {'_type': 'quniform', '_value': [1, 10, 3]}}";
    static const char lq[] =
        "{'q': {'_type': 'qloguniform', '_value': [1, 100, 7]}}";
    static const char nq[] =
        "{'q': {'_type': 'qnormal', '_value': [0, 5, 2.5]}}";
    static const char lnq[] =
        "{'q': {'_type': 'qlognormal', '_value': [1, 0.5, 0.25]}}";

    check_steps(q, 5.8, 0.2, 3, 9); /* it is 6 */
    check_steps(q, 1.2, 0.2, 1, 3); /* it is 1, and 0 is out of range */
    check_steps(q, 9.5, 0.2, 6, 9);
    check_steps(lq, num_log(20), 0.2, 14, 28);
    check_steps(lq, num_log(2), 0.2, 1, 7);
    check_steps(lq, num_log(99), 0.2, 91, 98);
    check_steps(nq, 5.1, 0.2, 2.5, 7.5);
    check_steps(nq, 0, 0.2, -2.5, 2.5);
    check_steps(lnq, num_log(2), 0.2, 1.75, 2.25);
    check_steps(lnq, num_log(0.2), 0.2, 0, 0.5);
    check_steps(lnq, num_log(0.01), 0.2, 0, 0.25); /* it is 0 */
}

TEST(pbt_draws_anew_with_the_probability_given)
{
    struct space *space = help_space(LINE_SPACE);
    struct explore_space s = help_explore_space(space);
    uint64_t seed = 9;
    struct explore how = {.factor = 0.125, .random = help_random(&seed)};
    double from = 0.5, x, sum = 0;
    int anew = 0;

    how.resample = 0.25;
    for (how.a = 0; how.a < 4000; how.a++) {
        explore_point(&s, &how, &from, &x);
        CHECK(x >= 0 && x <= 1);
        anew += x != 0.375 && x != 0.625;
        sum += x != 0.375 && x != 0.625 ? x : 0;
    }
    CHECK(anew > 900 && anew < 1100);
    CHECK(fabs(sum / anew - 0.5) < 0.05);
    explore_space_fini(&s);
    space_free(space);
}

/* Asked for the same trial it gives the same point, for another another. */
TEST(pbt_explores_within_branches)
{
    struct space *space = help_space(MIXED_SPACE);
    struct explore_space s = help_explore_space(space);
    size_t n = s.prior.n_dims, moved = 0, same = 0;
    uint64_t seed = 4;
    struct explore how = {.factor = 0.2, .random = help_random(&seed)};
    double from[X_MAX], x[X_MAX], y[X_MAX];

    how.resample = 0.1;
    prior_fill(&s.prior, from, &how.random, 1, 9);
    for (how.a = 0; how.a < 500; how.a++) {
        explore_point(&s, &how, from, x);
        explore_point(&s, &how, from, y);
        CHECK(memcmp(x, y, n * sizeof *x) == 0);
        help_check_point(space, x);
        CHECK(prior_holds(&s.prior, x));
        for (size_t i = 0; i < n; i++)
            moved += isnan(from[i]) && !isnan(x[i]);
        same += memcmp(x, from, n * sizeof *x) == 0;
        memcpy(from, x, n * sizeof *x);
    }
    CHECK(moved > 50); /* another branch, drawn anew */
    CHECK_EQ(same, 0);
    explore_space_fini(&s);
    space_free(space);
}
