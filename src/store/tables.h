/* SPDX-License-Identifier: MIT */
/* tables.h - the tables of results.db, as SQL with its comments: `.schema` of
 * the sqlite3 program shows them.  The manual is tunepipe-index(1).
 *
 * To change them: raise TABLES_VERSION.  A database of another version is
 * built anew from the folder, never converted. */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include <stddef.h>

struct buf;

#define TABLES_VERSION 6

/* The order of results_sort(), with the order of values, "ASC" or "DESC", in
 * the place of %s. */
#define TABLES_BEST_FIRST                                                 \
    "result IS NULL, CASE WHEN result IS NOT NULL THEN budget END DESC, " \
    "result %s, CASE WHEN result IS NOT NULL THEN ended END, "            \
    "length(trial), trial"

/* Writes the tables, and the views that do not depend on the parameters; `best`
 * is the order of values, "ASC" or "DESC". */
void tables_write(struct buf *out, const char *best);

/* Writes the indexes: made behind the rows of a new database, which takes less
 * time than to keep them in order meanwhile. */
void tables_write_indexes(struct buf *out, const char *best);

/* Writes the view v_trials with a column for each of these names, of values of
 * results and of parameters, and the view pareto, which has those of its rows
 * that are on the front. */
void tables_write_trials(struct buf *out, const char *const *values,
                         size_t n_values, const char *const *names, size_t n);

/* Values and parameters beyond are in `reported` and `parameters` alone. */
#define TABLES_COLUMNS_MAX 500

#endif
