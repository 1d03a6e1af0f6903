/* SPDX-License-Identifier: MIT */
/* objectives.h - what results are judged by when that is more than one number:
 * named values, each with a direction, and limits on named values.
 *
 * Written as one JSON object, which the option --objectives and the log's head
 * hold, and of which `resultConstraints` and `scalarize` may be missing:
 *
 *   {"objectives": [{"name": "accuracy", "direction": "maximize",
 *                    "reference": 0.5, "goal": 0.95}, ...],
 *    "resultConstraints": ["latency_ms <= 20", ...],
 *    "scalarize": {"method": "chebyshev", "weights": {"accuracy": 2}}}
 *
 * A trial's value is an object, {"accuracy": 0.93, "latency_ms": 12}; a bare
 * number is its value `default`, NNI's name of the one result there is.
 * Immutable once read; one owner; any thread may read it. */
#ifndef OBJECTIVES_OBJECTIVES_H
#define OBJECTIVES_OBJECTIVES_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct json_writer;
struct jval;
struct metric;

#define OBJECTIVES_MAX 8
#define OBJECTIVES_LIMITS_MAX 16
#define OBJECTIVES_NAME_MAX                            \
    64 /* bytes, without control characters and "=<>," \
        */
/* Values that a result is read into: those of the objectives, in their order,
 * then those that only limits name, in the order of the limits. */
#define OBJECTIVES_VALUES_MAX (OBJECTIVES_MAX + OBJECTIVES_LIMITS_MAX)

struct objective {
    const char *name; /* of a value, as trials report it; names[i] */
    bool maximize;
    double reference; /* the worst value that still counts for the hypervolume;
                         NaN: none */
    double goal;      /* the search may end when one trial within all limits
                         reaches that of each objective that has one; NaN */
};

struct objective_limit {
    size_t value; /* index of the value that it limits */
    bool at_most; /* "<=", else ">=" */
    double bound;
    char *text; /* "latency_ms <= 20", in one spelling */
};

/* How several values become one for a tuner that takes one alone. */
enum scalarize {
    SCALARIZE_CHEBYSHEV,    /* augmented Chebyshev, the default */
    SCALARIZE_WEIGHTS,      /* a weighted sum */
    SCALARIZE_LEXICOGRAPHIC /* the first one counts; the next where it ties */
};

struct objectives {
    struct objective *items;
    size_t n; /* 1..OBJECTIVES_MAX */
    struct objective_limit *limits;
    size_t n_limits;
    char **names; /* n_values of them: of the objectives, then of the others */
    size_t n_values;
    enum scalarize how;
    double weights[OBJECTIVES_MAX]; /* finite, not negative, not all 0 */
};

/* What one result says of each value. */
struct objective_values {
    double values[OBJECTIVES_VALUES_MAX]; /* n_values of them, as reported; may
                                             be infinite or NaN */
    double violation;                     /* objectives_violation() */
};

/* NULL on failure: err (ERR_INPUT) names the key path, the value, what was
 * expected. */
struct objectives *objectives_read(const char *json, struct err *err);
/* The same of a value in JSON. */
struct objectives *objectives_from(struct jval root, struct err *err);
void objectives_free(struct objectives *o);

/* Adds the object above, in one spelling whatever the one it was read from. */
void objectives_write(const struct objectives *o, struct json_writer *w);
/* It as a text, to be freed; NULL: out of memory. */
char *objectives_text(const struct objectives *o);

/* "chebyshev", "weights" or "lexicographic". */
const char *scalarize_name(enum scalarize how);

/* Appends the report that has these n_values values. */
void objectives_report(const struct objectives *o, const double *values,
                       struct buf *out);

/* Reads a reported value, or a text that holds one as JSON, as NNI's clients
 * send it.  A boolean is 1 or 0; a text is no number.  -1: err says which value
 * is missing, or is no number, and what the report has instead. */
int objectives_take(const struct objectives *o, struct jval reported,
                    struct objective_values *out, struct err *err);

/* As well of an intermediate report, which may lack some of them: these are
 * NaN.  -1: it has none. */
int objectives_take_some(const struct objectives *o, struct jval reported,
                         struct objective_values *out, struct err *err);

/* Reads the value of a metric whose frame is still there: `values` and the
 * members behind them become what it reports; has_value and `value`, which is
 * the first objective's, or NaN where one objective is, follow.  An
 * intermediate one may lack some, as in objectives_take_some().  -1: it has
 * none, and err is as objectives_take() has it, or there was no memory. */
int objectives_stamp(const struct objectives *o, struct metric *m,
                     struct err *err);

/* How far these values are beyond the limits: 0 within all; else the sum, over
 * the limits that do not hold, of |value - bound| / max(1, |bound|); infinite
 * where one is NaN. */
double objectives_violation(const struct objectives *o, const double *values);

/* The value of an objective with the sign that makes less better. */
double objectives_cost(const struct objectives *o, size_t i, double value);

/* Whether one result is better than the other in no objective worse, in one
 * better; within all limits goes before beyond one, nearer before farther; a
 * NaN is worse than all numbers. */
bool objectives_dominates(const struct objectives *o,
                          const struct objective_values *a,
                          const struct objective_values *b);

/* Whether all goals are reached, of which there is one at least. */
bool objectives_reached(const struct objectives *o,
                        const struct objective_values *values);

#endif
