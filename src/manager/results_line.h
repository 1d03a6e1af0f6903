/* SPDX-License-Identifier: MIT */
/* results_line.h - a line of results.jsonl -> struct result, straight from the
 * text: there may be a hundred thousand of them.  Any thread. */
#ifndef MANAGER_RESULTS_LINE_H
#define MANAGER_RESULTS_LINE_H

#include <stddef.h>

struct result;

/* Members that are not there are empty, null or 0, others are left out.  -1:
 * no JSON object, or out of memory; then there is nothing to be freed. */
int results_line(const char *line, size_t len, struct result *out);

#endif
