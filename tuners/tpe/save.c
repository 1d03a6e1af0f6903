/* SPDX-License-Identifier: MIT */
#include "tpe/save.h"

#include "keyset/saved.h"

#include <math.h>
#include <stdlib.h>

#define HEAD_MEMBERS 4 /* of 8 bytes, of a point */

void
tpe_save(const struct tpe *t, const struct tp_sink *sink)
{
    const struct points *p = &t->points;

    sink->u64(sink->ctx, t->last_id);
    sink->u64(sink->ctx, t->attempt);
    keyset_save(&t->twins, sink);
    sink->u64(sink->ctx, p->n);
    for (size_t i = 0; i < p->n; i++) {
        sink->u64(sink->ctx, p->all[i].id);
        sink->u64(sink->ctx, (uint64_t)p->all[i].state);
        sink->f64(sink->ctx, p->all[i].loss);
        sink->u64(sink->ctx, p->all[i].step);
        sink->f64s(sink->ctx, p->x + i * p->n_dims, p->n_dims);
    }
}

static const char *
load_point(struct tpe *t, const struct tp_source *source, double *x)
{
    uint64_t state, i = t->points.n;
    struct point point;

    source->u64(source->ctx, &point.id);
    source->u64(source->ctx, &state);
    source->f64(source->ctx, &point.loss);
    source->u64(source->ctx, &point.step);
    if (source->f64s(source->ctx, x, t->n_dims) != TP_OK)
        return "a point is missing";
    if (state > POINT_GONE || !isfinite(point.loss) ||
        !tpe_axis_is_point(t->axes, t->n_dims, x) ||
        (point.id != POINTS_NO_ID && tpe_points_find(&t->points, point.id) < i))
        return "a point is damaged";
    point.state = (enum point_state)state;
    return tpe_copy(t, &point, x) == 0 ? NULL : "out of memory";
}

const char *
tpe_load(struct tpe *t, const struct tp_source *source)
{
    uint64_t attempt = 0, n = 0;
    const char *why = NULL;
    double *x;

    source->u64(source->ctx, &t->last_id);
    source->u64(source->ctx, &attempt);
    why = keyset_load(&t->twins, source);
    if (why != NULL)
        return why;
    if (source->u64(source->ctx, &n) != TP_OK || attempt > UINT32_MAX ||
        n > source->left(source->ctx) / (8 * (HEAD_MEMBERS + t->n_dims)))
        return "the number of points is damaged";
    t->attempt = (uint32_t)attempt;
    x = calloc(t->n_dims + 1, sizeof *x);
    if (x == NULL)
        return "out of memory";
    while (why == NULL && n-- > 0)
        why = load_point(t, source, x);
    free(x);
    return why;
}
