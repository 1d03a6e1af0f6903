/* SPDX-License-Identifier: MIT */
/* aging.h - regularized evolution: Real, Aggarwal, Huang, Le, "Regularized
 * Evolution for Image Classifier Architecture Search", AAAI 2019, algorithm 1,
 * for trials that run side by side.
 *
 * - First `size` draws of the prior are given out.
 * - Then `sample` members of the population are drawn, with replacement; a copy
 *   of the best of them, with one active dimension changed, is given out.  An
 *   index becomes another one; anything else is drawn anew.  What hangs on it
 *   is drawn anew, too.  A dimension of one value is left alone.
 * - A result makes its point the youngest member; when there are more than
 *   `size`, the oldest leaves, however good it is.
 * - A point that ends without a result is nobody; the first `size` draws are
 *   made up for.  Imported members count as draws.
 * - When the draws are out and nothing has a result, nothing is given out.
 * - Asked again for the last id, it gives another draw, or another child.
 *
 * Memory: 8 bytes a dimension and 24 more for each of `size` members, 8 for
 * each trial that is out; an ask costs O(sample + dimensions).
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef REGULARIZED_EVOLUTION_AGING_H
#define REGULARIZED_EVOLUTION_AGING_H

#include "prior/prior.h"

struct tp_sink;
struct tp_source;

#define AGING_NO_ID (~(uint64_t)0)
#define AGING_SIZE_MAX 1000000

struct aging_member {
    double *x;
    double value; /* higher is better; -infinity for NaN */
    uint64_t id;  /* or AGING_NO_ID */
};

/* Members are aging.c's. */
struct aging {
    struct prior prior;
    struct prior_random random;
    size_t size, sample;
    struct aging_member *members; /* room for size; the oldest at `oldest` */
    size_t n_members, oldest;
    uint64_t draws_left; /* of the first `size` */
    uint64_t *out;       /* ids without result or end, ascending */
    size_t n_out, out_cap;
    uint64_t last_id; /* asked for last, or AGING_NO_ID */
    uint64_t again;   /* and again so often */
    bool was_draw;    /* it was one of the first `size` */
};

/* How an answer came about. */
struct aging_origin {
    bool mutated;
    uint64_t parent; /* id, or AGING_NO_ID */
    double parent_value;
    size_t dim; /* changed; n_dims when there is none to change */
};

enum { AGING_ERROR = -1, AGING_POINT = 0, AGING_LATER = 1 };

/* NULL when out of memory.  size: 1 to AGING_SIZE_MAX; sample: at least 1. */
struct aging *aging_new(size_t size, size_t sample, struct prior_random random);
void aging_free(struct aging *a);

/* A new space: the population begins anew, nothing is out.  Takes what prior
 * holds. */
void aging_space(struct aging *a, struct prior *prior);

/* Fills x.  AGING_ERROR: out of memory. */
int aging_ask(struct aging *a, uint64_t id, double *x,
              struct aging_origin *origin);

/* `value`: higher is better.  id: AGING_NO_ID for a point from elsewhere.  -1
 * when out of memory. */
int aging_tell(struct aging *a, uint64_t id, const double *x, double value);
void aging_ended(struct aging *a, uint64_t id);

/* The i-th member, the oldest first. */
struct aging_member *aging_at(const struct aging *a, size_t i);

/* The population, as values in a row. */
void aging_save(const struct aging *a, const struct tp_sink *sink);

/* Right after aging_space().  NULL, or what was wrong; then a may only be
 * freed. */
const char *aging_load(struct aging *a, const struct tp_source *source);

#endif
