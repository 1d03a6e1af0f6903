/* SPDX-License-Identifier: MIT */
#include "asha/fronts.h"

#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

void
fronts_init(struct fronts *f, size_t n_costs)
{
    *f = (struct fronts){.n_costs = n_costs, .crowded = NO_ROW};
}

void
fronts_fini(struct fronts *f)
{
    free(f->costs);
    free(f->violations);
    free(f->ranks);
    free(f->next);
    free(f->is_twin);
    free(f->crowding);
    free(f->scratch);
    for (size_t k = 0; k < f->n_costs; k++)
        free(f->sorted[k]);
    free(f->lists);
    fronts_init(f, f->n_costs);
}

int
fronts_reserve(struct fronts *f, size_t room)
{
    if (grow_to(&f->costs, room, f->n_costs * sizeof *f->costs) != 0 ||
        grow_to(&f->violations, room, sizeof *f->violations) != 0 ||
        grow_to(&f->ranks, room, sizeof *f->ranks) != 0 ||
        grow_to(&f->next, room, sizeof *f->next) != 0 ||
        grow_to(&f->is_twin, room, sizeof *f->is_twin) != 0 ||
        grow_to(&f->crowding, room, sizeof *f->crowding) != 0 ||
        grow_to(&f->scratch, room, sizeof *f->scratch) != 0 ||
        grow_to(&f->lists, room, sizeof *f->lists) != 0)
        return -1;
    for (size_t k = 0; k < f->n_costs; k++)
        if (grow_to(&f->sorted[k], room, sizeof *f->sorted[k]) != 0)
            return -1;
    return 0;
}

static const double *
costs_of(const struct fronts *f, uint32_t row)
{
    return f->costs + row * f->n_costs;
}

static bool
dominates(const struct fronts *f, uint32_t a, uint32_t b)
{
    return front_dominates(costs_of(f, a), f->violations[a], costs_of(f, b),
                           f->violations[b], f->n_costs);
}

static bool
one_dominates(const struct fronts *f, uint32_t list, uint32_t row)
{
    for (; list != NO_ROW; list = f->next[list])
        if (dominates(f, list, row))
            return true;
    return false;
}

