/* SPDX-License-Identifier: MIT */
/* store.h - an open results.db: its statements, prepared when they are first
 * used, and the facts it remembers about itself.  One thread. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/sqlite.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf;
struct err;

/* One for each statement in store.c. */
enum store_query {
    STORE_META_PUT,
    STORE_META_GET,
    STORE_EXPERIMENT,
    STORE_SUGGESTED,
    STORE_UNSUGGEST,
    STORE_STARTED,
    STORE_DATED,
    STORE_ENDED,
    STORE_RESULT,
    STORE_ATTEMPT_STARTED,
    STORE_ATTEMPT_EXITED,
    STORE_METRIC,
    STORE_HAS_PARAMETERS,
    STORE_PARAMETER,
    STORE_NAME,
    STORE_NAMES,
    STORE_VALUE,
    STORE_VALUE_NAME,
    STORE_VALUE_NAMES,
    STORE_FRONT,
    STORE_SET_FRONT,
    STORE_DECISION,
    STORE_NOTE,
    STORE_N_QUERIES
};

struct store {
    const struct sql *sql;
    struct sql_db *db; /* NULL: not open */
    struct sql_query *queries[STORE_N_QUERIES];
};

/* Opens the database.  *s was zeroed; store_close() in either case. */
int store_open(struct store *s, const struct sql *sql, const char *path,
               enum sql_open how, struct err *err);
void store_close(struct store *s);

struct store_value {
    enum sql_type type;
    const char *text; /* TEXT, BLOB */
    size_t len;
    int64_t integer;
    double real;
};

static inline struct store_value
store_bytes(const char *text, size_t len)
{
    return (struct store_value){text == NULL ? SQL_NULL : SQL_TEXT, text, len,
                                0, 0};
}

static inline struct store_value
store_text(const char *text)
{
    return store_bytes(text, text == NULL ? 0 : strlen(text));
}

static inline struct store_value
store_int(int64_t value)
{
    return (struct store_value){SQL_INTEGER, NULL, 0, value, 0};
}

static inline struct store_value
store_real(double value)
{
    return (struct store_value){isnan(value) ? SQL_NULL : SQL_REAL, NULL, 0, 0,
                                value};
}

static inline struct store_value
store_null(void)
{
    return (struct store_value){0};
}

/* Runs the statement with these values for one step.  1: a row, to be followed
 * by store_reset(); 0: done; -1: err tells. */
int store_step(struct store *s, enum store_query q,
               const struct store_value *values, size_t n, struct err *err);
struct sql_query *store_query(struct store *s, enum store_query q);
void store_reset(struct store *s, enum store_query q);

/* store_step() for a statement without rows: 0 or -1. */
#define STORE_RUN(s, q, err, ...)                                   \
    store_step((s), (q), (const struct store_value[]){__VA_ARGS__}, \
               sizeof((const struct store_value[]){__VA_ARGS__}) /  \
                   sizeof(struct store_value),                      \
               (err))

int store_set(struct store *s, const char *key, int64_t value, struct err *err);
int store_set_text(struct store *s, const char *key, const char *value,
                   struct err *err);
int store_set_bytes(struct store *s, const char *key, const void *bytes,
                    size_t len, struct err *err);
/* Reads a number that the database keeps about itself.  1: *out is filled; 0:
 * there is none; -1: err tells. */
int store_get(struct store *s, const char *key, int64_t *out, struct err *err);
/* store_get() for bytes, which are appended to *out. */
int store_get_bytes(struct store *s, const char *key, struct buf *out,
                    struct err *err);

#endif
