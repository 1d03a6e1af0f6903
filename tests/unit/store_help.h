/* SPDX-License-Identifier: MIT */
/* store_help.h - an experiment's folder "x" made of bytes, and SQLite. */
#ifndef TESTS_STORE_HELP_H
#define TESTS_STORE_HELP_H

#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "log/record.h"
#include "store/index.h"
#include "store/sqlite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct buf log_bytes, result_bytes;
static int64_t now_us = 1700000000000000;

/* What a build without SQLite cannot test is skipped. */
static inline const struct sql *
load_sqlite(void)
{
    void *module = dlopen(t_build("lib/sqlite.so"), RTLD_NOW | RTLD_LOCAL);

    if (module == NULL)
        SKIP("no SQLite");
    return dlsym(module, SQLITE_SYMBOL);
}

static inline void
put(const char *name, const char *bytes, size_t len)
{
    struct err err;
    char path[256];

    snprintf(path, sizeof path, "x/%s", name);
    CHECK_EQ(file_write(path, bytes, len, &err), 0);
}

static inline void
put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

static inline void
tell(enum record_kind kind, uint64_t number, const char *payload)
{
    now_us += 1000;
    record_encode(&log_bytes, kind, number, now_us, payload, strlen(payload));
}

static inline void
result(const char *line)
{
    buf_add_text(&result_bytes, line);
    buf_add_char(&result_bytes, '\n');
}

/* Without trials; the log begins. */
static inline void
make_folder(void)
{
    buf_init(&log_bytes, 1 << 24);
    buf_init(&result_bytes, 1 << 24);
    mkdir("x", 0700);
    put_text("experiment.json",
             "{\"id\": \"x\", \"name\": \"n\", \"config\": \"e.yml\", "
             "\"optimize_mode\": \"minimize\", \"mode_from\": \"me\", "
             "\"seed\": 18446744073709551615, \"concurrency\": 2, "
             "\"max_trials\": 5, \"deterministic\": false, "
             "\"started_ns\": 1700000000000000000}");
    put_text("config.yml", "trialCommand: x\n");
    put_text("search_space.json", "{\"z\": {}, \"layer\": {}, \"a\": {}}");
    record_write_version(&log_bytes);
    tell(RECORD_HEAD, 0, "{\"seed\": 1}");
    tell(RECORD_SYNC, 0, "");
}

/* Of two objectives, of which the first limits itself. */
static inline void
give_objectives(void)
{
    put_text("experiment.json",
             "{\"id\": \"x\", \"name\": \"n\", \"config\": \"e.yml\", "
             "\"optimize_mode\": \"minimize\", \"mode_from\": \"me\", "
             "\"seed\": 1, \"objectives\": {\"objectives\": [{\"name\": "
             "\"ms\", \"direction\": \"minimize\", \"reference\": 10}, "
             "{\"name\": \"acc\", \"direction\": \"maximize\", "
             "\"reference\": 0}], \"resultConstraints\": [\"ms <= 8\"]}, "
             "\"started_ns\": 1700000000000000000}");
}

/* Four trials: on the front, dominated, on it, beyond the limit. */
static inline void
add_several(void)
{
    static const char *const values[] = {
        "{\"ms\": 4.0, \"acc\": 0.5, \"z\": 3.0}, \"violation\": 0.0",
        "{\"ms\": 5.0, \"acc\": 0.5}, \"violation\": 0.0",
        "{\"ms\": 2.0, \"acc\": 0.25}, \"violation\": 0.0",
        "{\"ms\": 9.0, \"acc\": 1.0}, \"violation\": 0.125"};
    char line[500];

    for (size_t i = 0; i < 4; i++) {
        snprintf(
            line, sizeof line,
            "{\"trial\": \"%05zu\", \"parameter_id\": %zu, \"status\": "
            "\"succeeded\", \"value\": 4.0, \"values\": %s, \"parameters\": "
            "{\"z\": 1}}",
            i, i, values[i]);
        result(line);
    }
}

/* So much of both. */
static inline void
write_folder(size_t log_len, size_t results_len)
{
    put("command.log", log_bytes.data, log_len);
    put("results.jsonl", result_bytes.len > 0 ? result_bytes.data : "",
        results_len);
}

static inline void
write_all(void)
{
    write_folder(log_bytes.len, result_bytes.len);
}

/* All rows that the statement has, `a|b` a row; NULL is written as such. */
static inline void
ask(const struct sql *sql, const char *text, struct buf *out)
{
    struct err err = {0};
    struct sql_db *db = sql->open("x/" INDEX_FILE, SQL_READ, &err);
    struct sql_query *q;

    CHECK(db != NULL);
    q = sql->prepare(db, text, &err);
    CHECK_STR(err.text, "");
    while (sql->step(q, &err) == 1) {
        for (int i = 0; i < sql->n_columns(q); i++) {
            buf_add_text(out, i > 0 ? "|" : "");
            buf_add_text(out, sql->type(q, i) == SQL_NULL
                                  ? "NULL"
                                  : sql->text(q, i, NULL));
        }
        buf_add_char(out, '\n');
    }
    CHECK_STR(err.text, "");
    sql->finish(q);
    sql->close(db);
}

static inline void
check_rows(const struct sql *sql, const char *text, const char *want)
{
    struct buf got;

    buf_init(&got, 1 << 20);
    ask(sql, text, &got);
    CHECK_STR(buf_text(&got), want);
    buf_fini(&got);
}

/* One call of `tunepipe index`. */
static inline struct index_report
update(const struct sql *sql, enum index_how how)
{
    struct index_report report;
    struct err err = {0};
    struct index *ix = index_new(sql, "x", &err);

    CHECK(ix != NULL);
    CHECK_EQ(index_update(ix, how, &report, &err), 0);
    index_free(ix);
    return report;
}

#endif
