/* SPDX-License-Identifier: MIT */
/* export.h - an experiment's results as a table for other programs, written
 * while its files are read: what is kept in memory are the names of parameters
 * and a count for each trial.  One thread. */
#ifndef STORE_EXPORT_H
#define STORE_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;

/* CSV_SAFE: such that a spreadsheet executes none of it. */
enum export_form { EXPORT_CSV, EXPORT_CSV_SAFE, EXPORT_JSON };

/* Writes a row for each trial that has ended, in the order of their ends.
 * `damaged`: how many lines of results.jsonl could not be read.  Whether
 * `out` took all is for its owner to check.  -1: also when the log is
 * damaged (ERR_LOG); all is written then but the attempts that the log does
 * not tell. */
int export_trials(FILE *out, enum export_form form, const char *folder,
                  uint64_t *damaged, struct err *err);

/* Writes a row for each metric, in the order in which they came, second copies
 * too.  -1: also when the log is damaged (ERR_LOG), behind what stands before
 * the damage. */
int export_metrics(FILE *out, enum export_form form, const char *folder,
                   struct err *err);

#endif
