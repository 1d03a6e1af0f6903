/* SPDX-License-Identifier: MIT */
/* carry.h - where the points of one search space lie in the next one: the
 * parameters that both have, found by their names, and the elements of choices,
 * found by what they are, wherever they stand in their lists.
 *
 * What it knows of elements the host lends as long as their space.  One
 * thread. */
#ifndef TUNERS_TPE_CARRY_H
#define TUNERS_TPE_CARRY_H

#include "tpe/points.h"
#include "tunepipe/tuner.h"

#include <stdbool.h>

/* The elements of all choices of a space. */
struct carry {
    const struct tp_space *space;
    struct tp_element *elements;
    size_t *at; /* by dimension: where its elements begin */
};

/* Of the host's current space, while that is lent.  -1: out of memory;
 * tpe_carry_fini() in any case.  A zeroed one is finished. */
int tpe_carry_init(struct carry *c, const struct tp_host *host,
                   const struct tp_space *space);
void tpe_carry_fini(struct carry *c);

/* from[i]: the dimension of the old space that is dimension i of the new one,
 * or TP_NO_PARENT; its kind and range need not be the same. */
void tpe_carry_match(const struct carry *old, const struct carry *new_,
                     size_t *from);

/* Fills x with the point of the new space that `old_x` is; false: it is none,
 * as far as single parameters tell. */
bool tpe_carry_point(const struct carry *old, const struct carry *new_,
                     const size_t *from, const double *old_x, double *x);

/* What a tuner needs to carry its points into the next space. */
struct carrier {
    const struct tp_host *host;
    struct points *points; /* NULL before the first space */
    struct carry carry;    /* of its space */
    uint64_t (*keys)[2];   /* of its points' parameters, by index */
    size_t room;
};

void tpe_carrier_fini(struct carrier *c);

/* Remembers what the parameters of point `index` are, or of that of `id`, which
 * may be a new one, or of all: nothing else tells whether a point means the
 * same in another space.  -1: out of memory. */
int tpe_carrier_key(struct carrier *c, size_t index, const double *x);
int tpe_carrier_tell(struct carrier *c, uint64_t id, const double *x);
int tpe_carrier_load(struct carrier *c);

/* As tuners are told of the end of a trial, which its point is told. */
int tpe_carrier_ended(struct carrier *c, uint64_t id, const double *x, int how);

/* Into the space s, with axes.  What is known of parameters that it has, too,
 * goes to `copy`, in order, which puts it to the points `to`.  -1: out of
 * memory. */
int tpe_carrier_move(struct carrier *c, const struct tp_host *host,
                     const struct tp_space *s, const struct axis *axes,
                     struct points *to, tpe_points_copier *copy, void *ctx);

#endif
