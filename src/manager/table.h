/* SPDX-License-Identifier: MIT */
/* table.h - results, for people and for programs. */
#ifndef MANAGER_TABLE_H
#define MANAGER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct buf;
struct err;
struct result;
struct results;

/* The best parameters, the ten best trials (all of them, in their order, when
 * `all`), the counts, where everything is. */
void table_print(FILE *out, const struct results *r, bool all);

/* {"best": {"trial", "value", "parameters"} or null, "trials": [...]}; -1:
 * too large for memory, nothing printed. */
int table_print_json(FILE *out, const struct results *r, struct err *err);

/* Rows of the same table, under its head; nothing where there are none. */
void table_print_rows(FILE *out, const struct result *const *items, size_t n);

/* An element of `trials`. */
void table_write_json(struct buf *b, const struct result *item);

#endif
