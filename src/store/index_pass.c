/* SPDX-License-Identifier: MIT */
#include "store/index_pass.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/logfile.h"
#include "manager/experiment_folder.h"
#include "record.h"
#include "store/columns.h"
#include "store/index.h"
#include "store/rows.h"
#include "store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SQL_MAX ((size_t)64 << 20)
#define OTHER "other files than those it was made of: "

/* The keys in meta. */
#define KEY_SCHEMA "schema"
#define KEY_RESULTS "results_offset"
#define KEY_LINES "results_lines"

static const struct {
    const char *key;
    size_t offset;
} position_keys[] = {
    {"log_segment", offsetof(struct index_position, segment)},
    {"log_offset", offsetof(struct index_position, offset)},
    {"log_number", offsetof(struct index_position, number)},
    {"log_time_us", offsetof(struct index_position, time_us)},
};
#define N_POSITION_KEYS (sizeof position_keys / sizeof *position_keys)

void
index_pass_fini(struct index_pass *p)
{
    logfile_close(p->log);
    p->log = NULL;
}

/* ---- the position ---- */

static int64_t *
position_member(struct index_position *at, size_t i)
{
    return (int64_t *)(void *)((char *)at + position_keys[i].offset);
}

static int
get_position(struct store *s, struct index_position *at, struct err *err)
{
    *at = (struct index_position){0};
    for (size_t i = 0; i < N_POSITION_KEYS; i++)
        if (store_get(s, position_keys[i].key, position_member(at, i), err) < 0)
            return -1;
    return 0;
}

static int
put_position(struct store *s, struct index_position *at, struct err *err)
{
    for (size_t i = 0; i < N_POSITION_KEYS; i++)
        if (store_set(s, position_keys[i].key, *position_member(at, i), err) !=
            0)
            return -1;
    return 0;
}

static struct index_position
position_of(const struct logfile *log, const struct record *r)
{
    return (struct index_position){(int64_t)logfile_segment(log),
                                   (int64_t)logfile_offset(log),
                                   (int64_t)r->number, r->time_us};
}

/* ---- the log ---- */

static struct logfile *
open_log(const struct index_pass *p, struct err *err)
{
    char *path = file_join(p->folder, COMMANDLOG_NAME);
    struct logfile *log = path == NULL ? NULL : logfile_open(path, err);

    free(path);
    return log;
}

static bool
has_log(const struct index_pass *p)
{
    char *path = file_join(p->folder, COMMANDLOG_NAME);
    bool there = path != NULL && access(path, F_OK) == 0;

    free(path);
    return there;
}

/* Up to the record that was read last.  1: it is not there any more. */
static int
skip_to(struct logfile *log, const struct index_position *at, struct err *err)
{
    struct index_position now;
    struct record r;

    if (logfile_start_at(log, (uint64_t)at->segment, err) != 0)
        return 1;
    while (logfile_next(log, &r, err) == LOGFILE_RECORD) {
        now = position_of(log, &r);
        if (memcmp(&now, at, sizeof now) == 0)
            return 0;
        if (now.segment > at->segment || now.offset >= at->offset)
            break;
    }
    err_set(err, ERR_INPUT, OTHER "no command %lld at %lld of the log",
            (long long)at->number, (long long)at->offset);
    return 1;
}

/* Segments that were dropped meanwhile are lost to the database as well: a new
 * one would know still less.  What it has read is kept. */
static int
seek(struct index_pass *p, const struct index_position *at, struct err *err)
{
    if (p->log != NULL && memcmp(at, &p->at, sizeof *at) == 0)
        return logfile_grow(p->log, err) < 0 ? -1 : 0;
    logfile_close(p->log);
    p->log = open_log(p, err);
    p->at = *at;
    if (p->log == NULL)
        return -1;
    if (at->segment == 0 ||
        (uint64_t)at->segment < logfile_first_segment(p->log))
        return logfile_start_at(p->log, logfile_first_segment(p->log), err);
    return skip_to(p->log, at, err);
}

/* A tail that is cut off is not there yet. */
static int
read_records(struct index_pass *p, struct rows *rows, struct index_report *out,
             struct err *err)
{
    enum logfile_status status;
    struct record r;

    while ((status = logfile_next(p->log, &r, err)) == LOGFILE_RECORD) {
        if (rows_add_record(rows, &r, logfile_segment(p->log),
                            logfile_offset(p->log), err) != 0)
            return -1;
        p->at = position_of(p->log, &r);
        out->records++;
    }
    return status == LOGFILE_DAMAGED ? -1 : 0;
}

static int
read_log(struct index_pass *p, struct rows *rows, struct index_report *out,
         struct err *err)
{
    struct index_position at;
    int rc = get_position(rows->store, &at, err);

