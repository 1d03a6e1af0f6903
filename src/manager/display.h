/* SPDX-License-Identifier: MIT */
/* display.h - parameters as people see them in a line, fit for a terminal:
 * core/visible.h. */
#ifndef MANAGER_DISPLAY_H
#define MANAGER_DISPLAY_H

#include "json.h"

#include <stddef.h>

struct buf;

/* Appends "NAME=VALUE", short: four digits of a number. */
void display_parameter(struct buf *out, const char *name, const char *value,
                       size_t len);

/* Appends them all, or as many as a line has room for, to `out`, which holds
 * nothing else. */
void display_parameters(struct buf *out, struct jval parameters);

/* How wide the terminal is; 80 where nobody knows. */
int display_columns(int fd);

#endif
