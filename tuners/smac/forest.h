/* SPDX-License-Identifier: MIT */
/* forest.h - a random forest of regression trees that tells how sure it is.
 *
 * F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential Model-Based Optimization
 * for General Algorithm Configuration", LION 5, 2011, section 4.1; variance as
 * in F. Hutter, L. Xu, H. H. Hoos, K. Leyton-Brown, "Algorithm Runtime
 * Prediction", AIJ 206, 2014, section 4.3.2.
 *
 * - Each tree is fitted to a bootstrap sample.
 * - A node is split at the best place among some of the columns.  Where a
 *   number is cut is drawn from between the two values there, so that the mean
 *   of many trees slopes where one is a step.  Categories are put in the order
 *   of their means, and what the node has not seen goes either way.
 * - A prediction has the mean of the trees and, by the law of total variance,
 *   the mean of their leaves' variances and the variance of their means.
 *
 * One thread. */
#ifndef TUNERS_SMAC_FOREST_H
#define TUNERS_SMAC_FOREST_H

#include "smac/dice.h"

#include <stdbool.h>

#define FOREST_CODES 64 /* categories are 0 .. 63 */

struct forest_options {
    size_t trees;     /* > 0 */
    size_t min_split; /* a node of fewer samples is a leaf; > 1 */
    double columns;   /* share of the columns that a split looks at */
};

/* What a forest is fitted to, lent. */
struct forest_data {
    const double *x; /* a column of n_rows behind the other */
    const double *y; /* finite */
    size_t n_rows;   /* at least 1 */
};

struct forest_node;

/* Members are forest.c's. */
struct forest {
    struct forest_options options;
    size_t n_columns;
    bool *is_category; /* by column */
    struct forest_node *nodes;
    size_t n_nodes, nodes_room;
    uint32_t *roots; /* by tree */
    size_t rows_room;
    struct forest_key *keys;
    uint32_t *sorted; /* rows by column, in the order of its values */
    uint32_t *order;  /* the same of the tree that grows */
    uint32_t *spare;
    uint32_t *columns;
    double *weight; /* by row: how often the tree has it */
    bool *is_left;  /* by row */
};

/* A zeroed one is finished.  -1: out of memory; forest_fini() in any case. */
int forest_init(struct forest *f, const struct forest_options *options,
                const bool *is_category, size_t n_columns);
void forest_fini(struct forest *f);

/* Trees for the data, by what is drawn.  -1: out of memory, there are none. */
int forest_fit(struct forest *f, const struct forest_data *data,
               struct dice *dice);

/* Of a row of n_columns numbers; after a forest_fit(). */
void forest_predict(const struct forest *f, const double *row, double *mean,
                    double *variance);

#endif
