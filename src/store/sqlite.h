/* SPDX-License-Identifier: MIT */
/* sqlite.h - SQLite as a table of calls, behind which its library lies: the
 * shared object lib/sqlite.so, which only who has a struct sql has loaded
 * (cli/module.h).
 *
 * A struct sql_db and its queries belong to one thread.  Errors are ERR_SYSTEM
 * and name the file; ERR_INPUT when it is no database, or a damaged one. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct sql_db;
struct sql_query;

enum sql_open {
    SQL_READ,   /* what is there, and never written */
    SQL_WRITE,  /* what is there */
    SQL_CREATE, /* a new one, 0600, unless it is there */
};

enum sql_type { SQL_NULL, SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BLOB };

struct sql {
    struct sql_db *(*open)(const char *path, enum sql_open how,
                           struct err *err);
    void (*close)(struct sql_db *db); /* its queries are finished before */

    /* One or more statements without results. */
    int (*run)(struct sql_db *db, const char *text, struct err *err);

    struct sql_query *(*prepare)(struct sql_db *db, const char *text,
                                 struct err *err);
    void (*finish)(struct sql_query *q);

    /* Values for its ?1, ?2, ...: copied, and kept over steps.  A failure is
     * told by the next step.  A NULL text is null, and so is a NaN. */
    void (*bind_null)(struct sql_query *q, int i);
    void (*bind_int)(struct sql_query *q, int i, int64_t value);
    void (*bind_real)(struct sql_query *q, int i, double value);
    void (*bind_text)(struct sql_query *q, int i, const char *text, size_t len);
    void (*bind_blob)(struct sql_query *q, int i, const void *bytes,
                      size_t len);

    /* 1: a row; 0: there are no more, and it may be stepped anew; -1. */
    int (*step)(struct sql_query *q, struct err *err);
    void (*reset)(struct sql_query *q); /* before its last row */

    /* Of the row, columns from 0; borrowed until the next step. */
    int (*n_columns)(struct sql_query *q);
    const char *(*name)(struct sql_query *q, int i);
    enum sql_type (*type)(struct sql_query *q, int i);
    int64_t (*integer)(struct sql_query *q, int i);
    double (*real)(struct sql_query *q, int i);
    const char *(*text)(struct sql_query *q, int i,
                        size_t *len); /* a BLOB's bytes, too; "": null */
};

#define SQLITE_SYMBOL "tunepipe_sqlite" /* a const struct sql */

#endif
