/* SPDX-License-Identifier: MIT */
/* answers.h - two runs, a line an answer. */
#ifndef CHECK_ANSWERS_H
#define CHECK_ANSWERS_H

struct err;

/* -1: err tells of the first line that differs, both ways, and after which
 * heading (a line that begins with '#'). */
int answers_compare(const char *first, const char *second, struct err *err);

#endif
