/* SPDX-License-Identifier: MIT */
/* checked.h - for verbs that begin an experiment: its configuration, read, and
 * checked as far as that goes without a dispatcher. */
#ifndef CLI_CHECKED_H
#define CLI_CHECKED_H

#include "config/configuration.h"

#include <stdbool.h>

struct checked {
    enum experiment_use use;
    const char *overrides; /* config/overrides.h; NULL: none */
    const char *import;    /* a file in place of its key; NULL: none */
    bool deterministic;    /* the same, if true */
};

/* Prints what is to be noted.  Where `problems` has any, what was read is not
 * to be used; NULL: nothing could be. */
struct experiment *checked_read(const char *file, const struct checked *with,
                                struct problems *problems, struct err *err);

/* Tells all that is wrong; returns the exit status. */
int checked_refuse(const char *verb, const struct err *err,
                   struct problems *problems);

#endif
