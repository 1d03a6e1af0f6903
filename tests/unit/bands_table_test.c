/* SPDX-License-Identifier: MIT */
#include "bands/table.h"

#include "t.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

NOT_UNDER_TSAN;

/* As NNI's advisors compute it, with this machine's C library. */
static unsigned
oracle_s_max(double min, double max, double eta)
{
    return (unsigned)floor(log(max / min) / log(eta) + 1e-6);
}

static double
oracle_count(const struct bands_table *t, unsigned s, unsigned i)
{
    double n = ceil((t->s_max + 1) * (pow((double)t->eta, s) / (s + 1)) - 1e-6);

    return floor(n / pow((double)t->eta, i) + 1e-6);
}

static double
oracle_budget(const struct bands_table *t, unsigned s, unsigned i)
{
    double r = (double)t->max / pow((double)t->eta, s);

    return floor(r * pow((double)t->eta, i) + 1e-6);
}

static void
check_table(uint64_t min, uint64_t max, uint64_t eta)
{
    struct bands_table t = bands_table(min, max, eta);

    CHECK_EQ(t.s_max, oracle_s_max((double)min, (double)max, (double)eta));
    for (unsigned s = 0; s <= t.s_max; s++)
        for (unsigned i = 0; i <= s; i++) {
            CHECK(bands_table_count(&t, s, i) == oracle_count(&t, s, i));
            CHECK(bands_table_budget(&t, s, i) == oracle_budget(&t, s, i));
        }
}

TEST(bands_table_is_that_of_the_formulas)
{
    for (uint64_t max = 1; max <= 1000; max++)
        for (uint64_t eta = 2; eta <= 10; eta++)
            check_table(1, max, eta);
    for (uint64_t max = 1; max <= 120; max++)
        for (uint64_t min = 1; min <= max; min++)
            for (uint64_t eta = 2; eta <= 5; eta++)
                check_table(min, max, eta);
}

/* n and r of the rounds of each bracket, the first one first. */
struct known {
    uint64_t min, max, eta;
    const char *rounds;
};

static void
check_known(const struct known *k)
{
    struct bands_table t = bands_table(k->min, k->max, k->eta);
    char text[512];
    size_t len = 0;

    for (unsigned s = t.s_max + 1; s-- > 0;) {
        len += (size_t)snprintf(text + len, sizeof text - len, "s%u", s);
        for (unsigned i = 0; i <= s; i++)
            len += (size_t)snprintf(
                text + len, sizeof text - len, " %llu/%llu",
                (unsigned long long)bands_table_count(&t, s, i),
                (unsigned long long)bands_table_budget(&t, s, i));
        len += (size_t)snprintf(text + len, sizeof text - len, "; ");
    }
    CHECK_STR(text, k->rounds);
}

TEST(bands_tables_that_nni_prints)
{
    static const struct known known[] = {
        {1, 60, 3,
         "s3 27/2 9/6 3/20 1/60; s2 12/6 4/20 1/60; s1 6/20 2/60; "
         "s0 4/60; "},
        {1, 81, 3,
         "s4 81/1 27/3 9/9 3/27 1/81; s3 34/3 11/9 3/27 1/81; "
         "s2 15/9 5/27 1/81; s1 8/27 2/81; s0 5/81; "},
        {1, 27, 3,
         "s3 27/1 9/3 3/9 1/27; s2 12/3 4/9 1/27; s1 6/9 2/27; "
         "s0 4/27; "},
        {1, 16, 4, "s2 16/1 4/4 1/16; s1 6/4 1/16; s0 3/16; "},
        {1, 9, 2, "s3 8/1 4/2 2/4 1/9; s2 6/2 3/4 1/9; s1 4/4 2/9; s0 4/9; "},
        {1, 9, 3, "s2 9/1 3/3 1/9; s1 5/3 1/9; s0 3/9; "},
        {3, 81, 3,
         "s3 27/3 9/9 3/27 1/81; s2 12/9 4/27 1/81; s1 6/27 2/81; "
         "s0 4/81; "},
        {1, 3, 3, "s1 3/1 1/3; s0 2/3; "},
        {1, 1, 3, "s0 1/1; "},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        check_known(&known[i]);
}

/* Powers of eta are where a logarithm in doubles falls short; the largest
 * there are stay within 64 bits. */
TEST(bands_table_at_powers_of_eta)
{
    for (uint64_t eta = 2; eta <= 1000; eta++) {
        unsigned k = 0;

        for (uint64_t max = 1; max <= BANDS_BUDGET_MAX; max *= eta, k++) {
            struct bands_table t = bands_table(1, max, eta);

            CHECK_EQ(t.s_max, k);
            CHECK_EQ(bands_table_count(&t, k, 0), max);
            CHECK_EQ(bands_table_count(&t, k, k), 1);
            CHECK_EQ(bands_table_budget(&t, k, 0), 1);
            CHECK_EQ(bands_table_budget(&t, k, k), max);
        }
    }
    CHECK_EQ(bands_table(1, BANDS_BUDGET_MAX, 2).s_max, 29);
    CHECK_EQ(bands_table(7, 7, BANDS_ETA_MAX).s_max, 0);
}
