/* SPDX-License-Identifier: MIT */
/* axes.h - what the search space says of each parameter, under the name that a
 * trial's parameters have when they are flattened.  One owner. */
#ifndef REPORT_AXES_H
#define REPORT_AXES_H

#include "report/report.h"

struct err;

struct axis {
    enum report_scale scale;
    double low, high;       /* NAN: it has no bounds */
    struct columns choices; /* as texts */
};

struct axes {
    struct map by_name; /* owned struct axis */
};

/* A zeroed struct axes is an empty one, and what a search space that cannot be
 * read gives.  -1: out of memory. */
int axes_load(struct axes *a, const char *folder, struct err *err);
void axes_fini(struct axes *a);

/* NULL: the search space does not name it. */
const struct axis *axes_find(const struct axes *a, const char *name);

#endif
