/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include "double_double.h"
#include "elementary.h"
#include "exp_core.h"
#include "log_core.h"
#include "normal.h"

enum { BLOCK = 64 };

void
num_exp_n(const double *v, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = num_exp(v[i]);
}

void
num_log_normal_mass_n(const double *a, const double *b, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = num_log_normal_mass(a[i], b[i]);
}

static double
largest(const double *v, size_t n)
{
    double most = -NUM_INFINITY;

    for (size_t i = 0; i < n; i++) {
        if (v[i] != v[i])
            return NUM_NAN;
        if (v[i] > most)
            most = v[i];
    }
    return most;
}

double
num_log_sum_exp(const double *v, size_t n)
{
    double most = largest(v, n);
    struct dd sum = {0, 0}, log;
    double terms[BLOCK];

    if (!(most >= -DBL_MAX && most <= DBL_MAX))
        return most; /* nothing, +inf or NaN decides */
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;

        for (size_t j = 0; j < m; j++)
            terms[j] = v[i + j] - most;
        num_exp_n(terms, terms, m);
        for (size_t j = 0; j < m; j++) {
            struct dd s = dd_sum(sum.hi, terms[j]);

            sum = (struct dd){s.hi, sum.lo + s.lo};
        }
    }
    sum = log_core(dd_fast_sum(sum.hi, sum.lo));
    log = dd_sum(most, sum.hi);
    return log.hi + (log.lo + sum.lo);
}
