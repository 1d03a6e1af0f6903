/* SPDX-License-Identifier: MIT */
/* drawn.h - for benchmarks: problems with learning curves of which a seed draws
 * all there is: 2 to 12 parameters, a quarter of them choices; how much each
 * matters for the level that a curve comes down to, and, apart from that, for
 * the way there; 9 to 243 epochs; noise; the scale of the loss.  For curves.c;
 * curves.h has the names.  One thread, nothing fails. */
#ifndef BENCH_BUDGETS_DRAWN_H
#define BENCH_BUDGETS_DRAWN_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct drawn_kind;
struct tp_space;

enum { DRAWN_DIMS = 12, DRAWN_CHOICES = 5, DRAWN_WAYS = 3 };

struct drawn_dim {
    size_t n_choices; /* 0: a number */
    double best;      /* where the lowest level lies; in [0, 1] */
    double weight;
    double slope[DRAWN_WAYS];
    double away[DRAWN_CHOICES]; /* of a choice's elements, from the best */
    double at[DRAWN_CHOICES];
};

struct drawn {
    const struct drawn_kind *kind;
    uint64_t seed;
    size_t n_dims, longest;
    struct drawn_dim dims[DRAWN_DIMS];
    double offset, scale, noise, power;
};

/* The i-th; NULL: there are no more. */
const char *drawn_list(size_t i);
const struct drawn_kind *drawn_find(const char *name);

void drawn_open(struct drawn *d, const struct drawn_kind *kind, uint64_t seed);

/* Its search space, as NNI has it. */
void drawn_write_space(const struct drawn *d, struct buf *out);

/* What no curve gets below. */
double drawn_optimum(const struct drawn *d);

void drawn_curve(const struct drawn *d, const struct tp_space *dims,
                 const double *x, double *observed, double *truth);

#endif
