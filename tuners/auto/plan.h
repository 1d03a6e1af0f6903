/* SPDX-License-Identifier: MIT */
/* plan.h - which part of `auto` suggests the next trial.
 *
 * The first trial, 0, is by gp, which has it in the middle of the space.  cmaes
 * suggests all others where that is best, elsewhere the first ones.  Then gp
 * suggests all but one of each round, the two others that one in turn, as long
 * as a model of all results is cheap; where results are noisy, rounds are
 * short.  From then on, unless it is cmaes alone again, the one of those two
 * that leads suggests all but one of each round, the other that one.  The part
 * leads whose trial had the best result so far; for gp cmaes.  README.md has
 * what was measured.
 *
 * One thread; nothing fails but plan_load(). */
#ifndef TUNERS_AUTO_PLAN_H
#define TUNERS_AUTO_PLAN_H

#include "tunepipe/tuner.h"

#include <stdbool.h>

#define PLAN_ALONE 16      /* trials of a space before the others' first ... */
#define PLAN_ALONE_WIDE 10 /* ... where gp may go by a logarithm */
#define PLAN_MODELLED                                                   \
    400                 /* trials of a space, or results, imported ones \
                           included, after which gp has no more */
#define PLAN_MANY 5000  /* trials in all, from which on gp has none */
#define PLAN_NOISY 0.02 /* noise from which on gp has every other trial */

enum plan_part { PLAN_CMAES, PLAN_TPE, PLAN_GP, PLAN_N };

/* What is searched. */
enum plan_kind {
    PLAN_SMOOTH, /* continuous parameters, and no trial has failed: cmaes */
    PLAN_HARD,   /* many of them, or over decades, or trials fail: gp first,
                    then cmaes */
    PLAN_MIXED,  /* choices, integers, ...: gp first, then cmaes and tpe */
    PLAN_KINDS
};

struct plan {
    uint64_t kind;    /* enum plan_kind */
    uint64_t alone;   /* trials before gp's and tpe's */
    uint64_t trials;  /* that there are to be; 0: no limit is known */
    uint64_t before;  /* trials of earlier search spaces */
    uint64_t asked;   /* trials of this one */
    uint64_t results; /* finite ones, imported ones included */
    double best;      /* of them, less is better; meaningless when 0 */
    uint64_t lead;    /* enum plan_part */
    double noise;     /* of the results, in their standard deviations, as gp
                         has it */
};

/* For a new search space. */
void plan_begin(struct plan *p, const struct tp_space *s);

/* Whether gp is told of what others suggested: it may be asked yet, should
 * trials fail or fewer be planned; whether it is asked, after the first ones.
 */
bool plan_teaches(const struct plan *p);
bool plan_models(const struct plan *p);

/* Whether trial 0 will be gp's. */
bool plan_begins(const struct plan *p);

/* Which suggests all but one of each round: gp, cmaes or tpe; the length of a
 * round. */
enum plan_part plan_lead(const struct plan *p);
unsigned plan_round(const struct plan *p);

/* The part whose turn it is, with the trial `id`. */
enum plan_part plan_next(struct plan *p, uint64_t id);

/* What gp has made of the noise; NaN: it had no model. */
void plan_noise(struct plan *p, double noise);

/* A complete result, less is better; `part` suggested it, or -1: nobody here.
 * One that is not finite is a failure, and leads nobody, but makes it known
 * that trials fail. */
void plan_result(struct plan *p, int part, double value);

/* As save and load of tunepipe/plugin.h, after plan_begin(); plan_load()
 * returns -1 when damaged, else 0. */
void plan_save(const struct plan *p, const struct tp_sink *sink);
int plan_load(struct plan *p, const struct tp_source *source);

#endif
