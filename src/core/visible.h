/* SPDX-License-Identifier: MIT */
/* visible.h - texts from outside, made fit for people to read, on a terminal, a
 * page or in a table: nothing may obey what a parameter, a program or a log
 * happens to hold, or hide it.  Control characters (also U+0080 to U+009F),
 * those that turn the direction of writing round, separate lines or have no
 * width, and bytes that are no UTF-8 are shown as '?'.  Any thread. */
#ifndef CORE_VISIBLE_H
#define CORE_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;

/* Whether the character of this code can be shown as it is. */
bool visible_is_plain(uint32_t c);

/* Appends the text, cut to `most` bytes. */
void visible_text(struct buf *out, const char *text, size_t len, size_t most);

/* Makes a text visible in place; ASCII's control characters become spaces, so
 * that it is one line. */
void visible_line(char *text);

/* Prints as fprintf() does, made visible; an LF, also one in an argument,
 * stays. */
void visible_printf(FILE *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
