/* SPDX-License-Identifier: MIT */
#include "tpe/points.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
tpe_points_init(struct points *p, size_t n_dims)
{
    *p = (struct points){.asked = POINTS_NO_ID, .n_dims = n_dims};
}

void
tpe_points_fini(struct points *p)
{
    free(p->all);
    free(p->x);
    free(p->at);
    free(p->ranked);
    free(p->by_id);
    *p = (struct points){.n_dims = p->n_dims};
}

void
tpe_points_ask(struct points *p, uint64_t id)
{
    p->again = id == p->asked ? p->again + 1 : 0;
    p->asked = id;
}

static size_t
first_not_below(const struct points *p, uint64_t id)
{
    size_t low = 0, high = p->n_ids;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (p->all[p->by_id[mid]].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

size_t
tpe_points_find(const struct points *p, uint64_t id)
{
    size_t at = first_not_below(p, id);

    if (at < p->n_ids && p->all[p->by_id[at]].id == id)
        return p->by_id[at];
    return p->n;
}

static int
make_room(struct points *p)
{
    size_t capacity = grow_cap(p->capacity);

    if (p->n < p->capacity)
        return 0;
    if (p->n >= UINT32_MAX / 2 ||
        grow_to(&p->all, capacity, sizeof *p->all) != 0 ||
        grow_to(&p->x, capacity, p->n_dims * sizeof *p->x) != 0 ||
        grow_to(&p->at, capacity, p->n_dims * sizeof *p->at) != 0 ||
        grow_to(&p->ranked, capacity, sizeof *p->ranked) != 0 ||
        grow_to(&p->by_id, capacity, sizeof *p->by_id) != 0)
        return -1;
    p->capacity = capacity;
    return 0;
}

int
tpe_points_add(struct points *p, const struct axis *axes, uint64_t id,
               const double *x)
{
    if (make_room(p) != 0)
        return -1;
    p->all[p->n] = (struct point){.id = id, .state = POINT_OPEN};
    if (id != POINTS_NO_ID) {
        size_t at = first_not_below(p, id);

        memmove(p->by_id + at + 1, p->by_id + at,
                (p->n_ids - at) * sizeof *p->by_id);
        p->by_id[at] = (uint32_t)p->n;
        p->n_ids++;
    }
    p->n++;
    p->n_open++;
    tpe_points_move(p, axes, p->n - 1, x);
    return 0;
}

void
tpe_points_move(struct points *p, const struct axis *axes, size_t i,
                const double *x)
{
    memcpy(p->x + i * p->n_dims, x, p->n_dims * sizeof *x);
    for (size_t d = 0; d < p->n_dims; d++)
        p->at[i * p->n_dims + d] =
            isnan(x[d]) ? x[d] : tpe_axis_place(&axes[d], x[d]).at;
}

static bool
is_better(const struct points *p, uint32_t i, uint32_t j)
{
    const struct point *a = &p->all[i], *b = &p->all[j];

    if (a->state != b->state)
        return a->state == POINT_DONE;
    if (a->state == POINT_STOPPED && a->step != b->step)
        return a->step > b->step;
    if (a->loss < b->loss || a->loss > b->loss)
        return a->loss < b->loss;
    return i < j;
}

static size_t *
count_of(struct points *p, enum point_state state)
{
    switch (state) {
    case POINT_OPEN:
        return &p->n_open;
    case POINT_DONE:
        return &p->n_done;
    case POINT_STOPPED:
        return &p->n_stopped;
    case POINT_FAILED:
        return &p->n_failed;
    case POINT_GONE:
        break;
    }
    return NULL;
}

static size_t
place_in_ranks(const struct points *p, uint32_t i, size_t n)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (is_better(p, p->ranked[mid], i))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void
leave_ranks(struct points *p, uint32_t i, size_t n)
{
    size_t at = place_in_ranks(p, i, n);

    memmove(p->ranked + at, p->ranked + at + 1,
            (n - at - 1) * sizeof *p->ranked);
}

static void
enter_ranks(struct points *p, uint32_t i, size_t n)
{
    size_t at = place_in_ranks(p, i, n);

    memmove(p->ranked + at + 1, p->ranked + at, (n - at) * sizeof *p->ranked);
    p->ranked[at] = i;
}

void
tpe_points_set(struct points *p, size_t i, enum point_state state, double loss,
               uint64_t step)
{
    struct point *at = &p->all[i];
    size_t *count = count_of(p, at->state);

    if (at->state == POINT_DONE || at->state == POINT_STOPPED)
        leave_ranks(p, (uint32_t)i, p->n_done + p->n_stopped);
    if (count != NULL)
        *count -= 1;
    at->state = state;
    at->loss = loss;
    at->step = step;
    if (state == POINT_DONE || state == POINT_STOPPED)
        enter_ranks(p, (uint32_t)i, p->n_done + p->n_stopped);
    count = count_of(p, state);
    if (count != NULL)
        *count += 1;
}

void
tpe_points_tell(struct points *p, size_t i, bool stopped, double loss,
                uint64_t step)
{
    if (!isfinite(loss))
        tpe_points_set(p, i, POINT_FAILED, 0, 0);
    else
        tpe_points_set(p, i, stopped ? POINT_STOPPED : POINT_DONE, loss, step);
}

void
tpe_points_ended(struct points *p, uint64_t id, bool tried)
{
    size_t i = tpe_points_find(p, id);

    if (i < p->n && p->all[i].state == POINT_OPEN)
        tpe_points_set(p, i, tried ? POINT_FAILED : POINT_GONE, 0, 0);
}

int
tpe_points_copy(struct points *p, const struct axis *axes,
                const struct point *point, const double *x)
{
    if (tpe_points_add(p, axes, point->id, x) != 0)
        return -1;
    tpe_points_set(p, p->n - 1, point->state, point->loss, point->step);
    p->all[p->n - 1].row = point->row;
    return 0;
}

#define HEAD_MEMBERS 4 /* of 8 bytes, of a point */

void
tpe_points_save(const struct points *p, const struct tp_sink *sink)
{
    tp_put_u64(sink, p->asked);
    tp_put_u64(sink, p->again);
    tp_put_u64(sink, p->n);
    for (size_t i = 0; i < p->n; i++) {
        tp_put_u64(sink, p->all[i].id);
        tp_put_u64(sink, (uint64_t)p->all[i].state);
        tp_put_f64(sink, p->all[i].loss);
        tp_put_u64(sink, p->all[i].step);
        tp_put_f64s(sink, p->x + i * p->n_dims, p->n_dims);
    }
}

static const char *
load_point(const struct points *p, const struct axis *axes,
           const struct tp_source *source, struct point *point, double *x)
{
    uint64_t state;

    tp_get_u64(source, &point->id);
    tp_get_u64(source, &state);
    tp_get_f64(source, &point->loss);
    tp_get_u64(source, &point->step);
    if (tp_get_f64s(source, x, p->n_dims) != TP_OK)
        return "a point is missing";
    if (state > POINT_GONE || !isfinite(point->loss) ||
        !tpe_axis_is_point(axes, p->n_dims, x) ||
        (point->id != POINTS_NO_ID && tpe_points_find(p, point->id) < p->n))
        return "a point is damaged";
    point->state = (enum point_state)state;
    point->row = 0;
    return NULL;
}

const char *
tpe_points_load(struct points *p, const struct axis *axes,
                const struct tp_source *source, tpe_points_copier *copy,
                void *ctx)
{
    uint64_t again = 0, n = 0;
    const char *why = NULL;
    double *x;

    tp_get_u64(source, &p->asked);
    tp_get_u64(source, &again);
    if (tp_get_u64(source, &n) != TP_OK || again > UINT32_MAX ||
        n > tp_left(source) / (8 * (HEAD_MEMBERS + p->n_dims)))
        return "the number of points is damaged";
    p->again = (uint32_t)again;
    x = calloc(p->n_dims + 1, sizeof *x);
    if (x == NULL)
        return "out of memory";
    while (why == NULL && n-- > 0) {
        struct point point;

        why = load_point(p, axes, source, &point, x);
        if (why == NULL && copy(ctx, &point, x) != 0)
            why = "out of memory";
    }
    free(x);
    return why;
}
