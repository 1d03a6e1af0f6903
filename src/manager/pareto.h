/* SPDX-License-Identifier: MIT */
/* pareto.h - the front: of the results of an experiment with objectives, as
 * they come, those that no other one dominates; how much of the space of their
 * values they dominate, and which result was the last to add to that.
 *
 * Of equal results the first is on the front.  What took less than another is
 * not compared with that: the front has those of the greatest budget.  No I/O.
 * One owner. */
#ifndef MANAGER_PARETO_H
#define MANAGER_PARETO_H

#include "objectives/objectives.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARETO_NONE SIZE_MAX

struct jval;
struct json_writer;

struct pareto_point {
    struct objective_values v;
    char trial[24];
    void *of; /* the caller's */
};

struct pareto {
    const struct objectives *of; /* of the owner */
    void (*drop)(void *of);      /* of a point that left; NULL */
    struct pareto_point *points; /* in the order in which they came */
    size_t n, cap;
    double budget;    /* of the points; 0: they had none */
    bool of_any_size; /* it is measured however large it is */
    uint64_t seen;    /* results that came */
    uint64_t grew;    /* seen, when the hypervolume grew last; 0: it is 0 */
    char grew_by[24]; /* the trial that made it grow */
};

void pareto_fini(struct pareto *p);

/* Adds a result, whose values are finite where they are objectives'.  True: it
 * is on the front, which has its `of` until drop() gets that; what it dominates
 * is dropped. */
bool pareto_add(struct pareto *p, const char *trial, double budget,
                const struct objective_values *v, void *of);

/* Whether each objective has a reference, without which there is no
 * hypervolume. */
bool pareto_has_references(const struct objectives *of);

/* The hypervolume of the points within all limits, up to the references; NaN:
 * these are not all given, or out of memory, or it would take more than about a
 * second: of six objectives and more than 2,000 points, of seven and 500, of
 * eight and 200, unless it is measured `of_any_size`. */
double pareto_hypervolume(const struct pareto *p);

/* How much larger it becomes with a result that pareto_add() gets next, which
 * may be of a greater budget and so the only point then; far less work than all
 * of it, and NaN for the same reasons. */
double pareto_gain(const struct pareto *p, double budget,
                   const struct objective_values *v);

/* How many results came since it grew; all, if it never did. */
uint64_t pareto_since(const struct pareto *p);

/* The points by the first objective, best first, then by the others: the caller
 * frees them; NULL: out of memory. */
size_t *pareto_order(const struct pareto *p);

/* The knee: the point farthest from the plane through the extremes towards the
 * ideal, where the best value of each objective on the front counts 0 and the
 * worst 1; the first of equals.  PARETO_NONE: there are less than three. */
size_t pareto_knee(const struct pareto *p);

/* Reads what results.jsonl tells of a result, or a trial as it reported it;
 * false: the value of an objective is missing, or not finite. */
bool pareto_read(const struct objectives *of, const char *values,
                 struct objective_values *out);

/* Adds "best": an array of the points, in pareto_order(), at most `most`, each
 * with its trial, its values, whether it is the knee, and what more() adds,
 * unless that is NULL. */
typedef void pareto_more(void *ctx, const struct pareto_point *point,
                         struct json_writer *w);
void pareto_write_best(const struct pareto *p, size_t most, pareto_more *more,
                       void *ctx, struct json_writer *w);

/* Adds "hypervolume", which is `volume`, and behind which trial and how many
 * results ago it grew; nothing without references. */
void pareto_write_growth(const struct pareto *p, double volume,
                         struct json_writer *w);

/* Adds "values": {...} and, where there are limits, "violation". */
void pareto_write_values(const struct objectives *of,
                         const struct objective_values *v,
                         struct json_writer *w);

#endif
