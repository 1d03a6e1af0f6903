/* SPDX-License-Identifier: MIT */
#include "pbt/explore.h"

enum {
    DRAW_VALUE,    /* drawn anew */
    DRAW_RESAMPLE, /* whether */
    DRAW_COIN      /* up or down */
};

void
explore_space_fini(struct explore_space *s)
{
    prior_fini(&s->prior);
    free(s->q);
    *s = (struct explore_space){0};
}

static double
uniform(const struct explore *how, size_t dim, uint32_t purpose)
{
    return how->random.uniform(how->random.ctx, how->a, (uint32_t)dim,
                               how->draw + purpose);
}

static double
clip(const struct prior_dim *d, double x)
{
    if (x < d->low)
        return d->low;
    return x > d->high ? d->high : x;
}

/* A multiple of q as a coordinate; 0, which has no logarithm, is what a quarter
 * of q is rounded to. */
static double
coordinate(const struct prior_dim *d, double q, double value)
{
    if (!d->is_log)
        return value;
    return num_log(value > 0 ? value : q / 4);
}

static double
next_multiple(const struct explore_space *s, size_t dim, double x, double sign)
{
    double q = s->q[dim], v = s->value(s->value_ctx, dim, x);

    return coordinate(&s->prior.dims[dim], q,
                      (num_round_even(v / q) + sign) * q);
}

/* A normal kind has no bounds but those of numbers. */
static bool
has_value(const struct explore_space *s, size_t dim, double x)
{
    const struct prior_dim *d = &s->prior.dims[dim];
    double v = s->value(s->value_ctx, dim, x);

    return isfinite(x) && isfinite(v) && (!d->is_log || d->is_q || v > 0);
}

static double
step(const struct explore_space *s, double factor, size_t dim, double x,
     double sign)
{
    const struct prior_dim *d = &s->prior.dims[dim];
    double to;

    if (d->n_choices > 0)
        to = x + sign;
    else if (d->is_q)
        to = next_multiple(s, dim, x, sign);
    else if (d->is_normal)
        to = x + sign * factor * d->sigma;
    else
        to = x + sign * factor * (d->high - d->low);
    to = clip(d, to);
    return has_value(s, dim, to) ? to : x;
}

static double
explore_dim(const struct explore_space *s, const struct explore *how,
            size_t dim, double x)
{
    double sign;

    if (isnan(x) || uniform(how, dim, DRAW_RESAMPLE) < how->resample)
        return prior_draw(&s->prior.dims[dim], uniform(how, dim, DRAW_VALUE));
    sign = uniform(how, dim, DRAW_COIN) < 0.5 ? -1 : 1;
    return step(s, how->factor, dim, x, sign);
}

void
explore_point(const struct explore_space *s, const struct explore *how,
              const double *from, double *to)
{
    for (size_t i = 0; i < s->prior.n_dims; i++)
        to[i] = prior_active(&s->prior, to, i) ? explore_dim(s, how, i, from[i])
                                               : (double)NAN;
}
