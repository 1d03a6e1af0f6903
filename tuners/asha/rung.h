/* SPDX-License-Identifier: MIT */
/* rung.h - the results at one level of successive halving: which of them are
 * in the best 1/eta so far, and the best of those that wait for a promotion.
 *
 * Entries are ordered by loss, equal ones by arrival; there is no other tie.
 * The best floor(n / eta) of n, at least `least`, are its top.  That grows by
 * at most one with each entry, so two heaps hold the border between top and
 * rest, and a third those that wait: adding, promoting O(log n).
 *
 * With several costs they are ordered as front_order() does, by front and by
 * crowding (R. Schmucker, M. Donini, M. B. Zafar, D. Salinas, C. Archambeau,
 * "Multi-objective Asynchronous Successive Halving", 2021), and there are no
 * heaps: fronts.h has the order, and the best that waits is looked for among
 * all, O(n), once for each change.  Its loss is then its place in that order.
 *
 * Memory: 36 bytes an entry, or 24 and what fronts.h has where there are
 * several costs; up to twice that while there is room to grow.
 * One thread; knows no plugin interface. */
#ifndef ASHA_RUNG_H
#define ASHA_RUNG_H

#include "asha/fronts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNG_NONE UINT32_MAX

struct rung_entry {
    double loss;     /* smaller is better; never NaN */
    uint64_t id;     /* the trial that reported it */
    uint32_t config; /* the caller's */
    uint8_t is_top;  /* with one cost: asha_rung_is_top() */
    uint8_t state;   /* enum rung_state */
};

enum rung_state {
    RUNG_RECORDED, /* its trial has not ended, or goes nowhere */
    RUNG_WAITING,  /* may be promoted */
    RUNG_PROMOTED,
    RUNG_LEFT /* has waited in vain */
};

struct rung_heap {
    uint32_t *at;
    size_t n;
};

struct rung {
    uint64_t eta;
    size_t least;
    size_t n_costs;             /* 0: a loss each */
    struct rung_entry *entries; /* in the order in which they came */
    size_t n, room;
    struct rung_heap top;  /* the worst first */
    struct rung_heap rest; /* the best first */
    struct rung_heap wait; /* the best first */
    /* with several costs */
    struct fronts fronts; /* the entries as rows */
    bool knows_next;      /* `next` is asha_rung_next() */
    uint32_t next;
};

/* An empty one; it allocates nothing. */
void asha_rung_init(struct rung *r, uint64_t eta, size_t least, size_t n_costs);
void asha_rung_fini(struct rung *r);

/* Its place, or RUNG_NONE when out of memory: nothing has changed.  A loss
 * that is NaN counts as infinite. */
uint32_t asha_rung_add(struct rung *r, double loss, uint64_t id,
                       uint32_t config);

/* The same, with several costs.  Costs that are NULL are worse than all. */
uint32_t asha_rung_add_several(struct rung *r, const double *costs,
                               double violation, uint64_t id, uint32_t config);

/* Of many at once, after a load: each in its turn, then all are ordered.  -1:
 * out of memory. */
uint32_t asha_rung_append(struct rung *r, const double *costs, double violation,
                          uint64_t id, uint32_t config);
int asha_rung_sort(struct rung *r);

/* How many are in the top, and whether entry i is. */
size_t asha_rung_top(const struct rung *r);
bool asha_rung_is_top(struct rung *r, uint32_t i);

/* From now on entry i, which is RECORDED, may be promoted. */
void asha_rung_wait(struct rung *r, uint32_t i);

/* The best of those that wait, if it is in the top; else RUNG_NONE. */
uint32_t asha_rung_next(struct rung *r);

/* That one is promoted. */
void asha_rung_promote(struct rung *r);

/* No entry is added any more: those that wait outside the top are LEFT. */
void asha_rung_close(struct rung *r);

/* The loss of the last one in the top; NaN when it is empty, or there are
 * several costs. */
double asha_rung_cut(const struct rung *r);

/* 1 for the best.  O(n): for explanations. */
size_t asha_rung_rank(struct rung *r, uint32_t i);

#endif
