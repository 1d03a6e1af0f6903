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

/* Adds a name; the caller has made sure that it is new: nothing is looked for.
 * A zeroed struct columns is an empty one. */
int columns_add(struct columns *c, const char *name, struct err *err);
void columns_fini(struct columns *c);

/* Sorts the names by the search space in the experiment's folder; where that
 * cannot be read, by their bytes. */
int columns_sort(struct columns *c, const char *folder, struct err *err);

#endif
