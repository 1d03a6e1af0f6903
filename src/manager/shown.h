/* SPDX-License-Identifier: MIT */
/* shown.h - texts from outside, made fit for a terminal, which must not obey
 * what a parameter or a program happens to hold. */
#ifndef MANAGER_SHOWN_H
#define MANAGER_SHOWN_H

#include "json.h"

#include <stddef.h>

struct buf;

/* Appends the text, control characters as '?', cut to `most` bytes. */
void shown_text(struct buf *out, const char *text, size_t len, size_t most);

/* Appends "NAME=VALUE", short: four digits of a number. */
void shown_parameter(struct buf *out, const char *name, const char *value,
                     size_t len);

/* Appends them all, or as many as a line has room for, to `out`, which holds
 * nothing else. */
void shown_parameters(struct buf *out, struct jval parameters);

/* How wide the terminal is; 80 where nobody knows. */
int shown_columns(int fd);

#endif
