/* SPDX-License-Identifier: MIT */
/* repair.h - moves a point that violates constraints to where they hold.
 *
 * The nearest of the points that are known to hold and of some that samples
 * of the prior hit is the goal.  Choices and integers become the goal's, and
 * go back one by one where that still holds; numbers move towards the goal
 * only as far as they must, found by bisection. */
#ifndef FILTERS_CONSTRAINTS_REPAIR_H
#define FILTERS_CONSTRAINTS_REPAIR_H

#include "known.h"
#include "rules.h"

/* 1: x holds now; 0: no goal was found, x is as it was; -1: out of memory.
 * Samples of the prior are drawn for this id, at most so many. */
int repair_point(const struct rules *rules, const struct known *known,
                 uint64_t id, uint64_t draws, double *x);

#endif
