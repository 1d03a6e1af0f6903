/* SPDX-License-Identifier: MIT */
#include "tpe/save.h"

#include <math.h>
#include <stdlib.h>

#define HEAD_MEMBERS 4 /* of 8 bytes, of a point */

void
tpe_save(const struct tpe *t, const struct tp_sink *sink)
{
    const struct points *p = &t->points;

    sink->u64(sink->ctx, t->last_id);
    sink->u64(sink->ctx, t->attempt);
    sink->u64(sink->ctx, p->n);
    for (size_t i = 0; i < p->n; i++) {
        sink->u64(sink->ctx, p->all[i].id);
        sink->u64(sink->ctx, (uint64_t)p->all[i].state);
        sink->f64(sink->ctx, p->all[i].loss);
        sink->u64(sink->ctx, p->all[i].step);
        sink->f64s(sink->ctx, p->x + i * p->n_dims, p->n_dims);
    }
    sink->u64(sink->ctx, t->left.n);
    for (size_t i = 0; i < t->left.n; i++)
        sink->u64(sink->ctx, t->left.keys[i][0]);
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

static const char *
load_left(struct tpe *t, const struct tp_source *source)
{
    uint64_t n = 0, key[2] = {0, 0};

    if (source->u64(source->ctx, &n) != TP_OK ||
        n > source->left(source->ctx) / sizeof *key || (n > 0 && !t->repeats))
        return "the number of places that were left is damaged";
    while (n-- > 0) {
        source->u64(source->ctx, &key[0]);
        if (keyset_add(&t->left, key, NULL) < 0 ||
            keyset_add(&t->twins, key, NULL) < 0)
            return "out of memory";
    }
    return NULL;
}

const char *
tpe_load(struct tpe *t, const struct tp_source *source)
{
    uint64_t attempt = 0, n = 0;
    const char *why = NULL;
    double *x;

    source->u64(source->ctx, &t->last_id);
    source->u64(source->ctx, &attempt);
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
    return why == NULL ? load_left(t, source) : why;
}
