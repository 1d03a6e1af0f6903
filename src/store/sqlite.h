/* SPDX-License-Identifier: MIT */
/* sqlite.h - SQLite as a table of calls, behind which its library lies: the
 * shared object lib/sqlite.so is loaded only in a process that asks for a
 * struct sql (cli/module.h).  A struct sql_db and its queries belong to one
 * thread.  Errors are ERR_SYSTEM and name the file; ERR_INPUT when it is no
 * database, or a damaged one. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct sql_db;
struct sql_query;

enum sql_open {
    SQL_READ,   /* an existing database, never written to */
    SQL_WRITE,  /* an existing database */
    SQL_CREATE, /* a new one of mode 0600, unless it exists */
};

enum sql_type { SQL_NULL, SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BLOB };

struct sql {
    struct sql_db *(*open)(const char *path, enum sql_open how,
                           struct err *err);
    void (*close)(struct sql_db *db); /* behind the end of its queries */

    /* Runs one or more statements without results. */
    int (*run)(struct sql_db *db, const char *text, struct err *err);

    struct sql_query *(*prepare)(struct sql_db *db, const char *text,
                                 struct err *err);
    void (*finish)(struct sql_query *q);

    /* Set the query's ?1, ?2, ...: copied, and kept over steps.  A failure is
     * told by the next step.  A NULL text is null, and so is a NaN. */
    void (*bind_null)(struct sql_query *q, int i);
    void (*bind_int)(struct sql_query *q, int i, int64_t value);
    void (*bind_real)(struct sql_query *q, int i, double value);
    void (*bind_text)(struct sql_query *q, int i, const char *text, size_t len);
    void (*bind_blob)(struct sql_query *q, int i, const void *bytes,
                      size_t len);

    /* 1: a row; 0: there are no more, and the query may be stepped anew; -1:
     * err tells. */
    int (*step)(struct sql_query *q, struct err *err);
    void (*reset)(struct sql_query *q); /* ends it before its last row */

    /* Columns of the current row, counted from 0; borrowed until the next
     * step. */
    int (*n_columns)(struct sql_query *q);
    const char *(*name)(struct sql_query *q, int i);
    enum sql_type (*type)(struct sql_query *q, int i);
    int64_t (*integer)(struct sql_query *q, int i);
    double (*real)(struct sql_query *q, int i);
    const char *(*text)(struct sql_query *q, int i,
                        size_t *len); /* a BLOB's bytes, too; "": null */
};

#define SQLITE_SYMBOL "tunepipe_sqlite" /* in sqlite.so: a const struct sql */

#endif
