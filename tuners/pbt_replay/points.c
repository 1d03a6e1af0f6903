/* SPDX-License-Identifier: MIT */
#include "pbt_replay/points.h"

#include "prior/space.h"
#include "tunepipe/shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NEIGHBOURS 4 /* of a logarithm, among which the value's own lies */

struct place {
    const struct schedule *s;
    const struct tp_host *host;
    const struct tp_space *space;
    struct prior prior;
    size_t segment;
    char *why;
};

__attribute__((format(printf, 3, 4))) static int
refuse(const struct place *p, const char *name, const char *fmt, ...)
{
    va_list ap;
    int n = snprintf(p->why, SCHEDULE_WHY_MAX,
                     "schedule: segment %zu: %.60s: ", p->segment + 1, name);

    va_start(ap, fmt);
    vsnprintf(p->why + n, SCHEDULE_WHY_MAX - (size_t)n, fmt, ap);
    va_end(ap);
    return -1;
}

static const struct schedule_pair *
find(const struct place *p, const char *name)
{
    const struct schedule_segment *g = &p->s->segments[p->segment];

    for (size_t i = g->first; i < g->first + g->n; i++)
        if (strcmp(p->s->pairs[i].name, name) == 0)
            return &p->s->pairs[i];
    return NULL;
}

/* exp() of the logarithm may be a neighbour of the value. */
static double
logarithm(const struct place *p, size_t dim, double value)
{
    const struct tp_dim *d = TP_DIM(p->space, dim);
    double x = num_log(value > 0 ? value : d->q / 4), near = x;

    for (int k = 0; k < 2 * NEIGHBOURS; k++) {
        if (tp_value_of(p->host, dim, near) == value)
            return near;
        if (k + 1 == NEIGHBOURS)
            near = x;
        near =
            nextafter(near, k + 1 < NEIGHBOURS ? INFINITY : -(double)INFINITY);
    }
    return x;
}

static int
place_index(const struct place *p, size_t dim, double at, double *x)
{
    const struct tp_dim *d = TP_DIM(p->space, dim);

    if (!(at >= 0 && at < (double)d->n_choices) || at != num_round_even(at))
        return refuse(p, d->name,
                      "is none of the %llu that the search space has",
                      (unsigned long long)d->n_choices);
    *x = at;
    return 0;
}

/* Whatever is out of its range is refused, and not clipped. */
static int
place_number(const struct place *p, size_t dim, double value, double *x)
{
    const struct tp_dim *d = TP_DIM(p->space, dim);
    double got;

    *x = d->flags & TP_DIM_LOG ? logarithm(p, dim, value) : value;
    got = tp_value_of(p->host, dim, *x);
    if (isfinite(*x) && got == value)
        return 0;
    return refuse(p, d->name, "is %.17g, which no trial can be given here",
                  value);
}

/* One that is not named: as before, or else drawn. */
static double
unnamed(const struct place *p, size_t dim, const double *x)
{
    double before =
        p->segment > 0 ? *(x + dim - p->space->n_dims) : (double)NAN;
    const struct tp_host *host = p->host;

    return isnan(before) ? prior_draw(&p->prior.dims[dim],
                                      tp_uniform(host, 0, (uint32_t)dim, 0))
                         : before;
}

static int
place_dim(const struct place *p, size_t dim, double *x)
{
    const struct tp_dim *d = TP_DIM(p->space, dim);
    const struct schedule_pair *pair = find(p, d->name);
    bool active =
        d->parent == TP_NO_PARENT || x[d->parent] == (double)d->parent_choice;

    x[dim] = (double)NAN;
    if (!active)
        return pair == NULL ? 0
                            : refuse(p, d->name, "is given, and not active");
    if (pair == NULL) {
        x[dim] = unnamed(p, dim, x);
        return 0;
    }
    if (pair->is_index != (d->kind == TP_CHOICE))
        return refuse(p, d->name, "expected %s",
                      d->kind == TP_CHOICE ? "# and an index" : "a number");
    if (d->kind == TP_CHOICE)
        return place_index(p, dim, pair->value, &x[dim]);
    if (d->kind == TP_RANDINT)
        return place_index(
            p, dim, (pair->value - (double)d->offset) / (d->q > 0 ? d->q : 1),
            &x[dim]);
    return place_number(p, dim, pair->value, &x[dim]);
}

static int
check_names(const struct place *p)
{
    const struct schedule_segment *g = &p->s->segments[p->segment];

    for (size_t i = g->first; i < g->first + g->n; i++) {
        const char *name = p->s->pairs[i].name;
        bool known = false;

        for (size_t k = 0; k < p->space->n_dims; k++)
            known |= strcmp(TP_DIM(p->space, k)->name, name) == 0;
        if (!known)
            return refuse(p, name, "is none of the search space");
    }
    return 0;
}

static int
place_all(struct place *p, double *x)
{
    for (; p->segment < p->s->n_segments; p->segment++) {
        if (check_names(p) != 0)
            return -1;
        for (size_t i = 0; i < p->space->n_dims; i++)
            if (place_dim(p, i, x + p->segment * p->space->n_dims) != 0)
                return -1;
    }
    return 0;
}

int
points_place(const struct schedule *s, const struct tp_host *host,
             const struct tp_space *space, double *x,
             char why[SCHEDULE_WHY_MAX])
{
    struct place p = {.s = s, .host = host, .space = space, .why = why};
    int rc;

    if (prior_of_space(&p.prior, space) != 0) {
        snprintf(why, SCHEDULE_WHY_MAX, "out of memory");
        return -1;
    }
    rc = place_all(&p, x);
    prior_fini(&p.prior);
    return rc;
}
