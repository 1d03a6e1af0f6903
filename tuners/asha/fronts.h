/* SPDX-License-Identifier: MIT */
/* fronts.h - rows of costs in the order of front_order(), to the bit, while one
 * after the other is added.
 *
 * The new row enters the front that the others give it; those there that it
 * dominates enter the next one, and so on (K. Li, K. Deb, Q. Zhang, Q. Zhang,
 * "Efficient Nondomination Level Update Method for Steady-State Evolutionary
 * Multiobjective Optimization", 2016).  The crowding of one front at a time is
 * worked out when it is asked for.  A row so costs about as many steps as there
 * are rows, where front_order() with more than two costs takes the square.
 *
 * Memory, a row: 37 bytes and 12 a cost.  One thread. */
#ifndef ASHA_FRONTS_H
#define ASHA_FRONTS_H

#include "front.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fronts_list {
    uint32_t head; /* one of its rows; UINT32_MAX: it has none */
    uint32_t n;
};

struct fronts {
    size_t n_costs; /* 1 to FRONT_COSTS_MAX */
    size_t n;       /* rows, in the order in which they came */
    double *costs, *violations;
    uint32_t *ranks;
    uint32_t *next;    /* of the rows of a front, UINT32_MAX behind the last */
    uint8_t *is_twin;  /* it is like a row before it, which counts alone */
    double *crowding;  /* of the rows of front `crowded` */
    uint32_t *scratch; /* rows of a front */
    uint32_t *sorted[FRONT_COSTS_MAX]; /* rows by that cost, then in order */
    struct fronts_list *lists;
    uint32_t n_fronts, crowded; /* UINT32_MAX: none */
};

void fronts_init(struct fronts *f, size_t n_costs);
void fronts_fini(struct fronts *f);

/* Room for so many rows, less than UINT32_MAX.  -1: out of memory. */
int fronts_reserve(struct fronts *f, size_t room);

/* Adds a row, for which there is room.  Costs that are NULL are NaN. */
void fronts_add(struct fronts *f, const double *costs, double violation);

/* fronts_append() adds one of many rows, for which there is room; once all are
 * there, fronts_sort() orders them.  -1: out of memory. */
void fronts_append(struct fronts *f, const double *costs, double violation);
int fronts_sort(struct fronts *f);

/* How many rows are in the fronts before this one. */
size_t fronts_before(const struct fronts *f, uint32_t rank);

/* Whether row a is before b in the order. */
bool fronts_precedes(struct fronts *f, uint32_t a, uint32_t b);

/* The place of row i in the order; 0 for the best. */
size_t fronts_place(struct fronts *f, uint32_t i);

#endif
