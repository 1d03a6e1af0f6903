/* SPDX-License-Identifier: MIT */
/* several.h - which points are good where results have several costs: front
 * after front, and of the one that is too large those that together have most
 * of the hypervolume.
 *
 * Y. Ozaki, Y. Tanigaki, S. Watanabe, M. Nomura, M. Onishi, "Multiobjective
 * Tree-Structured Parzen Estimator", JAIR 73, 2022; the subset is chosen
 * greedily, each point when its bound of before still says so (A. P. Guerreiro,
 * C. M. Fonseca, L. Paquete, "Greedy Hypervolume Subset Selection in Low
 * Dimensions", 2016).
 *
 * Less of a cost is better.  One thread. */
#ifndef TUNERS_TPE_SEVERAL_H
#define TUNERS_TPE_SEVERAL_H

#include "tpe/points.h"

struct tp_sink;
struct tp_source;

#define SEVERAL_MAX 8 /* costs */

/* Rows of costs, which points with a result have: struct point's row. */
struct several {
    size_t n_costs; /* 0: results are one value */
    double *costs;
    double *violations;
    size_t n, room;
};

/* A zeroed one may be given to it. */
void tpe_several_fini(struct several *s);

/* A row for a result that is told next; the caller gives it to the point of
 * that.  -1: out of memory. */
int tpe_several_add(struct several *s, const double *costs, double violation,
                    uint32_t *row);

/* The complete points, or while there is none those that were stopped, step by
 * step, have their order as losses, `want` of them the right one; until
 * tpe_several_level() makes them all equal again: between two calls from
 * outside nothing depends on what was asked for.  -1: out of memory. */
int tpe_several_order(const struct several *s, struct points *p, size_t want);
void tpe_several_level(struct points *p);

/* Behind the points: of each its costs. */
void tpe_several_save(const struct several *s, const struct points *p,
                      const struct tp_sink *sink);

/* After the points, into one that has no rows.  NULL, or what is wrong. */
const char *tpe_several_load(struct several *s, struct points *p,
                             const struct tp_source *source);

#endif
