/* SPDX-License-Identifier: MIT */
/* filters.h - the filters of a command line, or else of a configuration. */
#ifndef CLI_FILTERS_H
#define CLI_FILTERS_H

#include "cli/options.h"
#include "dispatcher/session.h"

struct experiment;

/* What the setup's filters borrow from. */
struct filters {
    char *names[SESSION_FILTERS_MAX];
    struct json *args[SESSION_FILTERS_MAX];
};

/* Fills setup->filters from the words NAME or NAME:JSON, or, when there are
 * none, from x (which may be NULL).  -1: err names the word; filters_fini() is
 * still to be called.  f is zeroed. */
int filters_read(struct filters *f, const struct option_list *words,
                 const struct experiment *x, struct session_setup *setup,
                 struct err *err);
void filters_fini(struct filters *f);

#endif
