/* SPDX-License-Identifier: MIT */
/* axis.h - one dimension of a search space as a Parzen estimator sees it: a
 * coordinate in units of the range, the cell that a rounded value stands for,
 * and the kernel around a value.
 *
 * A range is [0, 1], from the lower end of the first cell to the upper end of
 * the last; a normal dimension is unbounded around 0, and its unit is that of
 * the uniform range with the same variance.  An integer is the cell of the
 * half steps around it, on a log dimension as on a linear one.  One thread,
 * nothing fails. */
#ifndef TUNERS_TPE_AXIS_H
#define TUNERS_TPE_AXIS_H

#include "tunepipe/plugin.h"

enum axis_kind {
    AXIS_SINGLE,   /* has one value */
    AXIS_CATEGORY, /* unordered values 0 .. n-1 */
    AXIS_RANGE,    /* within [0, 1] */
    AXIS_NORMAL    /* everywhere */
};

struct axis {
    enum axis_kind kind;
    int is_log, is_index;
    double n;            /* how many values; 0: a continuum, or no end */
    double log_n;        /* CATEGORY */
    double q;            /* 0: not rounded, or an index */
    double low, high;    /* the user's, ends of the values */
    double first, last;  /* the least and the largest multiple of q */
    double origin, unit; /* internal = origin + unit * coordinate */
    double at;           /* SINGLE: its value, internal */
    size_t parent;       /* or TP_NO_PARENT */
    uint64_t parent_choice;
};

/* Where a value lies, in units; low == high on a continuum.  CATEGORY: the
 * index. */
struct place {
    double at, low, high;
};

struct axis tpe_axis_of(const struct tp_dim *d);

/* Of all dimensions (malloc).  NULL: out of memory. */
struct axis *tpe_axes_of(const struct tp_space *s);

/* The place of the internal coordinate x, which is not NaN. */
struct place tpe_axis_place(const struct axis *a, double x);

/* The internal coordinate of what lies at `u`: the middle of its cell. */
double tpe_axis_value(const struct axis *a, double u);

/* Whether x, filled up to the parents of a's dimension, has it. */
int tpe_axis_is_active(const struct axis *a, const double *x);

/* Whether active dimensions, and they only, have a value in x, and categories
 * one of theirs. */
int tpe_axis_is_point(const struct axis *axes, size_t n, const double *x);

/* RANGE and NORMAL: how much of the normal distribution around mu with the
 * standard deviation s lies below u, which is an end of the range; 0 and 1
 * without ends. */
double tpe_axis_below(const struct axis *a, double mu, double s, double u);

/* CATEGORY: the logarithms of what a kernel of n gives its own value and each
 * of the others. */
void tpe_axis_category(const struct axis *a, size_t n, double *hit,
                       double *miss);

/* The logarithm of the density at p, or of p's mass if it is a cell, of the
 * normal distribution around mu; not yet divided by what is inside. */
double tpe_axis_log_kernel(double mu, double s, struct place p);

/* low[i]: the logarithm of the standard normal distribution's mass from low[i]
 * to high[i], as tpe_axis_log_kernel() has it; high is lost. */
void tpe_axis_log_masses(double *low, double *high, size_t n);

/* The same of the prior. */
double tpe_axis_log_prior(const struct axis *a, struct place p);

/* RANGE with cells: which of the n it is, from 0, and where that lies. */
double tpe_axis_column(const struct axis *a, double at);
double tpe_axis_of_column(const struct axis *a, size_t column);

/* The coordinate below which so much of the normal distribution around mu
 * lies, within the range; of the prior. */
double tpe_axis_draw(const struct axis *a, double mu, double s, double below);
double tpe_axis_draw_prior(const struct axis *a, double share);

#endif
