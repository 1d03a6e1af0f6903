/* SPDX-License-Identifier: MIT */
#include "space/parse.h"

#include "core/number.h"
#include "numerics/elementary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Integers below this are doubles, and so are their differences' halves. */
#define RANDINT_LIMIT 0x1p53

enum { VALUES_MAX = 3 };

static bool
is_whole(double v)
{
    return v > -RANDINT_LIMIT && v < RANDINT_LIMIT && v == (double)(int64_t)v;
}

/* A rule about one number: false when it was broken and told. */
static bool
rule(const struct parse *p, const struct place *at, struct jval list, size_t k,
     bool holds, const char *expected)
{
    char part[32];

    if (holds)
        return true;
    snprintf(part, sizeof part, "._value[%zu]", k);
    parse_problem(p, at, part, "is %s, expected %s",
                  shown(jval_at(list, k)).text, expected);
    return false;
}

static bool
read_numbers(const struct parse *p, const struct place *at, struct jval list,
             const struct kind *kind, double v[VALUES_MAX])
{
    static const char *const roles[2][VALUES_MAX] = {{"low", "high", "q"},
                                                     {"mu", "sigma", "q"}};
    const char *const *role = roles[(kind->flags & TP_DIM_NORMAL) != 0];
    bool fine = true;
    char expected[64];

    for (size_t k = 0; k < kind->n_values; k++) {
        snprintf(expected, sizeof expected, "a finite number (%s)", role[k]);
        fine &= rule(p, at, list, k,
                     jval_number(jval_at(list, k), &v[k]) && isfinite(v[k]),
                     expected);
    }
    return fine;
}

/* "[LOW, HIGH]: what is wrong with these two", for the bounds. */
static bool
bounds_rule(const struct parse *p, const struct place *at, struct jval list,
            bool holds, const char *expected)
{
    if (!holds)
        parse_problem(p, at, "._value", "is from %s to %s, expected %s",
                      shown(jval_at(list, 0)).text,
                      shown(jval_at(list, 1)).text, expected);
    return holds;
}

static void
set_randint(const struct parse *p, const struct place *at, struct jval list,
            const double *v, struct tp_dim *d)
{
    bool fine = true;

    for (size_t k = 0; k < 2; k++)
        fine &= rule(p, at, list, k, is_whole(v[k]),
                     "an integer between -2^53 and 2^53");
    if (!fine ||
        !bounds_rule(p, at, list, v[0] < v[1],
                     "low < high (high itself is never drawn)") ||
        !bounds_rule(p, at, list, v[1] - v[0] < RANDINT_LIMIT,
                     "fewer than 2^53 integers"))
        return;
    d->offset = (int64_t)v[0];
    d->n_choices = (uint64_t)((int64_t)v[1] - d->offset);
    d->high = (double)(d->n_choices - 1);
}

static void
set_uniform(const struct parse *p, const struct place *at, struct jval list,
            const double *v, struct tp_dim *d, struct dim *dim)
{
    bool is_log = (d->flags & TP_DIM_LOG) != 0;

    bounds_rule(p, at, list, v[0] <= v[1], "low <= high");
    bounds_rule(p, at, list, isfinite(v[1] - v[0]),
                "a range that a double can hold");
    if (is_log && !rule(p, at, list, 0, v[0] > 0,
                        "low > 0, because the scale is logarithmic"))
        return;
    dim->low = v[0] + 0.0;
    dim->high = v[1] + 0.0;
    d->low = is_log ? num_log(v[0]) : dim->low;
    d->high = is_log ? num_log(v[1]) : dim->high;
}

static void
set_normal(const struct parse *p, const struct place *at, struct jval list,
           const double *v, struct tp_dim *d)
{
    rule(p, at, list, 1, v[1] >= 0, "sigma >= 0");
    d->mu = v[0];
    d->sigma = v[1];
    d->low = -INFINITY;
    d->high = INFINITY;
}

void
parse_values(const struct parse *p, const struct place *at, struct jval list,
             struct tp_dim *d, struct dim *dim)
{
    const struct kind *kind = &space_kinds[d->kind - 1];
    double v[VALUES_MAX] = {0, 0, 0};

    if (jval_count(list) != kind->n_values) {
        parse_problem(p, at, "._value", "has %zu value%s, expected %zu: %s",
                      jval_count(list), jval_count(list) == 1 ? "" : "s",
                      kind->n_values, kind->values);
        return;
    }
    if (!read_numbers(p, at, list, kind, v))
        return;
    if (d->kind == TP_RANDINT)
        set_randint(p, at, list, v, d);
    else if (d->flags & TP_DIM_NORMAL)
        set_normal(p, at, list, v, d);
    else
        set_uniform(p, at, list, v, d, dim);
    if (d->flags & TP_DIM_Q)
        rule(p, at, list, 2, v[2] > 0, "q > 0");
    d->q = v[2];
}