/* The first front that does not dominate the row. */
static uint32_t
find_front(const struct fronts *f, uint32_t row)
{
    uint32_t low = 0, high = f->n_fronts;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (one_dominates(f, f->lists[middle].head, row))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
have_equal_costs(const struct fronts *f, uint32_t a, uint32_t b)
{
    for (size_t k = 0; k < f->n_costs; k++)
        if (front_compare(costs_of(f, a)[k], costs_of(f, b)[k]) != 0)
            return false;
    return true;
}

/* Whether one of a front that does not dominate the row is like it. */
static bool
has_like(const struct fronts *f, uint32_t rank, uint32_t row)
{
    uint32_t i = rank < f->n_fronts ? f->lists[rank].head : NO_ROW;

    for (; i != NO_ROW; i = f->next[i])
        if (have_equal_costs(f, i, row) && !dominates(f, row, i))
            return true;
    return false;
}

static void
put(struct fronts *f, uint32_t rank, uint32_t row)
{
    f->ranks[row] = rank;
    f->next[row] = f->lists[rank].head;
    f->lists[rank].head = row;
    f->lists[rank].n++;
}

/* The rows of the list enter a front; returns a list of those that they
 * dominate, which have left it. */
static uint32_t
enter(struct fronts *f, uint32_t rank, uint32_t list)
{
    uint32_t left = NO_ROW, i, next;

    i = rank < f->n_fronts ? f->lists[rank].head : NO_ROW;
    f->lists[rank] = (struct fronts_list){NO_ROW, 0};
    f->n_fronts += rank == f->n_fronts;
    for (; i != NO_ROW; i = next) {
        next = f->next[i];
        if (one_dominates(f, list, i)) {
            f->next[i] = left;
            left = i;
        } else {
            put(f, rank, i);
        }
    }
    for (i = list; i != NO_ROW; i = next) {
        next = f->next[i];
        put(f, rank, i);
    }
    return left;
}

static void
sort_in(struct fronts *f, size_t k, uint32_t row)
{
    uint32_t *sorted = f->sorted[k];
    size_t low = 0, high = row;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (front_compare(costs_of(f, sorted[middle])[k],
                          costs_of(f, row)[k]) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(sorted + low + 1, sorted + low, (row - low) * sizeof *sorted);
    sorted[low] = row;
}

void
fronts_append(struct fronts *f, const double *costs, double violation)
{
    for (size_t k = 0; k < f->n_costs; k++)
        f->costs[f->n * f->n_costs + k] =
            costs == NULL ? (double)NAN : costs[k];
    f->violations[f->n++] = violation;
    f->crowded = NO_ROW;
}

void
fronts_add(struct fronts *f, const double *costs, double violation)
{
    uint32_t row = (uint32_t)f->n, rank, list = row;

    fronts_append(f, costs, violation);
    rank = find_front(f, row);
    f->is_twin[row] = has_like(f, rank, row);
    f->next[row] = NO_ROW;
    for (; list != NO_ROW; rank++)
        list = enter(f, rank, list);
    for (size_t k = 0; k < f->n_costs; k++)
        sort_in(f, k, row);
}

/* ---- all at once ---- */

struct entry {
    const double *costs;
    size_t n_costs;
    uint32_t rank, row;
};

static int
compare_costs(const struct entry *a, const struct entry *b)
{
    int c = (a->rank > b->rank) - (a->rank < b->rank);

    for (size_t k = 0; c == 0 && k < a->n_costs; k++)
        c = front_compare(a->costs[k], b->costs[k]);
    return c;
}

static int
compare(const void *va, const void *vb)
{
    const struct entry *a = va, *b = vb;
    int c = compare_costs(a, b);

    return c != 0 ? c : (a->row > b->row) - (a->row < b->row);
}

static void
find_twins(struct fronts *f, struct entry *entries)
{
    for (uint32_t i = 0; i < f->n; i++)
        entries[i] = (struct entry){costs_of(f, i), f->n_costs, f->ranks[i], i};
    qsort(entries, f->n, sizeof *entries, compare);
    for (size_t i = 0; i < f->n; i++)
        f->is_twin[entries[i].row] =
            i > 0 && compare_costs(&entries[i - 1], &entries[i]) == 0;
}

static void
sort_all(struct fronts *f, size_t k, struct entry *entries)
{
    for (uint32_t i = 0; i < f->n; i++)
        entries[i] = (struct entry){costs_of(f, i) + k, 1, 0, i};
    qsort(entries, f->n, sizeof *entries, compare);
    for (size_t i = 0; i < f->n; i++)
        f->sorted[k][i] = entries[i].row;
}

int
fronts_sort(struct fronts *f)
{
    struct entry *entries = calloc(f->n + 1, sizeof *entries);

    if (entries == NULL ||
        front_ranks(f->costs, f->violations, f->n, f->n_costs, f->ranks) != 0) {
        free(entries);
        return -1;
    }
    f->n_fronts = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        while (f->n_fronts <= f->ranks[i])
            f->lists[f->n_fronts++] = (struct fronts_list){NO_ROW, 0};
        put(f, f->ranks[i], i);
    }
    find_twins(f, entries);
    for (size_t k = 0; k < f->n_costs; k++)
        sort_all(f, k, entries);
    free(entries);
    return 0;
}

/* ---- asked ---- */

static void
crowd(struct fronts *f, uint32_t rank)
{
    if (f->crowded == rank)
        return;
    for (uint32_t i = f->lists[rank].head; i != NO_ROW; i = f->next[i])
        f->crowding[i] = 0;
    for (size_t k = 0; k < f->n_costs; k++) {
        size_t n = 0;

        for (size_t i = 0; i < f->n; i++) {
            uint32_t row = f->sorted[k][i];

            if (f->ranks[row] == rank && !f->is_twin[row])
                f->scratch[n++] = row;
        }
        front_crowd(f->costs + k, f->n_costs, f->scratch, n, f->crowding);
    }
    f->crowded = rank;
}

size_t
fronts_before(const struct fronts *f, uint32_t rank)
{
    size_t n = 0;

    for (uint32_t i = 0; i < rank; i++)
        n += f->lists[i].n;
    return n;
}

bool
fronts_precedes(struct fronts *f, uint32_t a, uint32_t b)
{
    const double *c = f->crowding;

    if (f->ranks[a] != f->ranks[b])
        return f->ranks[a] < f->ranks[b];
    crowd(f, f->ranks[a]);
    return c[a] != c[b] ? c[a] > c[b] : a < b;
}

size_t
fronts_place(struct fronts *f, uint32_t i)
{
    size_t place = fronts_before(f, f->ranks[i]);

    for (uint32_t j = f->lists[f->ranks[i]].head; j != NO_ROW; j = f->next[j])
        place += j != i && fronts_precedes(f, j, i);
    return place;
}
