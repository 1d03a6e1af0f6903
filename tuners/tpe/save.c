/* SPDX-License-Identifier: MIT */
#include "tpe/save.h"

#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>

#define HEAD_MEMBERS 4 /* of 8 bytes, of a point */

void
tpe_save(const struct tpe *t, const struct tp_sink *sink)
{
    const struct points *p = &t->points;

    tp_put_u64(sink, t->last_id);
    tp_put_u64(sink, t->attempt);
    tp_put_u64(sink, p->n);
    for (size_t i = 0; i < p->n; i++) {
        tp_put_u64(sink, p->all[i].id);
        tp_put_u64(sink, (uint64_t)p->all[i].state);
        tp_put_f64(sink, p->all[i].loss);
        tp_put_u64(sink, p->all[i].step);
        tp_put_f64s(sink, p->x + i * p->n_dims, p->n_dims);
    }
    tp_put_u64(sink, t->left.n);
    for (size_t i = 0; i < t->left.n; i++)
        tp_put_u64(sink, t->left.keys[i][0]);
}

static const char *
load_point(struct tpe *t, const struct tp_source *source, double *x)
{
    uint64_t state, i = t->points.n;
    struct point point;

    tp_get_u64(source, &point.id);
    tp_get_u64(source, &state);
    tp_get_f64(source, &point.loss);
    tp_get_u64(source, &point.step);
    if (tp_get_f64s(source, x, t->n_dims) != TP_OK)
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

    if (tp_get_u64(source, &n) != TP_OK || n > tp_left(source) / sizeof *key ||
        (n > 0 && !t->repeats))
        return "the number of places that were left is damaged";
    while (n-- > 0) {
        tp_get_u64(source, &key[0]);
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

    tp_get_u64(source, &t->last_id);
    tp_get_u64(source, &attempt);
    if (tp_get_u64(source, &n) != TP_OK || attempt > UINT32_MAX ||
        n > tp_left(source) / (8 * (HEAD_MEMBERS + t->n_dims)))
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
