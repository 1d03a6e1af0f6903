/* SPDX-License-Identifier: MIT */
#include "manager/deadlines.h"

#include "core/grow.h"

#include <stdlib.h>

void
deadlines_fini(struct deadlines *d)
{
    free(d->heap);
    *d = (struct deadlines){0};
}

static void
put(struct deadlines *d, struct deadline *one, size_t place)
{
    d->heap[place - 1] = one;
    one->place = place;
}

/* To where nobody above it is later. */
static void
rise(struct deadlines *d, struct deadline *one)
{
    size_t place = one->place;

    while (place > 1 && d->heap[place / 2 - 1]->at_ns > one->at_ns) {
        put(d, d->heap[place / 2 - 1], place);
        place /= 2;
    }
    put(d, one, place);
}

/* To where nobody below it is nearer. */
static void
sink(struct deadlines *d, struct deadline *one)
{
    size_t place = one->place;

    while (2 * place <= d->n) {
        size_t below = 2 * place;

        if (below < d->n && d->heap[below]->at_ns < d->heap[below - 1]->at_ns)
            below++;
        if (d->heap[below - 1]->at_ns >= one->at_ns)
            break;
        put(d, d->heap[below - 1], place);
        place = below;
    }
    put(d, one, place);
}

int
deadlines_set(struct deadlines *d, struct deadline *one, int64_t at_ns)
{
    if (at_ns == INT64_MAX) {
        deadlines_drop(d, one);
        return 0;
    }
    if (one->place == 0) {
        if (GROW(d->heap, d->n, d->cap) != 0)
            return -1;
        put(d, one, ++d->n);
    }
    one->at_ns = at_ns;
    rise(d, one);
    sink(d, one);
    return 0;
}

void
deadlines_drop(struct deadlines *d, struct deadline *one)
{
    struct deadline *last;
    size_t place = one->place;

    if (place == 0)
        return;
    last = d->heap[--d->n];
    one->place = 0;
    one->at_ns = INT64_MAX;
    if (last == one)
        return;
    put(d, last, place);
    rise(d, last);
    sink(d, last);
}

int64_t
deadlines_nearest(const struct deadlines *d)
{
    return d->n > 0 ? d->heap[0]->at_ns : INT64_MAX;
}

void
deadlines_run(struct deadlines *d, int64_t now_ns, void *ctx)
{
    while (d->n > 0 && d->heap[0]->at_ns <= now_ns) {
        struct deadline *one = d->heap[0];

        deadlines_drop(d, one);
        one->due(ctx, one->of);
    }
}
