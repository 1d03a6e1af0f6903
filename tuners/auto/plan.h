/* SPDX-License-Identifier: MIT */
/* plan.h - which part of `auto` suggests the next trial.
 *
 * Where all parameters are continuous all trials are cmaes's, elsewhere the
 * first ones.  From then on the part that leads suggests all but one of each
 * round, the other that one.  The part leads whose trial had the best result
 * so far.  README.md has what was measured.
 *
 * One thread; nothing fails but plan_load(). */
#ifndef TUNERS_AUTO_PLAN_H
#define TUNERS_AUTO_PLAN_H

#include "tunepipe/tuner.h"

#include <stdbool.h>

#define PLAN_ALONE 16 /* trials of a space before the other part's first */

enum plan_part { PLAN_CMAES, PLAN_TPE, PLAN_N };

struct plan {
    unsigned round;   /* trials, one of them by the part that is behind; 0: all
                         are cmaes's */
    uint64_t asked;   /* trials of this search space */
    uint64_t results; /* finite ones, imported ones included */
    double best;      /* of them, less is better; meaningless when 0 */
    uint64_t lead;    /* enum plan_part */
};

/* For a new search space. */
void plan_begin(struct plan *p, const struct tp_space *s);

/* The part whose turn it is. */
enum plan_part plan_next(struct plan *p);

/* A complete result, less is better; `part` suggested it, or -1: nobody here.
 * One that is not finite is a failure, and leads nobody.  Whether another part
 * leads now. */
bool plan_result(struct plan *p, int part, double value);

/* As save and load of tunepipe/plugin.h, after plan_begin(); plan_load()
 * returns -1 when damaged, else 0. */
void plan_save(const struct plan *p, const struct tp_sink *sink);
int plan_load(struct plan *p, const struct tp_source *source);

#endif
