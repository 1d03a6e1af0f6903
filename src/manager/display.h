/* SPDX-License-Identifier: MIT */
/* display.h - parameters and values as people see them in a line, fit for a
 * terminal: core/visible.h. */
#ifndef MANAGER_DISPLAY_H
#define MANAGER_DISPLAY_H

#include "json.h"

#include <stddef.h>

struct buf;

#define DISPLAY_PARAMETERS_MAX 400 /* bytes of parameters in a line */

/* Appends each as "NAME=VALUE", short: four digits of a number, behind two
 * blanks where something stands in `out`; until there are `most` bytes in it.
 * Folders of the tuner are left out, which would take the room of the others,
 * and `but`; NULL: no more. */
void display_parameters(struct buf *out, struct jval parameters,
                        const char *but, size_t most);

/* Appends each number as "NAME=VALUE", six digits of it, with blanks between
 * them; "default", which is the result itself, without its name. */
void display_values(struct buf *out, struct jval values);

/* How wide the terminal is; 80 where nobody knows. */
int display_columns(int fd);

#endif
