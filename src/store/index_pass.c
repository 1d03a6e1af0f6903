/* SPDX-License-Identifier: MIT */
#include "store/index_pass.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "history/folder.h"
#include "history/history.h"
#include "record.h"
#include "store/columns.h"
#include "store/index.h"
#include "store/lines.h"
#include "store/rows.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SQL_MAX ((size_t)64 << 20)

/* The keys in meta. */
#define KEY_SCHEMA "schema"
#define KEY_RESULTS "results_offset"
#define KEY_LINES "results_lines"
#define KEY_SUMMARY "summary_ns"
#define KEY_LACKS "log_lacks"
#define KEY_HISTORY "history"

void
index_pass_fini(struct index_pass *p)
{
    history_close(p->history);
    p->history = NULL;
}

/* ---- the log ---- */

/* Behind the record that the database knows.  1: it is not there any more. */
static int
open_history(struct index_pass *p, struct store *s, const struct buf *known,
             struct err *err)
{
    index_pass_fini(p);
    p->history = history_open(p->folder, err);
    if (p->history == NULL)
        return -1;
    if (known->len > 0)
        return history_load(p->history, known->data, known->len, err);
    return history_lacks(p->history) ? store_set(s, KEY_LACKS, 1, err) : 0;
}

/* To where the database is, which another one may have brought up to date. */
static int
go_on(struct index_pass *p, struct store *s, struct err *err)
{
    struct buf known, mine;
    int rc;

    buf_init(&known, SQL_MAX);
    buf_init(&mine, SQL_MAX);
    if (p->history != NULL)
        history_save(p->history, &mine);
    rc = store_get_bytes(s, KEY_HISTORY, &known, err);
    if (rc >= 0)
        rc = mine.len > 0 && mine.len == known.len &&
                     memcmp(mine.data, known.data, mine.len) == 0
                 ? history_grow(p->history, err)
                 : open_history(p, s, &known, err);
    buf_fini(&known);
    buf_fini(&mine);
    return rc;
}

static int
put_history(const struct index_pass *p, struct store *s, struct err *err)
{
    struct buf state;
    int rc;

    buf_init(&state, SQL_MAX);
    history_save(p->history, &state);
    rc = buf_check(&state, "what is known of living trials", err);
    if (rc == 0)
        rc = store_set_bytes(s, KEY_HISTORY, buf_text(&state), state.len, err);
    buf_fini(&state);
    return rc;
}

static int
read_history(struct index_pass *p, struct rows *rows, struct index_report *out,
             struct err *err)
{
    struct history_position before, at;
    struct history_fact fact;
    int rc = go_on(p, rows->store, err);

