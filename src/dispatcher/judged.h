/* SPDX-License-Identifier: MIT */
/* judged.h - what of a report the assessor judges: the only value; of several
 * the one that is named; what is made of all (scalar.h); or the rank, which is
 * the share of the reports of that step so far, of whichever trials, that
 * dominate it: 0 is on the front (C. M. Fonseca, P. J. Fleming, "Genetic
 * Algorithms for Multiobjective Optimization", 1993, section 3).
 *
 * A rank is that of its time: it is not told anew when better reports come.
 * The newest JUDGED_ROWS reports count.  One owner. */
#ifndef DISPATCHER_JUDGED_H
#define DISPATCHER_JUDGED_H

#include "plugin/scalar.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct metric;
struct policy;
struct unpack;

#define JUDGED_ROWS 65536

struct judged {
    const struct policy *policy; /* borrowed, with its objectives */
    struct scalar scalar;        /* where the policy scalarizes */
    double *costs;     /* JUDGED_ROWS rows, the newest n; NULL: none so far */
    double *violation; /* of each row */
    uint64_t *step, *before; /* of each row; `before`: the number, from 1, of
                                the row before it in its chain; 0: none */
    uint64_t *chains;        /* the newest row of the steps of each chain */
    uint64_t n;              /* rows ever */
};

void judged_init(struct judged *j, const struct policy *p);
void judged_fini(struct judged *j);

/* *out: what is judged of this report, which counts from now on.  -1: out of
 * memory. */
int judged_take(struct judged *j, const struct metric *m, double *out);

/* Packs what counts, and reads it, as pack.h says; -1: damaged, or out of
 * memory. */
void judged_save(const struct judged *j, struct buf *out);
int judged_load(struct judged *j, struct unpack *in);

#endif
