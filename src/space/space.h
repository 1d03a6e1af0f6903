/* SPDX-License-Identifier: MIT */
/* space.h - the search space: parsed from NNI's JSON, flattened to typed
 * dimensions, sampled, and points turned into the JSON a trial receives.
 *
 * A point is an array of doubles in internal coordinates, as described in
 * tunepipe/plugin.h.  A struct space is immutable once parsed and made whole:
 * any thread may read it.  Facts about NNI's formulas: PROTOCOL.md, "Search
 * space".
 *
 * Names.  A dimension's name is the path of keys down to it, "lr" or
 * "net/units".  Where two elements of one choice have sub-parameters of the
 * same key, the path carries the element's number, "net[2]/units", so that
 * names differ, unless keys themselves hold '/' or '['.  What a trial
 * receives has the keys alone. */
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
 * `root`'s document as its own copies.  {} is a space without dimensions.
 *
 * What NNI accepts is accepted, equal bounds and a sigma of 0 included; so
 * are whole floats in a randint.  Beyond NNI there are qrandint and lograndint,
 * which tuners see as a randint and as a qloguniform.  A choice is nested when
 * every element is an object with `_name`, and plain otherwise.  Keys that
 * stand twice are for the caller to refuse: JSON_UNIQUE. */
struct space *space_parse(struct jval root, struct problems *problems);
void space_free(struct space *s);

/* Adds a problem for each element that makes a choice plain whose elements have
 * sub-parameters, entries with _type and _value: trials would be given these as
 * they are written.  NNI takes such a choice, and so does space_parse(). */
void space_check_nested(struct jval root, struct problems *problems);

/* The flattened dimensions, parents before children, borrowed from s. */
const struct tp_space *space_dims(const struct space *s);

/* Marks a space whose one dimension is emitted without its name (Batch): sets
 * TP_DIM_WHOLE.  -1 unless the space is one plain choice.  Before others see
 * the space. */
int space_make_whole(struct space *s, struct err *err);

/* Whether dimension i is active at x: it and all above it are chosen. */
bool space_is_active(const struct space *s, const double *x, size_t i);

/* Samples the prior: depends on seed, draw_id and the space alone, each
 * dimension only on its own index, kind and numbers.  Inactive dimensions
 * become NaN.  A lognormal of a huge sigma may give what space_check()
 * refuses. */
void space_sample(const struct space *s, uint64_t seed, uint64_t draw_id,
                  double *x);

/* Whether x can be decoded: active dimensions are finite, indices are whole
 * numbers in range, values are representable.  Numbers outside low..high are
 * fine, decoding clips them.  -1: err (ERR_INPUT) names dimension, value and
 * range.  Inactive dimensions are not looked at. */
int space_check(const struct space *s, const double *x, struct err *err);

/* Whether each index in x is one of its dimension's, where that is active: the
 * least that all other functions here need of x, and less than space_check(),
 * which samples need not pass. */
bool space_has_indices(const struct space *s, const double *x);

/* Appends the search space as JSON, of which space_parse() (read with JSON_NAN)
 * makes the same space. */
void space_write(const struct space *s, struct buf *out);

/* What a trial is given for the coordinate x of dimension i, as a number: see
 * host->value() in tunepipe/plugin.h. */
double space_value(const struct space *s, size_t i, double x);

/* Fills *out with element `index` of choice i: see host->element() in
 * tunepipe/plugin.h; a text lies in s.  False: there is none. */
bool space_element(const struct space *s, size_t i, uint64_t index,
                   struct tp_element *out);

/* Makes 128 bits that stand for the parameters of x, which has passed
 * space_check(): the same for the same parameters, whatever the space. */
void space_key(const struct space *s, const double *x, uint64_t key[2]);

/* Appends the parameters of x as JSON, `{"lr": 0.01, "net": {"_name": "a"}}`:
 * exp, then rounded to a multiple of q (half to even), then clipped, exactly
 * as NNI does; beyond NNI, uniform and loguniform are clipped, too, should
 * rounding or a tuner leave their bounds.  A choice is emitted as the element
 * itself, a randint of any kind as an integer, all else as a float (16.0).  x
 * has passed space_check(). */
void space_decode(const struct space *s, const double *x, struct buf *out);

/* Appends `parameters` as JSON for programs that tell 96 from 96.0: numbers of
 * a type whose bounds and step are whole, such as quniform [8, 128, 8], become
 * integers.  Nothing else changes; what the space does not know stays. */
void space_write_given(const struct space *s, struct jval parameters,
                       struct buf *out);

/* Whether a trial may find a parameter of this name, by trial/files.h: "lr",
 * "net/units", "net/_name".  `each`, unless NULL, is called for the elements of
 * the choices that go by it, of a nested one for the `_name` of each. */
typedef void space_element_each(void *ctx, struct jval element);
bool space_find(const struct space *s, const char *name, size_t len,
                space_element_each *each, void *ctx);

/* Whether a trial may lack this parameter, one of a nested choice: where
 * *choice, a dimension's name, is *element, the `_name` of one of its. */
bool space_find_lacking(const struct space *s, const char *name, size_t len,
                        const char **choice, struct jval *element);

/* The inverse of space_decode(): turns parameters as a trial received them into
 * internal coordinates.  Values of q kinds stay rounded, so a point does not
 * come back to the bit, but decodes to the same bytes.  An integer is as good
 * as the float of the same value.  Outside its bounds a value may lie by a few
 * units in the last place or, for q kinds, by half of q; then it is clipped.
 * Unknown keys are ignored; a missing one, or a value that does not fit, is an
 * error (ERR_INPUT) naming key path, value and range. */
int space_encode(const struct space *s, struct jval parameters, double *x,
                 struct err *err);

/* Encodes parameters of which some are missing, as space_encode(): these are
 * drawn from the prior, by the seed alone, below a choice that is given for the
 * element that it names.  A key that no dimension has is an error here, with
 * the nearest that one has. */
int space_complete(const struct space *s, struct jval parameters, uint64_t seed,
                   double *x, struct err *err);

/* Makes of x, a point of `from`, the point y of `to` with the same values, as
 * a trial sees them; -1 when a value does not fit, or when not exactly the
 * parameters active at x are active at y. */
int space_project(const struct space *from, const double *x,
                  const struct space *to, double *y, struct err *err);

#endif
