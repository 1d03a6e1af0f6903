/* SPDX-License-Identifier: MIT */
#include "plugin/scalar.h"

#include "core/pack.h"

#include <math.h>

#define RHO 0.05      /* of the augmented Chebyshev norm */
#define BEYOND 3      /* above all that is within the limits */
#define LEVEL_BITS 48 /* of all levels of a lexicographic order together */

void
scalar_init(struct scalar *s, const struct objectives *o)
{
    *s = (struct scalar){.objectives = o};
    for (size_t i = 0; i < o->n; i++) {
        s->low[i] = INFINITY;
        s->high[i] = -INFINITY;
    }
}

static void
widen(struct scalar *s, size_t i, double cost)
{
    if (!isfinite(cost))
        return;
    s->low[i] = fmin(s->low[i], cost);
    s->high[i] = fmax(s->high[i], cost);
}

/* A cost within the range of all; halves, because the range of two doubles may
 * be none. */
static double
normalize(const struct scalar *s, size_t i, double cost)
{
    double low = s->low[i] / 2, high = s->high[i] / 2;

    if (isinf(cost))
        return cost < 0 ? -1 : 2;
    return high > low ? (cost / 2 - low) / (high - low) : 0;
}

/* The weighted sum, and in *most its largest term. */
static double
weigh(const struct objectives *o, const double *u, double *most)
{
    double largest = 0, all = 0, sum = 0;

    for (size_t i = 0; i < o->n; i++)
        largest = fmax(largest, o->weights[i]);
    for (size_t i = 0; i < o->n; i++)
        all += o->weights[i] / largest; /* that of two doubles may be none */
    *most = -INFINITY;
    for (size_t i = 0; i < o->n; i++) {
        double term = o->weights[i] / largest / all * u[i];

        sum += term;
        *most = fmax(*most, term);
    }
    return sum;
}

static double
order(const struct objectives *o, const double *u)
{
    int bits = LEVEL_BITS / (int)o->n;
    double levels = ldexp(1, bits), sum = 0;

    for (size_t i = 0; i < o->n; i++) {
        double level = floor((levels - 1) * (u[i] + 1) / 3 + 0.5);

        sum += ldexp(level, -bits * ((int)i + 1));
    }
    return sum;
}

static double
combine(const struct objectives *o, const double *u)
{
    double most, sum;

    if (o->how == SCALARIZE_LEXICOGRAPHIC)
        return order(o, u);
    sum = weigh(o, u, &most);
    return o->how == SCALARIZE_WEIGHTS ? sum : most + RHO * sum;
}

double
scalar_take(struct scalar *s, const double *values, double violation)
{
    const struct objectives *o = s->objectives;
    double u[OBJECTIVES_MAX];
    bool unknown = false;

    for (size_t i = 0; i < o->n; i++) {
        double cost = objectives_cost(o, i, values[i]);

        widen(s, i, cost);
        u[i] = normalize(s, i, cost);
        unknown = unknown || isnan(cost);
    }
    if (unknown)
        return NAN;
    if (violation > 0)
        return BEYOND + (isinf(violation) ? 1 : violation / (1 + violation));
    return combine(o, u);
}

void
scalar_save(const struct scalar *s, struct buf *out)
{
    for (size_t i = 0; i < s->objectives->n; i++) {
        pack_f64(out, s->low[i]);
        pack_f64(out, s->high[i]);
    }
}

int
scalar_load(struct scalar *s, struct unpack *in)
{
    for (size_t i = 0; i < s->objectives->n; i++) {
        s->low[i] = unpack_f64(in);
        s->high[i] = unpack_f64(in);
    }
    return in->failed ? -1 : 0;
}
