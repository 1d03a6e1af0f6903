/* SPDX-License-Identifier: MIT */
/* space.h - the search space: parsed from NNI's JSON, flattened to typed
 * dimensions, sampled, and points turned into the JSON a trial receives.
 *
 * A point is an array of doubles in internal coordinates, as described in
 * tunepipe/plugin.h.  A struct space is immutable once parsed: any thread may
 * read it.  Facts about NNI's formulas: PROTOCOL.md, "Search space". */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "json.h"
#include "tunepipe/plugin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct problems;

struct space;

/* Limits on what comes from outside. */
#define SPACE_DIMS_MAX 100000     /* parameters, sub-parameters included */
#define SPACE_CHOICES_MAX 1000000 /* elements of one choice */
#define SPACE_DEPTH_MAX 16        /* parameters on the way down to a leaf */

/* NULL when anything is wrong: `problems` then holds every problem, each with
 * its key path (`lr._value[1]`, `net[2].units._type`), the value, what was
 * expected and the nearest valid name.  The space keeps what it needs of
 * `root`'s document as its own copies. */
struct space *space_parse(struct jval root, struct problems *problems);
void space_free(struct space *s);

/* The flattened dimensions, parents before children, borrowed from s. */
const struct tp_space *space_dims(const struct space *s);

/* Marks space whose one dimension is emitted without its name (Batch): sets
 * TP_DIM_WHOLE.  -1 unless the space is one top-level choice. */
int space_make_whole(struct space *s, struct err *err);

/* Whether dimension i is active at x. */
bool space_is_active(const struct space *s, const double *x, size_t i);

/* A sample of the prior: depends on (seed, draw_id) and the space alone.
 * Inactive dimensions become NaN. */
void space_sample(const struct space *s, uint64_t seed, uint64_t draw_id,
                  double *x);

/* Whether x can be decoded: active dimensions are finite, indices are whole
 * numbers in range, values are representable.  -1: err names dimension, value
 * and range.  Inactive dimensions are not looked at. */
int space_check(const struct space *s, const double *x, struct err *err);

/* Appends the parameters of x as JSON, `{"lr": 0.01, "net": {"_name": "a"}}`:
 * exp, then rounded to a multiple of q (half to even), then clipped, exactly as
 * NNI does.  x has passed space_check(). */
void space_decode(const struct space *s, const double *x, struct buf *out);

/* The other way: parameters as a trial received them into internal
 * coordinates.  Unknown keys are ignored; a missing one, or a value that does
 * not fit, is an error naming key path, value and range. */
int space_encode(const struct space *s, struct jval parameters, double *x,
                 struct err *err);

/* Copies a point of `from` into `to` where every active parameter exists
 * there, too, and its value fits; -1 otherwise. */
int space_project(const struct space *from, const double *x,
                  const struct space *to, double *y, struct err *err);

#endif
