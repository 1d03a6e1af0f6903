/* SPDX-License-Identifier: MIT */
#include "bands/table.h"

#include "elementary.h"

#define E 1000000 /* one over e */

static uint64_t
power(uint64_t base, unsigned exponent)
{
    uint64_t p = 1;

    while (exponent-- > 0)
        p *= base;
    return p;
}

/* floor(p / q + e) */
static uint64_t
floor_of(uint64_t p, uint64_t q)
{
    return (p * E + q) / (q * E);
}

/* ceil(p / q - e) */
static uint64_t
ceil_of(uint64_t p, uint64_t q)
{
    return (p * E - q + q * E - 1) / (q * E);
}

struct bands_table
bands_table(uint64_t min, uint64_t max, uint64_t eta)
{
    struct bands_table t = {.max = max, .eta = eta};
    double most = (double)max * num_pow((double)eta, 1.0 / E);

    for (uint64_t p = min * eta; (double)p <= most; p *= eta)
        t.s_max++;
    return t;
}

uint64_t
bands_table_count(const struct bands_table *t, unsigned s, unsigned round)
{
    uint64_t n = ceil_of((t->s_max + 1) * power(t->eta, s), s + 1);

    return floor_of(n, power(t->eta, round));
}

uint64_t
bands_table_budget(const struct bands_table *t, unsigned s, unsigned round)
{
    uint64_t r = floor_of(t->max, power(t->eta, s - round));

    return r > 0 ? r : 1;
}
