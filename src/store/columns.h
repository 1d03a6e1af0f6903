/* SPDX-License-Identifier: MIT */
/* columns.h - the order in which people see the parameters of an experiment:
 * as the search space has them, those of a nested choice together, what it
 * does not name behind.  One owner. */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

#include <stddef.h>

struct err;

struct columns {
    char **names; /* flattened: "activation/slope" */
    size_t n, cap;
};

/* A zeroed struct columns is an empty one.  A name that is there is not added
 * again by who asks before: nothing is looked for. */
int columns_add(struct columns *c, const char *name, struct err *err);
void columns_fini(struct columns *c);

/* `folder` is the experiment's.  Without a search space that can be read they
 * are in the order of their bytes. */
int columns_sort(struct columns *c, const char *folder, struct err *err);

#endif
