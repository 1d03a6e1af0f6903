/* SPDX-License-Identifier: MIT */
#include "remaining.h"

#include "elementary.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>

#define WHOLE_MAX 0x1p53 /* multiples beyond are not told apart */
#define SIGMAS 4

bool
remaining_is_continuous(const struct tp_dim *d)
{
    if (d->flags & (TP_DIM_INDEX | TP_DIM_Q))
        return false;
    return d->flags & TP_DIM_NORMAL ? d->sigma > 0 : d->low < d->high;
}

static double
limit(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

/* The multiple of q at internal coordinate x, `more` further. */
static double
multiple(const struct tp_dim *d, double x, double more)
{
    double v = d->flags & TP_DIM_LOG ? num_exp(x) : x;

    return limit(num_round_even(v / d->q) + more, -WHOLE_MAX, WHOLE_MAX);
}

/* Of log kinds one more at both ends: exp(log(bound)) is not quite the bound.
 * What lies outside is clipped to a point that is there already. */
static void
init_q(struct remaining_dim *r, const struct tp_dim *d)
{
    bool is_normal = (d->flags & TP_DIM_NORMAL) != 0;
    double more = d->flags & TP_DIM_LOG ? 1 : 0;
    double low = is_normal ? d->mu - SIGMAS * d->sigma : d->low;
    double high = is_normal ? d->mu + SIGMAS * d->sigma : d->high;

    r->first = multiple(d, low, -more);
    if (d->flags & TP_DIM_LOG && r->first < 0)
        r->first = 0;
    r->n = (uint64_t)(multiple(d, high, more) - r->first) + 1;
}

int
remaining_init(struct remaining *r, const struct tp_space *space)
{
    *r = (struct remaining){.space = space};
    r->dims = calloc(space->n_dims + 1, sizeof *r->dims);
    if (r->dims == NULL)
        return -1;
    for (size_t i = 0; i < space->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(space, i);

        r->dims[i].n = d->flags & TP_DIM_INDEX ? d->n_choices : 1;
        if (d->flags & TP_DIM_Q)
            init_q(&r->dims[i], d);
    }
    return 0;
}

void
remaining_fini(struct remaining *r)
{
    free(r->dims);
    *r = (struct remaining){0};
}

/* True when it comes round. */
static bool
step(struct remaining *r)
{
    for (size_t i = r->space->n_dims; i-- > 0;) {
        struct remaining_dim *d = &r->dims[i];

        if (d->active && d->digit + 1 < d->n) {
            d->digit++;
            return false;
        }
        d->digit = 0;
    }
    return true;
}

static double
sample(const struct tp_dim *d, const struct tp_host *host, uint64_t id,
       size_t i, uint32_t draw)
{
    double u = tp_uniform(host, id, (uint32_t)i, draw);

    if (!(d->flags & TP_DIM_NORMAL))
        return limit(d->low + (d->high - d->low) * u, d->low, d->high);
    return d->mu + d->sigma * num_normal_quantile(u > 0 ? u : 0x1p-54);
}

/* Any coordinate that rounds to the multiple will do. */
static double
q_value(const struct tp_dim *d, const struct remaining_dim *r)
{
    double k = r->first + (double)r->digit, x = k * d->q;

    if (d->flags & TP_DIM_LOG)
        x = num_log(k > 0 ? x : d->q / 4);
    return limit(x, d->low, d->high);
}

static double
value(const struct remaining *r, const struct tp_host *host, uint64_t id,
      size_t i, uint32_t draw)
{
    const struct tp_dim *d = TP_DIM(r->space, i);

    if (d->flags & TP_DIM_INDEX)
        return (double)r->dims[i].digit;
    if (d->flags & TP_DIM_Q)
        return q_value(d, &r->dims[i]);
    if (remaining_is_continuous(d))
        return sample(d, host, id, i, draw);
    return d->flags & TP_DIM_NORMAL ? d->mu : d->low;
}

bool
remaining_next(struct remaining *r, const struct tp_host *host, uint64_t id,
               uint32_t draw, double *x)
{
    bool first = !r->begun || step(r);

    r->begun = true;
    for (size_t i = 0; i < r->space->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(r->space, i);

        r->dims[i].active = d->parent == TP_NO_PARENT ||
                            x[d->parent] == (double)d->parent_choice;
        x[i] = r->dims[i].active ? value(r, host, id, i, draw) : NAN;
    }
    return first;
}

bool
remaining_has_drawn(const struct remaining *r)
{
    for (size_t i = 0; i < r->space->n_dims; i++)
        if (r->dims[i].active && remaining_is_continuous(TP_DIM(r->space, i)))
            return true;
    return false;
}

void
remaining_save(const struct remaining *r, const struct tp_sink *sink)
{
    tp_put_u64(sink, r->begun);
    for (size_t i = 0; i < r->space->n_dims; i++) {
        tp_put_u64(sink, r->dims[i].digit);
        tp_put_u64(sink, r->dims[i].active);
    }
}

const char *
remaining_load(struct remaining *r, const struct tp_source *source)
{
    uint64_t begun, active;

    if (tp_get_u64(source, &begun) != TP_OK || begun > 1)
        return "the place in the grid of what is left is damaged";
    r->begun = begun == 1;
    for (size_t i = 0; i < r->space->n_dims; i++) {
        struct remaining_dim *d = &r->dims[i];

        tp_get_u64(source, &d->digit);
        if (tp_get_u64(source, &active) != TP_OK || active > 1 ||
            d->digit >= d->n)
            return "the place in the grid of what is left is damaged";
        d->active = active == 1;
    }
    return NULL;
}
