/* SPDX-License-Identifier: MIT */
/* calls_score.h - a tuner's score(); for calls.c. */
#ifndef CHECK_CALLS_SCORE_H
#define CHECK_CALLS_SCORE_H

#include <stdint.h>

struct calls;

/* Has a tuner that can score this point, just asked for, and a sample of the
 * prior.  In some runs only: answers that differ from those of the others were
 * changed by it. */
void calls_score(struct calls *c, uint64_t id, const double *x);

#endif
