/* SPDX-License-Identifier: MIT */
/* names.h - the parameters, and elements of choices, that a constraint
 * names. */
#ifndef FILTERS_CONSTRAINTS_NAMES_H
#define FILTERS_CONSTRAINTS_NAMES_H

#include "tunepipe/plugin.h"

#include <stdbool.h>

#define NAMES_HINT_MAX 160

/* The dimension of this name, or n_dims. */
size_t constraints_find(const struct tp_space *space, const char *name,
                        size_t len);

/* Whether some dimension lies below this one's path. */
bool names_has_below(const struct tp_space *space, const char *name,
                     size_t len);

/* Whether the choice has this text as an element, or as one's name. */
bool names_has_element(const struct tp_host *host, const struct tp_space *space,
                       size_t dim, const char *text);

/* Writes " (did you mean 'NAME'?)", or nothing when none is near; and the same
 * for the elements of a choice. */
void constraints_hint(const struct tp_space *space, const char *name,
                      size_t len, char out[NAMES_HINT_MAX]);
void names_hint_element(const struct tp_host *host,
                        const struct tp_space *space, size_t dim,
                        const char *text, char out[NAMES_HINT_MAX]);

#endif
