/* SPDX-License-Identifier: MIT */
/* axis.h - a parameter as the normal distribution sees it.
 *
 * Unit coordinates: 0..1 is the range of a uniform or log-uniform parameter;
 * a normal one is scaled so that its prior has the variance of a uniform one.
 * Rounded parameters and integers are cells of the same line, the outermost
 * ones without end.  One thread, nothing fails. */
#ifndef TUNERS_CMAES_AXIS_H
#define TUNERS_CMAES_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMAES_WIDE 100.0 /* a span from which on the logarithm may matter */
#define CMAES_NO_PARENT ((size_t)-1)

enum cmaes_kind { CMAES_REAL, CMAES_STEPS, CMAES_ORDER, CMAES_CATEGORY };

/* Internal coordinates, as the plugin interface has them. */
struct cmaes_dim {
    enum cmaes_kind kind;
    bool is_log, is_normal;      /* REAL, STEPS */
    uint64_t n_choices;          /* ORDER, CATEGORY */
    double low, high, mu, sigma; /* REAL, STEPS */
    double q;                    /* STEPS: in the user's unit */
    double span;    /* a linear range from 0 or more on, in its least step or
                       its least number, whichever is more; 0: another one */
    bool is_warped; /* unit coordinates go by the logarithm of what is linear,
                       where there is a span */
    size_t parent;  /* a CATEGORY of lower number, or none */
    uint64_t parent_choice;
};

/* Whether it has more than one value. */
bool cmaes_axis_is_free(const struct cmaes_dim *d);

/* Whether it is rounded, so that cells have a width. */
bool cmaes_axis_has_cells(const struct cmaes_dim *d);

/* Unit coordinate of the internal coordinate x, which lies within the
 * parameter's range. */
double cmaes_axis_unit(const struct cmaes_dim *d, double x);

/* The internal coordinate of u; what lies beyond the range is clipped. */
double cmaes_axis_internal(const struct cmaes_dim *d, double u);

/* The bounds of u's cell, infinite where there is no end.  False: cells are
 * too narrow here to matter. */
bool cmaes_axis_cell(const struct cmaes_dim *d, double u, double *low,
                     double *high);

/* The unit coordinate of the value that a trial gets for u. */
double cmaes_axis_centre(const struct cmaes_dim *d, double u);

/* u itself, or what of the range is nearest. */
double cmaes_axis_clip(const struct cmaes_dim *d, double u);

#endif
