/* SPDX-License-Identifier: MIT */
#include "space/dims.h"
#include "space/space.h"

#include "numerics/random.h"

#include <math.h>

/* A dimension's number is keyed by its index, so that it does not depend on
 * what the other dimensions are or which of them are active. */
static double
sample_dim(const struct tp_dim *d, uint64_t seed, uint64_t draw_id, size_t i)
{
    struct random_stream stream =
        random_stream(seed, RANDOM_PRIOR, draw_id, (uint32_t)i);
    uint32_t draw = 0;
    double x;

    if (d->flags & TP_DIM_INDEX)
        return (double)random_below(&stream, &draw, d->n_choices);
    if (d->flags & TP_DIM_NORMAL)
        return d->mu + d->sigma * random_normal(&stream, draw);
    x = d->low + (d->high - d->low) * random_uniform(&stream, draw);
    return x > d->high ? d->high : x; /* the product may have rounded up */
}

void
space_sample(const struct space *s, uint64_t seed, uint64_t draw_id, double *x)
{
    for (size_t i = 0; i < s->n;) {
        size_t end = s->dim[i].end;

        if (dim_is_chosen(s, x, i)) {
            x[i] = sample_dim(&s->tp[i], seed, draw_id, i);
            i++;
            continue;
        }
        while (i < end)
            x[i++] = NAN;
    }
}
