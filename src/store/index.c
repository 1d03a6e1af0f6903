/* SPDX-License-Identifier: MIT */
#include "store/index.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/hold.h"
#include "history/folder.h"
#include "history/history.h"
#include "log/log.h"
#include "log/record.h"
#include "store/columns.h"
#include "store/lines.h"
#include "store/rows.h"
#include "store/store.h"
#include "store/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_ENDING ".new"
#define JOURNAL_ENDING "-journal" /* as SQLite names it */
#define SQL_MAX ((size_t)64 << 20)

/* The keys in meta. */
#define KEY_SCHEMA "schema"
#define KEY_RESULTS "results_offset"
#define KEY_LINES "results_lines"
#define KEY_MARK "results_mark" /* lines_mark() */
#define KEY_SUMMARY "summary_ns"
#define KEY_LACKS "log_lacks"
#define KEY_HISTORY "history"

struct index {
    const struct sql *sql;
    /* Fresh: the new database until it is renamed to path. */
    char *folder, *path, *fresh;
    struct history_reader *history; /* NULL: not open */
};

/* What reading the experiment's files into the database came to. */
enum reading {
    /* err tells; nothing was committed, unless it is ERR_LOG */
    READING_FAILED = -1,
    READING_DONE,
    READING_OTHER, /* the files are not those of which the database was made,
                      and err tells */
    READING_SAME,  /* nothing was new */
};

void
index_free(struct index *ix)
{
    if (ix == NULL)
        return;
    history_close(ix->history);
    free(ix->folder);
    free(ix->path);
    free(ix->fresh);
    free(ix);
}

