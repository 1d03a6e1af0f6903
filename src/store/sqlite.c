/* SPDX-License-Identifier: MIT */
#include "store/sqlite.h"

#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 20000 /* another writer's batch takes less */

struct sql_db {
    sqlite3 *handle;
    char *path;
};

struct sql_query {
    struct sql_db *db;
    sqlite3_stmt *statement;
    int bad; /* what the first bind returned that failed; SQLITE_OK: none did */
};

static int
fail(const struct sql_db *db, int code, struct err *err)
{
    int kind = code & 0xff;

    return err_set(err,
                   kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT ? ERR_INPUT
                   : kind == SQLITE_NOMEM                          ? ERR_MEMORY
                                                                   : ERR_SYSTEM,
                   "%s: %s", db->path,
                   db->handle == NULL || sqlite3_errcode(db->handle) != kind
                       ? sqlite3_errstr(code)
                       : sqlite3_errmsg(db->handle));
}

static void
close_db(struct sql_db *db)
{
    if (db == NULL)
        return;
    sqlite3_close_v2(db->handle);
    free(db->path);
    free(db);
}

/* Makes the file: SQLite would give it the mode that the umask leaves. */
static int
create(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make", path);
    close(fd);
    return 0;
}

/* Where there are none nobody can lock the database, neither its one writer,
 * which has a lock of its own (index.h), nor others. */
static bool
has_locks(const char *path)
{
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool has = fd < 0 || fcntl(fd, F_OFD_GETLK, &whole) == 0 ||
               (errno != ENOLCK && errno != ENOSYS && errno != EOPNOTSUPP);

    if (fd >= 0)
        close(fd);
    return has;
}

static struct sql_db *
open_db(const char *path, enum sql_open how, struct err *err)
{
    struct sql_db *db;
    int rc;

    if (how == SQL_CREATE && create(path, err) != 0)
        return NULL;
    db = calloc(1, sizeof *db);
    if (db == NULL || (db->path = strdup(path)) == NULL) {
        free(db);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    rc = sqlite3_open_v2(path, &db->handle,
                         how == SQL_READ ? SQLITE_OPEN_READONLY
                                         : SQLITE_OPEN_READWRITE,
                         has_locks(path) ? NULL : "unix-none");
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(db->handle, BUSY_MS);
    if (rc == SQLITE_OK)
        return db;
    fail(db, rc, err);
    close_db(db);
    return NULL;
}

static int
run(struct sql_db *db, const char *text, struct err *err)
{
    int rc = sqlite3_exec(db->handle, text, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : fail(db, rc, err);
}

static struct sql_query *
prepare(struct sql_db *db, const char *text, struct err *err)
{
    struct sql_query *q = calloc(1, sizeof *q);
    int rc;

    if (q == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    q->db = db;
    rc = sqlite3_prepare_v2(db->handle, text, -1, &q->statement, NULL);
    if (rc == SQLITE_OK)
        return q;
    fail(db, rc, err);
    free(q);
    return NULL;
}

static void
finish(struct sql_query *q)
{
    if (q != NULL)
        sqlite3_finalize(q->statement);
    free(q);
}

static void
bound(struct sql_query *q, int rc)
{
    if (q->bad == SQLITE_OK)
        q->bad = rc;
}

static void
bind_null(struct sql_query *q, int i)
{
    bound(q, sqlite3_bind_null(q->statement, i));
}

static void
bind_int(struct sql_query *q, int i, int64_t value)
{
    bound(q, sqlite3_bind_int64(q->statement, i, value));
}

static void
bind_real(struct sql_query *q, int i, double value)
{
    bound(q, sqlite3_bind_double(q->statement, i, value));
}

static void
bind_text(struct sql_query *q, int i, const char *text, size_t len)
{
    bound(q, sqlite3_bind_text64(q->statement, i, text, len, SQLITE_TRANSIENT,
                                 SQLITE_UTF8));
}

static void
bind_blob(struct sql_query *q, int i, const void *bytes, size_t len)
{
    bound(q,
          sqlite3_bind_blob64(q->statement, i, bytes, len, SQLITE_TRANSIENT));
}

static int
step(struct sql_query *q, struct err *err)
{
    int rc = q->bad;

    q->bad = SQLITE_OK;
    if (rc == SQLITE_OK)
        rc = sqlite3_step(q->statement);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc != SQLITE_DONE)
        fail(q->db, rc, err);
    sqlite3_reset(q->statement);
    return rc == SQLITE_DONE ? 0 : -1;
}

static void
reset(struct sql_query *q)
{
    sqlite3_reset(q->statement);
}

static int
n_columns(struct sql_query *q)
{
    return sqlite3_column_count(q->statement);
}

static const char *
name(struct sql_query *q, int i)
{
    const char *text = sqlite3_column_name(q->statement, i);

    return text != NULL ? text : "";
}

static enum sql_type
type(struct sql_query *q, int i)
{
    static const struct {
        int theirs;
        enum sql_type ours;
    } types[] = {{SQLITE_INTEGER, SQL_INTEGER},
                 {SQLITE_FLOAT, SQL_REAL},
                 {SQLITE_TEXT, SQL_TEXT},
                 {SQLITE_BLOB, SQL_BLOB}};
    int theirs = sqlite3_column_type(q->statement, i);

    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (types[k].theirs == theirs)
            return types[k].ours;
    return SQL_NULL;
}

static int64_t
integer(struct sql_query *q, int i)
{
    return sqlite3_column_int64(q->statement, i);
}

static double
real(struct sql_query *q, int i)
{
    return sqlite3_column_double(q->statement, i);
}

static const char *
text(struct sql_query *q, int i, size_t *len)
{
    const void *bytes = sqlite3_column_text(q->statement, i);

    if (len != NULL)
        *len = (size_t)sqlite3_column_bytes(q->statement, i);
    return bytes != NULL ? bytes : "";
}

__attribute__((visibility("default"))) extern const struct sql tunepipe_sqlite;

const struct sql tunepipe_sqlite = {
    .open = open_db,
    .close = close_db,
    .run = run,
    .prepare = prepare,
    .finish = finish,
    .bind_null = bind_null,
    .bind_int = bind_int,
    .bind_real = bind_real,
    .bind_text = bind_text,
    .bind_blob = bind_blob,
    .step = step,
    .reset = reset,
    .n_columns = n_columns,
    .name = name,
    .type = type,
    .integer = integer,
    .real = real,
    .text = text,
};
