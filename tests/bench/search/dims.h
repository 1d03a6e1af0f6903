/* SPDX-License-Identifier: MIT */
/* dims.h - for benchmarks: a search space as a table of dimensions, written as
 * JSON, and a trial's parameters read against it.  Any thread. */
#ifndef BENCH_SEARCH_DIMS_H
#define BENCH_SEARCH_DIMS_H

#include "json.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

#define DIMS_MAX 40
#define DIMS_OPTIONS_MAX 50

enum dim_kind {
    DIM_UNIFORM,
    DIM_LOG,
    DIM_INTEGER, /* low ... high - 1 */
    DIM_GRID,    /* multiples of q */
    DIM_LOG_GRID,
    DIM_CHOICE,
};

struct dim {
    const char *name;
    enum dim_kind kind;
    double low, high, q;
    const char *options[DIMS_OPTIONS_MAX]; /* of a choice, until NULL */
    int parent; /* 1 + the index of the choice that it belongs to; 0: none */
    int option; /* of that choice */
};

/* A point.  An integer or a grid over more than five decades has the unit of
 * its logarithm, though a tuner is told of no such thing.  Inactive dimensions
 * are not to be looked at. */
struct point {
    double unit[DIMS_MAX];  /* numeric: 0 at low, 1 at high, log if it is */
    double value[DIMS_MAX]; /* numeric: as a trial gets it */
    int option[DIMS_MAX];   /* of a choice */
    uint64_t active;        /* a bit for each dimension */
};

size_t dims_count(const struct dim *dims); /* until a name is NULL */
size_t dims_options(const struct dim *d);
void dims_write_space(const struct dim *dims, struct buf *out);
void dims_write_point(const struct dim *dims, const struct point *p,
                      struct buf *out);

/* -1 (err says why): something is missing, unknown or out of range. */
int dims_read(const struct dim *dims, struct jval parameters, struct point *out,
              struct err *err);

/* What becomes of a number from 0 to below 1: a value of that dimension. */
double dims_value(const struct dim *d, double u);
double dims_unit(const struct dim *d, double value);

#endif
