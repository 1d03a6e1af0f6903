/* SPDX-License-Identifier: MIT */
/* expected.h - stored true values of tests/data/numerics (written by
 * scripts/gen-numerics-expected), and errors measured against them. */
#ifndef TESTS_EXPECTED_H
#define TESTS_EXPECTED_H

#include "t.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* f(x, y, z) is hi + lo. */
struct expected {
    double x, y, z, hi, lo;
};

/* Of hi, 2^-1074 at the least. */
static inline double
expected_ulp(double hi)
{
    int exponent;

    frexp(hi, &exponent);
    return exponent < -1021 ? 0x1p-1074 : ldexp(1, exponent - 53);
}

static inline double
expected_error(double got, const struct expected *row)
{
    return fabs((got - row->hi) - row->lo);
}

/* The worst error in ulp of `n` rows must be below `limit`. */
static inline void
expected_check(const char *name, double (*f)(const struct expected *row),
               const struct expected *rows, size_t n, double limit)
{
    const struct expected *at = rows;
    double worst = 0;

    for (size_t i = 0; i < n; i++) {
        double got = f(&rows[i]);
        double error = expected_error(got, &rows[i]) / expected_ulp(rows[i].hi);

        if (!(error <= worst)) {
            worst = error;
            at = &rows[i];
        }
    }
    printf("# %s: worst error %.4f ulp, at %a %a\n", name, worst, at->x, at->y);
    CHECK(worst < limit);
    CHECK(n > 100 && worst > 0.4); /* else the table is not what it was */
}

static inline void
expected_bits(double got, double want)
{
    char got_text[40], want_text[40];
    uint64_t bits;

    memcpy(&bits, &got, sizeof(bits));
    snprintf(got_text, sizeof(got_text), "%016llx", (unsigned long long)bits);
    memcpy(&bits, &want, sizeof(bits));
    if (want != want)
        bits = 0x7ff8000000000000u;
    snprintf(want_text, sizeof(want_text), "%016llx", (unsigned long long)bits);
    CHECK_STR(got_text, want_text);
}

#define EXPECTED_CHECK(f, table, limit) \
    expected_check(#f, (f), (table), sizeof(table) / sizeof(*(table)), (limit))

#endif
