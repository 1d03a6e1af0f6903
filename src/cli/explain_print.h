/* SPDX-License-Identifier: MIT */
/* explain_print.h - an explanation for people, and as JSON. */
#ifndef CLI_EXPLAIN_PRINT_H
#define CLI_EXPLAIN_PRINT_H

#include <stdio.h>

struct explanation;

void explain_print(const struct explanation *x, FILE *out);
void explain_print_json(const struct explanation *x, FILE *out);

#endif
