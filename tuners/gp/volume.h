/* SPDX-License-Identifier: MIT */
/* volume.h - the hypervolume that a point of uncertain costs is expected to add
 * to that of a front.
 *
 * What no point of the front dominates, up to a reference, is cut into boxes;
 * of each the point dominates as much as its costs lie below the box, and these
 * are independent, so that the expectation is a sum of products of improvements
 * in one cost (M. T. M. Emmerich, A. H. Deutz, J. W. Klinkenberg,
 * "Hypervolume-Based Expected Improvement: Monotonicity Properties and Exact
 * Computation", 2011; K. Yang, M. Emmerich, A. Deutz, T. Baeck, "Efficient
 * Computation of Expected Hypervolume Improvement Using Box Decomposition
 * Algorithms", 2019, whose sweep leaves 2 n + 1 boxes in three dimensions).
 *
 * Less of a cost is better.  One thread. */
#ifndef TUNERS_GP_VOLUME_H
#define TUNERS_GP_VOLUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VOLUME_COSTS_MAX 3

struct volume_edge;
struct volume_box;
struct volume_strip;

struct volume {
    size_t n_costs;
    double least[VOLUME_COSTS_MAX], most[VOLUME_COSTS_MAX]; /* of all rows */
    size_t n, room; /* points of the front */
    double *front;  /* n * n_costs */
    size_t *place;  /* n * n_costs: of each in the order of that cost, from 1 */
    struct volume_edge *edges; /* (n + 2) * n_costs: the lower bound, the
                                  front's in their order, the reference */
    struct volume_box *boxes;
    size_t n_boxes;
    struct volume_strip *strips;
};

/* n_costs: 2 or VOLUME_COSTS_MAX.  -1: out of memory.  volume_fini() in any
 * case. */
int volume_init(struct volume *v, size_t n_costs, size_t room);
void volume_fini(struct volume *v);

/* Begins a front: rows of finite costs follow, at most `room` of which count.
 * Those that others dominate stay out. */
void volume_begin(struct volume *v);
void volume_add(struct volume *v, const double *costs, bool counts);

/* What of a cost is to be gained. */
struct volume_bound {
    double reach; /* 0: up to a tenth of the front's width behind the worst of
                     it; 1: up to the worst of all rows */
    bool is_cut;  /* no more than the best of the front has, where that is not
                     narrow */
};

/* Makes the boxes; n_costs bounds.  At least one row has counted. */
void volume_close(struct volume *v, const struct volume_bound *bounds);

struct volume_gain {
    double gain; /* the logarithm of the volume; far from the front of about the
                    greatest part of it */
    double by_mean[VOLUME_COSTS_MAX], by_variance[VOLUME_COSTS_MAX];
};

/* Of costs with these means and variances, which are above 0. */
void volume_gain(struct volume *v, const double *mean, const double *variance,
                 struct volume_gain *out);

#endif