    if (rc != 0)
        return rc;
    if (!has_log(p) && at.segment == 0)
        return 0; /* nothing was begun */
    rc = seek(p, &at, err);
    if (rc == 0)
        rc = read_records(p, rows, out, err);
    if (rc >= 0)
        return rc == 0 ? put_position(rows->store, &p->at, err) : rc;
    if (err->code == ERR_LOG && put_position(rows->store, &p->at, NULL) != 0)
        err->code = ERR_SYSTEM;
    return -1;
}

/* ---- the results ---- */

struct results_reading {
    int64_t offset, lines;
};

/* It stands behind a line end. */
static int
seek_results(FILE *f, int64_t offset, struct err *err)
{
    if (offset == 0)
        return 0;
    if (fseeko(f, (off_t)offset - 1, SEEK_SET) == 0 && getc(f) == '\n')
        return 0;
    err_set(err, ERR_INPUT,
            OTHER FOLDER_RESULTS " has no line that ends at %lld",
            (long long)offset);
    return 1;
}

/* A line without its end is not there yet. */
static int
read_lines(FILE *f, struct rows *rows, struct results_reading *at,
           struct index_report *out, struct err *err)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    int rc = 0;

    while (rc >= 0 && (len = getline(&line, &cap, f)) > 0 &&
           line[len - 1] == '\n') {
        rc = rows_add_result(rows, line, (size_t)len - 1, at->lines + 1, err);
        at->offset += len;
        at->lines++;
        out->results++;
        out->damaged += rc == 1;
    }
    free(line);
    return rc < 0 ? -1 : 0;
}

static int
read_results(const struct index_pass *p, struct rows *rows,
             struct index_report *out, struct err *err)
{
    char *path = file_join(p->folder, FOLDER_RESULTS);
    struct results_reading at = {0, 0};
    FILE *f = path == NULL ? NULL : fopen(path, "re");
    struct store *s = rows->store;
    int rc = -1;

    if (f == NULL)
        err_errno(err, ERR_SYSTEM, "%s/" FOLDER_RESULTS ": cannot open",
                  p->folder);
    else if (store_get(s, KEY_RESULTS, &at.offset, err) >= 0 &&
             store_get(s, KEY_LINES, &at.lines, err) >= 0)
        rc = seek_results(f, at.offset, err);
    if (rc == 0)
        rc = read_lines(f, rows, &at, out, err);
    if (rc == 0)
        rc = store_set(s, KEY_RESULTS, at.offset, err);
    if (rc == 0)
        rc = store_set(s, KEY_LINES, at.lines, err);
    if (f != NULL)
        fclose(f);
    free(path);
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
        schema_write_trials(&sql, (const char *const *)columns.names,
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

/* What is the best goes by the experiment's file. */
static int
write_schema(const struct index_pass *p, struct store *s, struct err *err)
{
    char *path = file_join(p->folder, FOLDER_EXPERIMENT);
    struct json *doc = NULL;
    struct store_value mode = {0};
    struct buf text, sql;
    int rc = -1;

    buf_init(&text, SQL_MAX);
    buf_init(&sql, SQL_MAX);
    if (path != NULL && file_read(path, SQL_MAX / 2, &text, err) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, err);
    if (doc != NULL) {
        mode = rows_text(json_root(doc), "optimize_mode");
        schema_write(&sql,
                     mode.type == SQL_TEXT && strcmp(mode.text, "minimize") == 0
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
        rc = write_schema(p, s, err);
    if (rc == 0)
        rc = store_set(s, KEY_SCHEMA, SCHEMA_VERSION, err);
    if (rc == 0)
        rc = store_set_text(s, "program", "tunepipe " TP_VERSION, err);
    if (rc == 0)
        rc = write_view(p, s, err);
    return rc == 0 ? s->sql->run(s->db, "COMMIT", err) : -1;
}

static int
read_files(struct index_pass *p, struct rows *rows, struct index_report *out,
           struct err *err)
{
    struct err damage = {0};
    int rc = read_log(p, rows, out, err);

    if (rc < 0 && err->code == ERR_LOG) {
        damage = *err;
        rc = 0;
    }
    if (rc == 0)
        rc = read_results(p, rows, out, err);
    if (rc == 0)
        rc = rows_set_experiment(rows, p->folder, err);
    if (rc == 0 && rows->new_names)
        rc = write_view(p, rows->store, err);
    if (rc == 0)
        rc = rows->store->sql->run(rows->store->db, "COMMIT", err);
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
        rc = read_files(p, &rows, out, err);
    rows_fini(&rows);
    if (rc != 0) /* no-op behind a commit */
        s->sql->run(s->db, "ROLLBACK", NULL);
    if (rc != 0) /* it is behind what the database says */
        index_pass_fini(p);
    return rc;
}
