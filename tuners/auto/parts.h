/* SPDX-License-Identifier: MIT */
/* parts.h - the tuners that `auto` is made of: the tables of the plugins of
 * those names, which are compiled into it, so that it loads nothing at run
 * time and each has one source. */
#ifndef TUNERS_AUTO_PARTS_H
#define TUNERS_AUTO_PARTS_H

#include "tunepipe/tuner.h"

const struct tp_tuner *parts_cmaes(void);
const struct tp_tuner *parts_gp(void);
const struct tp_tuner *parts_nsga2(void);
const struct tp_tuner *parts_parego(void);
const struct tp_tuner *parts_tpe(void);

/* The noise of the results as that object of gp's had it when it was asked
 * last, in their standard deviations; NaN: it had no model then. */
double parts_gp_noise(const void *gp);

#endif
