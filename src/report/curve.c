/* SPDX-License-Identifier: MIT */
#include "report/curve.h"

#include "core/grow.h"

#include <stdlib.h>

static void
halve(struct curve *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i += 2)
        c->points[n++] = c->points[i];
    c->n = n;
    c->shift++;
}

static int
keep(struct curve *c, struct curve_point p)
{
    if (c->n == CURVE_MAX)
        halve(c);
    if (GROW(c->points, c->n, c->cap) != 0)
        return -1;
    c->points[c->n++] = p;
    return 0;
}

/* Removes the points from this step on, which are reported anew. */
static void
go_back(struct curve *c, uint64_t step)
{
    while (c->n > 0 && c->points[c->n - 1].step >= step)
        c->n--;
    c->seen = (uint64_t)c->n << c->shift;
}

int
curve_add(struct curve *c, uint64_t step, double value)
{
    struct curve_point p = {step, value};
    uint64_t mask;

    if (c->seen > 0 && step <= c->last.step)
        go_back(c, step);
    mask = ((uint64_t)1 << c->shift) - 1;
    if ((c->seen & mask) == 0 && keep(c, p) != 0)
        return -1;
    c->seen++;
    c->last = p;
    return 0;
}

void
curve_fini(struct curve *c)
{
    free(c->points);
    *c = (struct curve){0};
}

size_t
curve_thinned(const struct curve *c, size_t max, struct curve_point *out)
{
    size_t n = c->n;

    if (c->seen == 0)
        return 0;
    if (n > 0 && c->points[n - 1].step == c->last.step)
        n--; /* the last point is added below */
    if (n > max - 1) {
        for (size_t i = 0; i < max - 1; i++)
            out[i] = c->points[i * n / (max - 1)];
        n = max - 1;
    } else {
        for (size_t i = 0; i < n; i++)
            out[i] = c->points[i];
    }
    out[n] = c->last;
    return n + 1;
}
