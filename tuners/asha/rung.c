/* SPDX-License-Identifier: MIT */
#include "asha/rung.h"

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
    fronts_init(&r->fronts, n_costs);
}

void
asha_rung_fini(struct rung *r)
{
    free(r->entries);
    free(r->top.at);
    free(r->rest.at);
    free(r->wait.at);
    fronts_fini(&r->fronts);
    asha_rung_init(r, r->eta, r->least, r->n_costs);
}

static int
grow(struct rung *r)
{
    size_t room = grow_cap(r->room);

    if (room >= RUNG_NONE ||
        grow_to(&r->entries, room, sizeof *r->entries) != 0 ||
        (r->n_costs > 0
             ? fronts_reserve(&r->fronts, room) != 0
             : grow_to(&r->top.at, room, sizeof *r->top.at) != 0 ||
                   grow_to(&r->rest.at, room, sizeof *r->rest.at) != 0 ||
                   grow_to(&r->wait.at, room, sizeof *r->wait.at) != 0))
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

/* Adds an entry whose costs go to fronts.h by this function. */
static uint32_t
add_row(struct rung *r, const double *costs, double violation, uint64_t id,
        uint32_t config, void add(struct fronts *, const double *, double))
{
    if (r->n == r->room && grow(r) != 0)
        return RUNG_NONE;
    r->entries[r->n] =
        (struct rung_entry){.id = id, .config = config, .state = RUNG_RECORDED};
    add(&r->fronts, costs,
        costs == NULL || isnan(violation) ? (double)INFINITY : violation);
    r->knows_next = false;
    return (uint32_t)r->n++;
}

uint32_t
asha_rung_append(struct rung *r, const double *costs, double violation,
                 uint64_t id, uint32_t config)
{
    return add_row(r, costs, violation, id, config, fronts_append);
}

int
asha_rung_sort(struct rung *r)
{
    return fronts_sort(&r->fronts);
}

uint32_t
asha_rung_add_several(struct rung *r, const double *costs, double violation,
                      uint64_t id, uint32_t config)
{
    return add_row(r, costs, violation, id, config, fronts_add);
}

size_t
asha_rung_top(const struct rung *r)
{
    return top_size(r) < r->n ? top_size(r) : r->n;
}

bool
asha_rung_is_top(struct rung *r, uint32_t i)
{
    return r->n_costs == 0 ? r->entries[i].is_top
                           : fronts_place(&r->fronts, i) < top_size(r);
}

void
asha_rung_wait(struct rung *r, uint32_t i)
{
    r->entries[i].state = RUNG_WAITING;
    r->knows_next = false;
    if (r->n_costs == 0)
        push(r, &r->wait, i, false);
}

/* The best that waits, of several costs, if it is in the top.  The first loop
 * finds its front, so that the crowding of no other is worked out. */
static uint32_t
find_next(struct rung *r)
{
    const uint32_t *ranks = r->fronts.ranks;
    uint32_t front = RUNG_NONE, next = RUNG_NONE;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->entries[i].state == RUNG_WAITING && ranks[i] < front)
            front = ranks[i];
    if (front == RUNG_NONE || fronts_before(&r->fronts, front) >= top_size(r))
        return RUNG_NONE;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->entries[i].state == RUNG_WAITING && ranks[i] == front &&
            (next == RUNG_NONE || fronts_precedes(&r->fronts, i, next)))
            next = i;
    r->entries[next].loss = (double)fronts_place(&r->fronts, next);
    return asha_rung_is_top(r, next) ? next : RUNG_NONE;
}

/* All that wait are in one order, of which the top is the beginning. */
uint32_t
asha_rung_next(struct rung *r)
{
    if (r->n_costs == 0)
        return r->wait.n == 0 || !r->entries[r->wait.at[0]].is_top
                   ? RUNG_NONE
                   : r->wait.at[0];
    if (!r->knows_next)
        r->next = find_next(r);
    r->knows_next = true;
    return r->next;
}

void
asha_rung_promote(struct rung *r)
{
    uint32_t i = r->n_costs == 0 ? pop(r, &r->wait, false) : asha_rung_next(r);

    r->entries[i].state = RUNG_PROMOTED;
    r->knows_next = false;
}

void
asha_rung_close(struct rung *r)
{
    r->wait.n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        struct rung_entry *e = &r->entries[i];

        if (e->state != RUNG_WAITING)
            continue;
        if (!asha_rung_is_top(r, i))
            e->state = RUNG_LEFT;
        else if (r->n_costs == 0)
            push(r, &r->wait, i, false);
    }
}

double
asha_rung_cut(const struct rung *r)
{
    return r->top.n > 0 ? r->entries[r->top.at[0]].loss : (double)NAN;
}

size_t
asha_rung_rank(struct rung *r, uint32_t i)
{
    size_t rank = 1;

    if (r->n_costs > 0)
        return fronts_place(&r->fronts, i) + 1;
    for (uint32_t j = 0; j < r->n; j++)
        rank += j != i && is_above(r, j, i, false);
    return rank;
}
