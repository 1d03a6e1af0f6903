/* SPDX-License-Identifier: MIT */
/* grid.h - the points of a grid that becomes finer, one after the other, as
 * NNI's GridSearch (2.6 and later) orders them.
 *
 * Choices have all their elements from the start; a continuous dimension
 * begins with the median of its prior, and each epoch halves what still holds
 * an unseen value, in quantiles: 1/2, 1/4, 3/4, 1/8, ...  Within an epoch the
 * last dimension changes fastest, and what an earlier epoch had is left out.
 * Rounded dimensions end, and with them the grid; others never do.
 *
 * A point may stand for the same values as an earlier one (equal choices,
 * rounding): who minds remembers them.  One thread. */
#ifndef TUNERS_GRID_GRID_H
#define TUNERS_GRID_GRID_H

#include <stddef.h>
#include <stdint.h>

#define GRID_NO_PARENT ((size_t)-1)

struct grid_dim {
    uint64_t n_choices; /* 0: continuous */
    int is_normal;      /* continuous: mu, sigma; else low, high */
    double low, high, mu, sigma;
    size_t parent; /* GRID_NO_PARENT, or a choice with a lower number */
    uint64_t parent_choice;
};

/* The final value (rounded, clipped) of coordinate x of dimension i. */
typedef double grid_value(void *ctx, size_t i, double x);

enum { GRID_MEMORY = -1, GRID_POINT = 0, GRID_END = 1 };

struct grid;
struct tp_sink;
struct tp_source;

/* dims is copied, ctx borrowed until grid_free(); n > 0.  NULL: out of
 * memory. */
struct grid *grid_new(const struct grid_dim *dims, size_t n, grid_value *value,
                      void *ctx);
void grid_free(struct grid *g);

/* Fills x (n long; NaN where inactive).  GRID_POINT, GRID_END for ever after
 * the last, or GRID_MEMORY. */
int grid_next(struct grid *g, double *x);

/* How many points dimension i has in this epoch; its product over all
 * dimensions is the size of the grid. */
uint64_t grid_length(const struct grid *g, size_t i);

/* The epoch, from 0. */
uint64_t grid_epoch(const struct grid *g);

/* Load: into a new one with the same dimensions; why it failed, or NULL.  It
 * is then of use for grid_free() only. */
void grid_save(const struct grid *g, const struct tp_sink *sink);
const char *grid_load(struct grid *g, const struct tp_source *source);

#endif
