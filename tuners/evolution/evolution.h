/* SPDX-License-Identifier: MIT */
/* evolution.h - tournaments of two and one mutation, as NNI's Evolution has
 * them; a simple form of Real et al., "Large-Scale Evolution of Image
 * Classifiers", ICML 2017, section 3.1.
 *
 * - The population begins as `size` draws of the prior, which are given out
 *   first, in their order.
 * - Then two members are drawn.  The worse leaves; a copy of the better, of
 *   which one active dimension (each as likely) is drawn anew with all that
 *   hangs on it, is given out.
 * - While `size` points are out, nothing is given out.
 * - Asked again for the last id, it gives another draw; or a child of the
 *   better of two other members, and nobody leaves.
 * - A result makes its point a member.  A point that ends without one is
 *   replaced by a new draw of the prior.
 * - A result from elsewhere, or one that comes after its end, takes the place
 *   of a draw that was not given out yet, else of the worst member if it is
 *   better.
 *
 * Memory: 8 bytes a dimension and 32 more for each of `size` members, whatever
 * the number of trials; an ask costs O(size + dimensions).
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef EVOLUTION_EVOLUTION_H
#define EVOLUTION_EVOLUTION_H

#include "prior/prior.h"

struct tp_sink;
struct tp_source;

#define EVOLUTION_NO_ID (~(uint64_t)0)
#define EVOLUTION_SIZE_MAX 1000000

struct evolution_member {
    double *x;
    double value; /* higher is better; -infinity for NaN */
    uint64_t id;  /* whose result it is, or EVOLUTION_NO_ID */
    bool known;   /* has a result */
};

struct evolution_out {
    uint64_t id;
    bool told;
};

/* Members are evolution.c's. */
struct evolution {
    struct prior prior;
    struct prior_random random;
    size_t size;
    struct evolution_member *members; /* room for size */
    size_t n_members;
    struct evolution_out *out; /* given out and not ended; room for size */
    size_t n_out;
    uint64_t serial;  /* draws of the prior so far */
    uint64_t last_id; /* asked for last, or EVOLUTION_NO_ID */
    uint64_t again;   /* and again so often */
    bool was_child;
};

/* How an answer came about. */
struct evolution_origin {
    bool mutated;
    uint64_t parent, loser; /* ids, or EVOLUTION_NO_ID */
    double parent_value;
    bool had_loser;
    size_t dim; /* drawn anew; n_dims when there is none */
};

enum { EVOLUTION_POINT, EVOLUTION_LATER };

/* NULL when out of memory.  size: 1 to EVOLUTION_SIZE_MAX. */
struct evolution *evolution_new(size_t size, struct prior_random random);
void evolution_free(struct evolution *e);

/* A new space: the population begins anew, nothing is out.  Takes what prior
 * holds when it succeeds; -1 when out of memory: nothing has changed. */
int evolution_space(struct evolution *e, struct prior *prior);

/* Fills x for a new id, or again for one that is out. */
int evolution_ask(struct evolution *e, uint64_t id, double *x,
                  struct evolution_origin *origin);

/* `value`: higher is better.  id: EVOLUTION_NO_ID for a point from
 * elsewhere. */
void evolution_tell(struct evolution *e, uint64_t id, const double *x,
                    double value);
void evolution_ended(struct evolution *e, uint64_t id);

/* The population, as values in a row. */
void evolution_save(const struct evolution *e, const struct tp_sink *sink);

/* After evolution_space().  NULL, or what was wrong; then e may only be
 * freed. */
const char *evolution_load(struct evolution *e, const struct tp_source *source);

#endif
