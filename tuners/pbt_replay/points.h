/* SPDX-License-Identifier: MIT */
/* points.h - a schedule's parameters as points of a search space. */
#ifndef PBT_REPLAY_POINTS_H
#define PBT_REPLAY_POINTS_H

#include "pbt_replay/schedule.h"
#include "tunepipe/plugin.h"

/* Fills x, n_dims for each segment, such that trials are given the very values
 * of the schedule.  -1: `why` names segment and parameter. */
int points_place(const struct schedule *s, const struct tp_host *host,
                 const struct tp_space *space, double *x,
                 char why[SCHEDULE_WHY_MAX]);

#endif
