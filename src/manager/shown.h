/* SPDX-License-Identifier: MIT */
/* shown.h - parameters as people see them in a line, fit for a terminal:
 * core/visible.h. */
#ifndef MANAGER_SHOWN_H
#define MANAGER_SHOWN_H

#include "json.h"

#include <stddef.h>

struct buf;

/* Appends "NAME=VALUE", short: four digits of a number. */
void shown_parameter(struct buf *out, const char *name, const char *value,
                     size_t len);

/* Appends them all, or as many as a line has room for, to `out`, which holds
 * nothing else. */
void shown_parameters(struct buf *out, struct jval parameters);

/* How wide the terminal is; 80 where nobody knows. */
int shown_columns(int fd);

#endif
