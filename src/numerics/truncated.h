/* SPDX-License-Identifier: MIT */
/* truncated.h - normal distributions of any mean and deviation, cut off at
 * the ends of an interval: what Parzen estimators are made of.
 *
 * As normal.h says: the same bits on every machine for ever, nothing fails,
 * any thread. */
#ifndef NUMERICS_TRUNCATED_H
#define NUMERICS_TRUNCATED_H

#include "normal.h"

/* Held by value; log_mass is what the interval holds of the whole. */
struct num_truncated {
    double mean, sigma, low, high, log_mass;
};

/* sigma > 0 and finite, mean finite, low < high, either may be infinite; else
 * what is returned below is NaN. */
struct num_truncated num_truncated(double mean, double sigma, double low,
                                   double high);

/* ln of the density at x; -inf outside [low, high]. */
double num_truncated_log_density(const struct num_truncated *t, double x);

/* ln of the probability of [from, to], of which only what lies inside counts;
 * from >= to, or nothing inside -> -inf. */
double num_truncated_log_mass(const struct num_truncated *t, double from,
                              double to);

/* The same for [v - q/2, v + q/2]: what rounds to v on a grid of step q. */
double num_truncated_log_cell(const struct num_truncated *t, double v,
                              double q);

/* In [low, high]; u as for num_truncated_normal_quantile. */
double num_truncated_quantile(const struct num_truncated *t, double u);

#endif
