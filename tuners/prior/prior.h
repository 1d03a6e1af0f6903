/* SPDX-License-Identifier: MIT */
/* prior.h - the priors of a flattened search space, for algorithms that draw
 * single dimensions themselves: which dimensions are active, a draw of one,
 * and a new draw of one with all that hangs on it.
 *
 * Points are arrays of n_dims doubles in internal coordinates, NaN where
 * inactive; parents come before their children.  Knows no plugin interface
 * and is a header alone, because each plugin is linked by itself.  Any
 * thread, nothing but prior_init() fails. */
#ifndef PRIOR_PRIOR_H
#define PRIOR_PRIOR_H

#include "elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define PRIOR_NO_PARENT ((size_t)-1)

struct prior_dim {
    uint64_t n_choices; /* of an index; else 0 */
    bool is_normal;     /* normal(mu, sigma); else uniform(low, high) */
    bool is_log, is_q;  /* see tunepipe/plugin.h */
    double low, high;
    double mu, sigma;
    size_t parent; /* or PRIOR_NO_PARENT */
    uint64_t parent_choice;
};

struct prior {
    struct prior_dim *dims; /* owned */
    size_t n_dims;
};

/* Uniform numbers in [0, 1) with 53 bits: the same for the same (a, b, draw).
 * b is the dimension; a and the draws are the algorithm's to lay out. */
struct prior_random {
    double (*uniform)(void *ctx, uint64_t a, uint32_t b, uint32_t draw);
    void *ctx;
};

/* Room for n_dims dimensions, all zero; -1 when out of memory. */
static inline int
prior_init(struct prior *p, size_t n_dims)
{
    p->dims = calloc(n_dims > 0 ? n_dims : 1, sizeof *p->dims);
    p->n_dims = p->dims != NULL ? n_dims : 0;
    return p->dims != NULL ? 0 : -1;
}

static inline void
prior_fini(struct prior *p)
{
    free(p->dims);
    *p = (struct prior){0};
}

static inline bool
prior_active(const struct prior *p, const double *x, size_t i)
{
    size_t parent = p->dims[i].parent;

    return parent == PRIOR_NO_PARENT ||
           x[parent] == (double)p->dims[i].parent_choice;
}

/* Whether dimension j hangs on i, however deep. */
static inline bool
prior_below(const struct prior *p, size_t j, size_t i)
{
    for (j = p->dims[j].parent; j != PRIOR_NO_PARENT; j = p->dims[j].parent)
        if (j == i)
            return true;
    return false;
}

/* An index below n. */
static inline uint64_t
prior_index(double u, uint64_t n)
{
    uint64_t i = (uint64_t)(u * (double)n);

    return i < n ? i : n - 1;
}

/* u in [0, 1) as a standard normal number. */
static inline double
prior_normal(double u)
{
    const double two52 = 4503599627370496.0;

    return num_normal_quantile(((double)(uint64_t)(u * two52) + 0.5) / two52);
}

static inline double
prior_draw(const struct prior_dim *d, double u)
{
    double x;

    if (d->n_choices > 0)
        return (double)prior_index(u, d->n_choices);
    if (d->is_normal)
        return d->mu + d->sigma * prior_normal(u);
    x = d->high - d->low <= 0x1p1023 ? d->low + u * (d->high - d->low)
                                     : d->low * (1 - u) + d->high * u;
    return x > d->high ? d->high : x;
}

/* Draws all that hangs on dimension i. */
static inline void
prior_redraw_below(const struct prior *p, double *x, size_t i,
                   const struct prior_random *r, uint64_t a, uint32_t draw)
{
    for (size_t j = i + 1; j < p->n_dims; j++) {
        if (!prior_below(p, j, i))
            continue;
        x[j] = prior_active(p, x, j)
                   ? prior_draw(&p->dims[j],
                                r->uniform(r->ctx, a, (uint32_t)j, draw))
                   : (double)NAN;
    }
}

/* Draws dimension i, which is active, and all that hangs on it. */
static inline void
prior_redraw(const struct prior *p, double *x, size_t i,
             const struct prior_random *r, uint64_t a, uint32_t draw)
{
    x[i] = prior_draw(&p->dims[i], r->uniform(r->ctx, a, (uint32_t)i, draw));
    prior_redraw_below(p, x, i, r, a, draw);
}

/* A whole point. */
static inline void
prior_fill(const struct prior *p, double *x, const struct prior_random *r,
           uint64_t a, uint32_t draw)
{
    for (size_t j = 0; j < p->n_dims; j++)
        x[j] = prior_active(p, x, j)
                   ? prior_draw(&p->dims[j],
                                r->uniform(r->ctx, a, (uint32_t)j, draw))
                   : (double)NAN;
}

/* Whether x may have been drawn: each dimension that is active has a value of
 * its range, no other has one.  A normal that is wide enough overflows: the
 * host gives that to no trial, but it may be remembered. */
static inline bool
prior_holds(const struct prior *p, const double *x)
{
    for (size_t j = 0; j < p->n_dims; j++) {
        const struct prior_dim *d = &p->dims[j];

        if (!prior_active(p, x, j)) {
            if (!isnan(x[j]))
                return false;
        } else if (d->n_choices > 0) {
            if (!(x[j] >= 0 && x[j] < (double)d->n_choices) ||
                x[j] != (double)(uint64_t)x[j])
                return false;
        } else if (d->is_normal ? isnan(x[j]) : !isfinite(x[j])) {
            return false;
        }
    }
    return true;
}

#endif
