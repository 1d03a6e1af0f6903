/* SPDX-License-Identifier: MIT */
#include "asha/rung.h"

#include "front.h"
#include "grow.h"

#include <math.h>
#include <stdlib.h>

/* Whether entry i belongs above j in a heap; `sign` turns the order round. */
static bool
is_above(const struct rung *r, uint32_t i, uint32_t j, bool worst_first)
{
    const struct rung_entry *a = &r->entries[i], *b = &r->entries[j];
    bool is_better = a->loss != b->loss ? a->loss < b->loss : i < j;

    return is_better != worst_first;
}

static void
push(const struct rung *r, struct rung_heap *h, uint32_t i, bool worst_first)
{
    size_t at = h->n++;

    while (at > 0 && is_above(r, i, h->at[(at - 1) / 2], worst_first)) {
        h->at[at] = h->at[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->at[at] = i;
}

static uint32_t
pop(const struct rung *r, struct rung_heap *h, bool worst_first)
{
    uint32_t first = h->at[0], last = h->at[--h->n];
    size_t at = 0, child;

    while ((child = 2 * at + 1) < h->n) {
        if (child + 1 < h->n &&
            is_above(r, h->at[child + 1], h->at[child], worst_first))
            child++;
        if (is_above(r, last, h->at[child], worst_first))
            break;
        h->at[at] = h->at[child];
        at = child;
    }
    if (h->n > 0)
        h->at[at] = last;
    return first;
}

void
asha_rung_init(struct rung *r, uint64_t eta, size_t least, size_t n_costs)
{
    *r = (struct rung){.eta = eta, .least = least, .n_costs = n_costs};
}

void
asha_rung_fini(struct rung *r)
{
    free(r->entries);
    free(r->top.at);
    free(r->rest.at);
    free(r->wait.at);
    free(r->costs);
    free(r->violations);
    asha_rung_init(r, r->eta, r->least, r->n_costs);
}

static int
grow(struct rung *r)
{
    size_t room = grow_cap(r->room);

    if (room >= RUNG_NONE ||
        grow_to(&r->entries, room, sizeof *r->entries) != 0 ||
        grow_to(&r->top.at, room, sizeof *r->top.at) != 0 ||
        grow_to(&r->rest.at, room, sizeof *r->rest.at) != 0 ||
        grow_to(&r->wait.at, room, sizeof *r->wait.at) != 0 ||
        (r->n_costs > 0 &&
         (grow_to(&r->costs, room, r->n_costs * sizeof *r->costs) != 0 ||
          grow_to(&r->violations, room, sizeof *r->violations) != 0)))
        return -1;
    r->room = room;
    return 0;
}

static size_t
top_size(const struct rung *r)
{
    size_t n = (size_t)(r->n / r->eta);

    return n > r->least ? n : r->least;
}

/* The new one goes to the top for a moment, and the worst there leaves it; the
 * best of the rest follows when the top has grown. */
static void
place(struct rung *r, uint32_t i)
{
    uint32_t out, in;

    r->entries[i].is_top = 1;
    push(r, &r->top, i, true);
    out = pop(r, &r->top, true);
    r->entries[out].is_top = 0;
    push(r, &r->rest, out, false);
    while (r->top.n < top_size(r) && r->rest.n > 0) {
        in = pop(r, &r->rest, false);
        r->entries[in].is_top = 1;
        push(r, &r->top, in, true);
    }
}

uint32_t
asha_rung_add(struct rung *r, double loss, uint64_t id, uint32_t config)
{
    uint32_t i = (uint32_t)r->n;

    if (r->n == r->room && grow(r) != 0)
        return RUNG_NONE;
    r->entries[i] = (struct rung_entry){
        .loss = isnan(loss) ? INFINITY : loss,
        .id = id,
        .config = config,
        .state = RUNG_RECORDED,
    };
    r->n++;
    place(r, i);
    return i;
}

uint32_t
asha_rung_append(struct rung *r, const double *costs, double violation,
                 uint64_t id, uint32_t config)
{
    uint32_t i = (uint32_t)r->n;

    if (r->n == r->room && grow(r) != 0)
        return RUNG_NONE;
    r->entries[i] =
        (struct rung_entry){.id = id, .config = config, .state = RUNG_RECORDED};
    for (size_t k = 0; k < r->n_costs; k++)
        r->costs[i * r->n_costs + k] = costs == NULL ? (double)NAN : costs[k];
    r->violations[i] =
        costs == NULL || isnan(violation) ? (double)INFINITY : violation;
    r->n++;
    return i;
}

/* All heaps anew: the places of all may have changed. */
static void
fill_heaps(struct rung *r)
{
    size_t top = top_size(r);

    r->top.n = r->rest.n = r->wait.n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        struct rung_entry *e = &r->entries[i];

        e->is_top = e->loss < (double)top;
        push(r, e->is_top ? &r->top : &r->rest, i, e->is_top);
        if (e->state == RUNG_WAITING)
            push(r, &r->wait, i, false);
    }
}

int
asha_rung_sort(struct rung *r)
{
    uint32_t *order = calloc(r->n + 1, sizeof *order);
    int rc = order == NULL ? -1
                           : front_order(r->costs, r->violations, r->n,
                                         r->n_costs, order);

    for (size_t i = 0; rc == 0 && i < r->n; i++)
        r->entries[order[i]].loss = (double)i;
    if (rc == 0)
        fill_heaps(r);
    free(order);
    return rc;
}

uint32_t
asha_rung_add_several(struct rung *r, const double *costs, double violation,
                      uint64_t id, uint32_t config)
{
    uint32_t i = asha_rung_append(r, costs, violation, id, config);

    if (i == RUNG_NONE || asha_rung_sort(r) == 0)
        return i;
    r->n--;
    return RUNG_NONE;
}

void
asha_rung_wait(struct rung *r, uint32_t i)
{
    r->entries[i].state = RUNG_WAITING;
    push(r, &r->wait, i, false);
}

/* All that wait are in one order, of which the top is the beginning. */
uint32_t
asha_rung_next(const struct rung *r)
{
    if (r->wait.n == 0 || !r->entries[r->wait.at[0]].is_top)
        return RUNG_NONE;
    return r->wait.at[0];
}

void
asha_rung_promote(struct rung *r)
{
    r->entries[pop(r, &r->wait, false)].state = RUNG_PROMOTED;
}

void
asha_rung_close(struct rung *r)
{
    r->wait.n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        struct rung_entry *e = &r->entries[i];

        if (e->state != RUNG_WAITING)
            continue;
        if (e->is_top)
            push(r, &r->wait, i, false);
        else
            e->state = RUNG_LEFT;
    }
}

double
asha_rung_cut(const struct rung *r)
{
    return r->top.n > 0 ? r->entries[r->top.at[0]].loss : (double)NAN;
}

size_t
asha_rung_rank(const struct rung *r, uint32_t i)
{
    size_t rank = 1;

    for (uint32_t j = 0; j < r->n; j++)
        rank += j != i && is_above(r, j, i, false);
    return rank;
}