static int
check_folder(const struct index *ix, struct err *err)
{
    char *path = file_join(ix->folder, FOLDER_EXPERIMENT);
    int rc = 0;

    if (path == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (access(path, R_OK) != 0)
        rc = err_errno(err, ERR_CONFIG,
                       "%s is no experiment's folder: %s: cannot open",
                       ix->folder, path);
    free(path);
    return rc;
}

struct index *
index_new(const struct sql *sql, const char *folder, struct err *err)
{
    struct index *ix = calloc(1, sizeof *ix);

    if (ix == NULL || (ix->folder = strdup(folder)) == NULL ||
        (ix->path = file_join(folder, INDEX_FILE)) == NULL ||
        (ix->fresh = file_join(folder, INDEX_FILE NEW_ENDING)) == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        goto fail;
    }
    if (check_folder(ix, err) != 0)
        goto fail;
    ix->sql = sql;
    return ix;
fail:
    index_free(ix);
    return NULL;
}

const char *
index_path(const struct index *ix)
{
    return ix->path;
}

static void
close_history(struct index *ix)
{
    history_close(ix->history);
    ix->history = NULL;
}

/* ---- the log ---- */

/* Opens the history behind the last record that the database has.
 * READING_OTHER: the log does not have that record any more. */
static int
open_history(struct index *ix, struct store *s, const struct buf *known,
             struct err *err)
{
    close_history(ix);
    ix->history = history_open(ix->folder, err);
    if (ix->history == NULL)
        return -1;
    if (known->len > 0)
        return history_load(ix->history, known->data, known->len, err);
    return history_lacks(ix->history) ? store_set(s, KEY_LACKS, 1, err) : 0;
}

/* Brings the history to where the database is, which another process may have
 * brought up to date; READING_OTHER as open_history(). */
static int
go_on(struct index *ix, struct store *s, struct err *err)
{
    struct buf known, mine;
    int rc;

    buf_init(&known, SQL_MAX);
    buf_init(&mine, SQL_MAX);
    if (ix->history != NULL)
        history_save(ix->history, &mine);
    rc = store_get_bytes(s, KEY_HISTORY, &known, err);
    if (rc >= 0)
        rc = mine.len > 0 && mine.len == known.len &&
                     memcmp(mine.data, known.data, mine.len) == 0
                 ? history_grow(ix->history, err)
                 : open_history(ix, s, &known, err);
    buf_fini(&known);
    buf_fini(&mine);
    return rc;
}

static int
put_history(const struct index *ix, struct store *s, struct err *err)
{
    struct buf state;
    int rc;

    buf_init(&state, SQL_MAX);
    history_save(ix->history, &state);
    rc = buf_check(&state, "what is known of living trials", err);
    if (rc == 0)
        rc = store_set_bytes(s, KEY_HISTORY, buf_text(&state), state.len, err);
    buf_fini(&state);
    return rc;
}

static int
read_history(struct index *ix, struct rows *rows, struct index_report *out,
             struct err *err)
{
    struct history_position before, at;
    struct history_fact fact;
    int rc = go_on(ix, rows->store, err);

    if (rc != 0)
        return rc;
    before = history_at(ix->history);
    while (rc == 0 && (rc = history_next(ix->history, &fact, err)) == 1) {
        at = history_at(ix->history);
        out->records += memcmp(&before, &at, sizeof at) != 0 &&
                        fact.record->kind != RECORD_HEAD &&
                        fact.record->kind != RECORD_SEGMENT;
        before = at;
        rc = rows_add_fact(rows, &fact, ix->history, err);
    }
    if (rc == 0 || err->code == ERR_LOG) {
        struct err why;

        if (put_history(ix, rows->store, &why) != 0) {
            *err = why;
            rc = -1;
        }
    }
    return rc;
}

/* ---- the results ---- */

static int
read_lines(struct lines *l, struct rows *rows, struct index_report *out,
           struct err *err)
{
    int rc;

    while ((rc = lines_next(l, err)) == 1) {
        rc = rows_add_result(rows, l->text, l->len, l->number, err);
        if (rc < 0)
            break;
        out->results++;
        out->damaged += rc == 1;
    }
    return rc;
}

static int
read_results(const struct index *ix, struct rows *rows,
             struct index_report *out, struct err *err)
{
    struct store *s = rows->store;
    int64_t offset = 0, number = 0, mark = -1;
    struct lines lines;
    int rc = lines_open(&lines, ix->folder, FOLDER_RESULTS, err);

    if (rc == 0 && (store_get(s, KEY_RESULTS, &offset, err) < 0 ||
                    store_get(s, KEY_LINES, &number, err) < 0 ||
                    store_get(s, KEY_MARK, &mark, err) < 0))
        rc = -1;
    if (rc == 0)
        rc = lines_seek(&lines, offset, number, mark, err);
    if (rc == 0)
        rc = read_lines(&lines, rows, out, err);
    if (rc == 0)
        rc = store_set(s, KEY_RESULTS, lines.offset, err);
    if (rc == 0)
        rc = store_set(s, KEY_LINES, lines.number, err);
    if (rc == 0)
        rc = lines_mark(&lines, &mark, err);
    if (rc == 0)
        rc = store_set(s, KEY_MARK, mark, err);
    lines_close(&lines);
    return rc;
}

/* ---- the views ---- */

static int
read_columns(struct store *s, enum store_query names, struct columns *out,
             struct err *err)
{
    int rc;

    while ((rc = store_step(s, names, NULL, 0, err)) == 1)
        if (columns_add(out, s->sql->text(store_query(s, names), 0, NULL),
                        err) != 0) {
            store_reset(s, names);
            return -1;
        }
    return rc;
}

static int
write_view(const struct index *ix, struct store *s, struct err *err)
{
    struct columns columns = {0}, values = {0};
    struct buf sql;
    int rc = read_columns(s, STORE_NAMES, &columns, err);

    buf_init(&sql, SQL_MAX);
    if (rc == 0)
        rc = read_columns(s, STORE_VALUE_NAMES, &values, err);
    if (rc == 0)
        rc = columns_sort(&columns, ix->folder, err);
    if (rc == 0) {
        tables_write_trials(&sql, (const char *const *)values.names, values.n,
                            (const char *const *)columns.names, columns.n);
        rc = buf_check(&sql, "the view of the trials", err);
    }
    if (rc == 0)
        rc = s->sql->run(s->db, buf_text(&sql), err);
    buf_fini(&sql);
    columns_fini(&columns);
    columns_fini(&values);
    return rc;
}

/* ---- one transaction ---- */

typedef void write_sql(struct buf *out, const char *best);

/* Writes a schema for the direction that the experiment's file names: whether
 * the least or the greatest result is the best. */
static int
run_schema(const struct index *ix, struct store *s, write_sql *write,
           struct err *err)
{
    char *path = file_join(ix->folder, FOLDER_EXPERIMENT);
    struct json *doc = NULL;
    struct store_value mode;
    struct buf text, sql;
    int rc = -1;

    buf_init(&text, SQL_MAX);
    buf_init(&sql, SQL_MAX);
    if (path != NULL && file_read(path, SQL_MAX / 2, &text, err) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, err);
    if (doc != NULL) {
        mode = rows_text(json_root(doc), "optimize_mode");
        write(&sql, mode.type == SQL_TEXT && strcmp(mode.text, "minimize") == 0
                        ? "ASC"
                        : "DESC");
        rc = s->sql->run(s->db, buf_text(&sql), err);
    }
    json_free(doc);
    buf_fini(&text);
    buf_fini(&sql);
    free(path);
    return rc;
}

/* The tables of a new database; make_indexes() adds the rest once they were
 * filled. */
static int
make_tables(struct index *ix, struct store *s, struct err *err)
{
    int rc = s->sql->run(s->db, "BEGIN", err);

    if (rc == 0)
        rc = run_schema(ix, s, tables_write, err);
    if (rc == 0)
        rc = store_set(s, KEY_SCHEMA, TABLES_VERSION, err);
    if (rc == 0)
        rc = store_set_text(s, "program", "tunepipe " TP_VERSION, err);
    if (rc == 0)
        rc = write_view(ix, s, err);
    return rc == 0 ? s->sql->run(s->db, "COMMIT", err) : -1;
}

static int
make_indexes(struct index *ix, struct store *s, struct err *err)
{
    return run_schema(ix, s, tables_write_indexes, err);
}

/* When the summary was written; 0: it was not. */
static int64_t
summary_time(const struct index *ix)
{
    char *path = file_join(ix->folder, FOLDER_SUMMARY);
    struct stat st;
    int64_t time = 0;

    if (path != NULL && stat(path, &st) == 0)
        time = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    free(path);
    return time;
}

/* Writes the row of the experiment.  READING_SAME: its summary is the one that
 * was read before. */
static int
set_experiment(const struct index *ix, struct rows *rows, struct err *err)
{
    int64_t was = -1, now = summary_time(ix);

    if (store_get(rows->store, KEY_SUMMARY, &was, err) < 0)
        return -1;
    if (was == now)
        return READING_SAME;
    if (rows_set_experiment(rows, ix->folder, err) != 0)
        return -1;
    return store_set(rows->store, KEY_SUMMARY, now, err);
}

static int
read_files(struct index *ix, struct rows *rows, struct index_report *out,
           struct err *err)
{
    int rc = read_results(ix, rows, out, err);

    if (rc == 0)
        rc = set_experiment(ix, rows, err);
    if (rc == READING_SAME && out->records + out->results > 0)
        rc = 0;
    if (rc == 0 && rows->new_names)
        rc = write_view(ix, rows->store, err);
    return rc;
}

static int
read_all(struct index *ix, struct rows *rows, struct index_report *out,
         struct err *err)
{
    const struct store *s = rows->store;
    struct err damage = {0};
    int rc = read_history(ix, rows, out, err);

    if (rc < 0 && err->code == ERR_LOG) {
        damage = *err;
        rc = 0;
    }
    if (rc == 0)
        rc = read_files(ix, rows, out, err);
    if (rc == 0)
        rc = s->sql->run(s->db, "COMMIT", err);
    else if (rc == READING_SAME)
        rc = s->sql->run(s->db, "ROLLBACK", err);
    if (rc == 0 && damage.code != ERR_NONE) {
        *err = damage;
        return -1;
    }
    return rc;
}

/* Reads what is new in the experiment's files into the database, as one
 * transaction.  DONE also where nothing was new. */
static enum reading
add_new(struct index *ix, struct store *s, struct index_report *out,
        struct err *err)
{
    struct rows rows = {0};
    int rc = s->sql->run(s->db, "BEGIN IMMEDIATE", err);

    if (rc == 0)
        rc = rows_init(&rows, s, ix->folder, err);
    if (rc == 0)
        rc = read_all(ix, &rows, out, err);
    rows_fini(&rows);
    if (rc != 0) { /* ROLLBACK does nothing behind a commit */
        s->sql->run(s->db, "ROLLBACK", NULL);
        close_history(ix); /* the history has read more than was committed */
    }
    return rc;
}

static int
lock_folder(const struct index *ix, struct hold *hold, struct err *err)
{
    int fd = open(ix->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(err, ERR_CONFIG, "%s: cannot open", ix->folder);
    if (hold_wait(hold, fd, ix->path, LOCK_EX, err) == 0)
        return fd;
    close(fd);
    return -1;
}

/* ---- the database that is there ---- */

static int
check_sound(struct store *s, struct err *err)
{
    struct sql_query *q = s->sql->prepare(s->db, "PRAGMA quick_check(1)", err);
    int rc = q == NULL ? -1 : s->sql->step(q, err);

    if (rc == 1) {
        const char *word = s->sql->text(q, 0, NULL);

        rc = strcmp(word, "ok") == 0
                 ? 0
                 : err_set(err, ERR_INPUT, "is damaged: %s", word);
    }
    s->sql->finish(q);
    return rc;
}

static int
open_old(const struct index *ix, struct store *s, enum index_how how,
         struct err *err)
{
    int64_t version = 0;

    if (store_open(s, ix->sql, ix->path, SQL_WRITE, err) != 0 ||
        store_get(s, "schema", &version, err) < 0)
        return -1;
    if (version != TABLES_VERSION)
        return err_set(err, ERR_INPUT, "is of version %lld, this is %d",
                       (long long)version, TABLES_VERSION);
    return how == INDEX_CHECK ? check_sound(s, err) : 0;
}

/* Updates an existing database.  1: it is of no use, and why[] says so; nothing
 * was changed. */
static int
update_old(struct index *ix, enum index_how how, struct index_report *out,
           struct err *err)
{
    struct store s = {0};
    struct err why = {0};
    int rc = 1;

    if (how != INDEX_ANEW && access(ix->path, F_OK) == 0) {
        rc = open_old(ix, &s, how, &why);
        if (rc == 0)
            rc = add_new(ix, &s, out, &why);
        /* damage of the log is told, and the database is sound all the same */
        if (rc < 0 && why.code == ERR_LOG)
            *err = why;
        else if (rc != 0)
            rc = 1;
        snprintf(out->why, sizeof out->why, "%.159s", why.text);
    }
    store_close(&s);
    return rc;
}

/* ---- a new one ---- */

static void
remove_with_journal(const char *path)
{
    char *journal;

    unlink(path);
    if (asprintf(&journal, "%s" JOURNAL_ENDING, path) < 0)
        return;
    unlink(journal);
    free(journal);
}

static int
sync_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0
                 ? err_errno(err, ERR_SYSTEM, "%s: cannot sync", path)
                 : 0;

    if (fd >= 0)
        close(fd);
    return rc;
}

/* The journal that SQLite left beside the old database must not be taken for
 * the new one's. */
static int
replace(const struct index *ix, struct err *err)
{
    if (sync_file(ix->fresh, err) != 0)
        return -1;
    remove_with_journal(ix->path);
    if (rename(ix->fresh, ix->path) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot rename", ix->fresh);
    return 0;
}

static int
build(struct index *ix, struct index_report *out, struct err *err)
{
    struct err damage = {0};
    struct store s = {0};
    int rc;

    out->anew = true;
    out->records = out->results = out->damaged = 0;
    remove_with_journal(ix->fresh);
    rc = store_open(&s, ix->sql, ix->fresh, SQL_CREATE, err);
    if (rc == 0)
        rc = ix->sql->run(s.db,
                          "PRAGMA journal_mode = OFF;"
                          "PRAGMA synchronous = OFF;"
                          "PRAGMA cache_size = -65536",
                          err);
    if (rc == 0)
        rc = make_tables(ix, &s, err);
    if (rc == 0)
        rc = add_new(ix, &s, out, err);
    if (rc < 0 && err->code == ERR_LOG) {
        damage = *err;
        rc = 0;
    }
    if (rc == 0)
        rc = make_indexes(ix, &s, err);
    store_close(&s);
    if (rc == 0)
        rc = replace(ix, err);
    if (rc != 0)
        remove_with_journal(ix->fresh);
    if (rc == 0 && damage.code != ERR_NONE) {
        *err = damage;
        rc = -1;
    }
    return rc;
}

int
index_update(struct index *ix, enum index_how how, struct index_report *out,
             struct err *err)
{
    struct hold hold;
    struct err own;
    char *place;
    int lock, rc;

    *out = (struct index_report){0};
    if (err == NULL)
        err = &own;
    place = log_place(ix->folder, err);
    if (place == NULL)
        return -1; /* one cannot be reached: it would be taken for none */
    free(place);
    lock = lock_folder(ix, &hold, err);
    if (lock < 0)
        return -1;
    rc = update_old(ix, how, out, err);
    if (rc == 1)
        rc = build(ix, out, err);
    hold_drop(&hold);
    close(lock);
    return rc;
}
