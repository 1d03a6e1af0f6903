/* SPDX-License-Identifier: MIT */
/* known.h - the last few points that hold all constraints: given out,
 * imported or added.  Where the prior hardly ever meets them, these show the
 * way. */
#ifndef FILTERS_CONSTRAINTS_KNOWN_H
#define FILTERS_CONSTRAINTS_KNOWN_H

#include "tunepipe/plugin.h"

#define KNOWN_MAX 16

struct known {
    double *points[KNOWN_MAX]; /* the oldest first */
    size_t n;
};

void known_fini(struct known *k); /* empty again */

/* Copies x, in the place of the oldest when it is full.  -1: out of memory. */
int known_add(struct known *k, const double *x, size_t n_dims);

/* Load: into an empty one; -1 when it is damaged, or out of memory.  The
 * points are of the space, but whether they hold is not looked at. */
void known_save(const struct known *k, size_t n_dims,
                const struct tp_sink *sink);
int known_load(struct known *k, const struct tp_space *space,
               const struct tp_source *source);

#endif
