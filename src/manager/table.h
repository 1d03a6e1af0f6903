/* SPDX-License-Identifier: MIT */
/* table.h - an experiment's results as a table for people, and as JSON. */
#ifndef MANAGER_TABLE_H
#define MANAGER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct buf;
struct err;
struct objectives;
struct result;
struct results;

/* Prints the best parameters and the ten best trials, or, with objectives, the
 * front (with `all` all trials, as results_sort() has them), the counts, and
 * where everything is. */
void table_print(FILE *out, const struct results *r, bool all);

/* Prints {"best": {"trial", "value", "parameters"} or null, "trials": [...]};
 * with objectives `best` is an array of the front, as pareto_write_best() has
 * it, and pareto_write_growth() tells of its hypervolume.
 * -1: there was not enough memory, and nothing is printed. */
int table_print_json(FILE *out, const struct results *r, struct err *err);

/* Prints rows for these trials, with the table's head; nothing where there are
 * none.  `r` tells of objectives; NULL: nothing does. */
void table_print_rows(FILE *out, const struct results *r,
                      const struct result *const *items, size_t n);

/* Prints what the results are judged by, in one line without its end:
 * "accuracy: maximize, ms: minimize; ms <= 20". */
void table_print_objectives(FILE *out, const struct objectives *of);

/* Appends one trial, as an element of table_print_json()'s `trials`. */
void table_write_json(struct buf *b, const struct result *item);

#endif
