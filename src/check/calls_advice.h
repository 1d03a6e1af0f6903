/* SPDX-License-Identifier: MIT */
/* calls_advice.h - what an advisor does beside giving points: what its
 * suggestions go on from, what it says of intermediate results, its decisions
 * on other trials.  For calls.c and the orders of calls. */
#ifndef CHECK_CALLS_ADVICE_H
#define CHECK_CALLS_ADVICE_H

#include "tunepipe/tuner.h"

struct calls;
struct given;

/* A call begins in which it may decide, or, in ask, add parameters, too; and
 * ends: what it demanded is looked at and written down. */
void calls_open_demands(struct calls *c, const char *callback);
void calls_close_demands(struct calls *c, const char *callback);

/* Whether what came with the point x is right; it is remembered for what may
 * go on from it. */
void calls_check_terms(struct calls *c, uint64_t id, const double *x,
                       const struct tp_suggestion *out);

/* A tuner's, which has a metric. */
void calls_metric(struct calls *c, uint64_t id, const double *x,
                  const struct tp_metric *metric);

/* There is another space, or none any more: what was given counts no more. */
void calls_forget_given(struct calls *c);
/* What `from` knows of it is `to`'s. */
void calls_take_given(struct calls *to, struct calls *from);

#endif