    if (rc != 0)
        return rc;
    before = history_at(p->history);
    while (rc == 0 && (rc = history_next(p->history, &fact, err)) == 1) {
        at = history_at(p->history);
        out->records += memcmp(&before, &at, sizeof at) != 0 &&
                        fact.record->kind != RECORD_HEAD &&
                        fact.record->kind != RECORD_SEGMENT;
        before = at;
        rc = rows_add_fact(rows, &fact, p->history, err);
    }
    if (rc == 0 || err->code == ERR_LOG) {
        struct err why;

        if (put_history(p, rows->store, &why) != 0) {
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
read_results(const struct index_pass *p, struct rows *rows,
             struct index_report *out, struct err *err)
{
    struct store *s = rows->store;
    int64_t offset = 0, number = 0;
    struct lines lines;
    int rc = lines_open(&lines, p->folder, FOLDER_RESULTS, err);

    if (rc == 0 && (store_get(s, KEY_RESULTS, &offset, err) < 0 ||
                    store_get(s, KEY_LINES, &number, err) < 0))
        rc = -1;
    if (rc == 0)
        rc = lines_seek(&lines, offset, number, err);
    if (rc == 0)
        rc = read_lines(&lines, rows, out, err);
    if (rc == 0)
        rc = store_set(s, KEY_RESULTS, lines.offset, err);
    if (rc == 0)
        rc = store_set(s, KEY_LINES, lines.number, err);
    lines_close(&lines);
    return rc;
}

/* ---- the views ---- */

static int
write_view(const struct index_pass *p, struct store *s, struct err *err)
{
    struct columns columns = {0};
    struct buf sql;
    int rc;

    while ((rc = store_step(s, STORE_NAMES, NULL, 0, err)) == 1) {
        const char *name = s->sql->text(store_query(s, STORE_NAMES), 0, NULL);

        if (columns_add(&columns, name, err) != 0) {
            store_reset(s, STORE_NAMES);
            rc = -1;
            break;
        }
    }
    buf_init(&sql, SQL_MAX);
    if (rc == 0)
        rc = columns_sort(&columns, p->folder, err);
    if (rc == 0) {
        tables_write_trials(&sql, (const char *const *)columns.names,
                            columns.n);
        rc = buf_check(&sql, "the view of the trials", err);
    }
    if (rc == 0)
        rc = s->sql->run(s->db, buf_text(&sql), err);
    buf_fini(&sql);
    columns_fini(&columns);
    return rc;
}

/* ---- all of it ---- */

typedef void write_sql(struct buf *out, const char *best);

/* What is the best goes by the experiment's file. */
static int
run_schema(const struct index_pass *p, struct store *s, write_sql *write,
           struct err *err)
{
    char *path = file_join(p->folder, FOLDER_EXPERIMENT);
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

int
index_pass_make(struct index_pass *p, struct store *s, struct err *err)
{
    int rc = s->sql->run(s->db, "BEGIN", err);

    if (rc == 0)
        rc = run_schema(p, s, tables_write, err);
    if (rc == 0)
        rc = store_set(s, KEY_SCHEMA, TABLES_VERSION, err);
    if (rc == 0)
        rc = store_set_text(s, "program", "tunepipe " TP_VERSION, err);
    if (rc == 0)
        rc = write_view(p, s, err);
    return rc == 0 ? s->sql->run(s->db, "COMMIT", err) : -1;
}

int
index_pass_made(struct index_pass *p, struct store *s, struct err *err)
{
    return run_schema(p, s, tables_write_indexes, err);
}

/* When the summary was written; 0: there is none. */
static int64_t
summary_time(const struct index_pass *p)
{
    char *path = file_join(p->folder, FOLDER_SUMMARY);
    struct stat st;
    int64_t time = 0;

    if (path != NULL && stat(path, &st) == 0)
        time = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    free(path);
    return time;
}

/* What is known of the experiment as a whole. */
static int
set_experiment(const struct index_pass *p, struct rows *rows, struct err *err)
{
    int64_t was = -1, now = summary_time(p);

    if (store_get(rows->store, KEY_SUMMARY, &was, err) < 0)
        return -1;
    if (was == now)
        return INDEX_PASS_SAME;
    if (rows_set_experiment(rows, p->folder, err) != 0)
        return -1;
    return store_set(rows->store, KEY_SUMMARY, now, err);
}

static int
read_files(struct index_pass *p, struct rows *rows, struct index_report *out,
           struct err *err)
{
    int rc = read_results(p, rows, out, err);

    if (rc == 0)
        rc = set_experiment(p, rows, err);
    if (rc == INDEX_PASS_SAME && out->records + out->results > 0)
        rc = 0;
    if (rc == 0 && rows->new_names)
        rc = write_view(p, rows->store, err);
    return rc;
}

static int
read_all(struct index_pass *p, struct rows *rows, struct index_report *out,
         struct err *err)
{
    const struct store *s = rows->store;
    struct err damage = {0};
    int rc = read_history(p, rows, out, err);

    if (rc < 0 && err->code == ERR_LOG) {
        damage = *err;
        rc = 0;
    }
    if (rc == 0)
        rc = read_files(p, rows, out, err);
    if (rc == 0)
        rc = s->sql->run(s->db, "COMMIT", err);
    else if (rc == INDEX_PASS_SAME)
        rc = s->sql->run(s->db, "ROLLBACK", err);
    if (rc == 0 && damage.code != ERR_NONE) {
        *err = damage;
        return -1;
    }
    return rc;
}

int
index_pass_run(struct index_pass *p, struct store *s, struct index_report *out,
               struct err *err)
{
    struct rows rows = {0};
    int rc = s->sql->run(s->db, "BEGIN IMMEDIATE", err);

    if (rc == 0)
        rc = rows_init(&rows, s, err);
    if (rc == 0)
        rc = read_all(p, &rows, out, err);
    rows_fini(&rows);
    if (rc != 0) /* no-op behind a commit */
        s->sql->run(s->db, "ROLLBACK", NULL);
    if (rc != 0) /* it is behind what the database says */
        index_pass_fini(p);
    return rc;
}
