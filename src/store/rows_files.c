/* SPDX-License-Identifier: MIT */
#include "store/rows.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "history/folder.h"
#include "manager/results.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)64 << 20)

/* ---- results.jsonl ---- */

static char *
json_text(struct jval object, const char *key)
{
    struct jval v;

    return jval_get(object, key, &v) ? jval_copy_text(v) : strdup("null");
}

static bool
counts(struct store_value status, struct store_value value)
{
    const struct result item = {.status = (char *)status.text,
                                .has_value = value.type == SQL_REAL};

    return status.type == SQL_TEXT && results_counts(&item);
}

/* The seed as it is written: it has 64 bits, and no sign. */
static int
add_trial(struct rows *r, struct jval line, int64_t number, struct err *err)
{
    struct store_value status = rows_text(line, "status");
    struct store_value value = rows_number(line, "value");
    char *id = json_text(line, "parameter_id"), *seed = json_text(line, "seed");
    char *parameters = json_text(line, "parameters");
    int rc;

    rc = id == NULL || seed == NULL || parameters == NULL
             ? err_set(err, ERR_MEMORY, "out of memory")
             : STORE_RUN(
                   r->store, STORE_RESULT, err, rows_text(line, "trial"),
                   store_text(id), store_text(seed), store_int(number), status,
                   rows_text(line, "why"), rows_text(line, "ended_by"), value,
                   store_int(counts(status, value)),
                   rows_number(line, "latest"), rows_number(line, "duration_s"),
                   rows_count(line, "intermediates"), store_text(parameters),
                   rows_text(line, "from"), rows_text(line, "from_how"));
    free(id);
    free(seed);
    free(parameters);
    return rc;
}

/* The assessor's are in the log. */
static int
add_decision(struct rows *r, struct jval line, int64_t number, struct err *err)
{
    static const char *const elsewhere[] = {"itself", "assessor"};
    struct store_value who = rows_text(line, "ended_by");

    if (who.type != SQL_TEXT)
        return 0;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(who.text, elsewhere[i]) == 0)
            return 0;
    return STORE_RUN(r->store, STORE_DECISION, err, store_text("results"),
                     store_int(number), rows_text(line, "trial"), who,
                     rows_text(line, "status"), rows_text(line, "why"),
                     store_null());
}

/* Its values are there when the log told them: they never change. */
static int
add_parameters(struct rows *r, struct jval line, struct store_value trial,
               bool known, struct err *err)
{
    struct jval v;

    return known || !jval_get(line, "parameters", &v)
               ? 0
               : rows_add_parameters(r, trial.text, v, err);
}

int
rows_add_result(struct rows *r, const char *line, size_t len, int64_t number,
                struct err *err)
{
    struct json *doc = json_parse(line, len, JSON_STRICT, NULL);
    struct store_value trial;
    bool known;
    int rc = 1;

    if (doc == NULL)
        return 1;
    trial = rows_text(json_root(doc), "trial");
    if (trial.type == SQL_TEXT) {
        rc = STORE_RUN(r->store, STORE_HAS_PARAMETERS, err, trial);
        known = rc == 1;
        if (known)
            store_reset(r->store, STORE_HAS_PARAMETERS);
        if (rc >= 0)
            rc = add_trial(r, json_root(doc), number, err);
        if (rc == 0)
            rc = add_decision(r, json_root(doc), number, err);
        if (rc == 0)
            rc = add_parameters(r, json_root(doc), trial, known, err);
    }
    json_free(doc);
    return rc;
}

/* ---- the experiment ---- */

/* Appends the file; false: there is none that can be read. */
static bool
read_part(const char *folder, const char *name, struct buf *out,
          struct err *err)
{
    char *path = file_join(folder, name);
    bool done;

    buf_init(out, 2 * FILE_MAX);
    done = path != NULL && file_read(path, FILE_MAX, out, err) == 0;
    free(path);
    return done;
}

static struct json *
parse_part(const char *folder, const char *name, struct err *err)
{
    struct json *doc = NULL;
    struct buf text;

    if (read_part(folder, name, &text, err)) {
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, err);
        if (doc == NULL)
            err_place(err, "%s/%s", folder, name);
    }
    buf_fini(&text);
    return doc;
}

static struct store_value
microseconds(struct jval object, const char *key)
{
    struct store_value ns = rows_count(object, key);

    ns.integer /= 1000;
    return ns;
}

/* What `object` does not have is null: a summary that is not there yet. */
static int
put_experiment(struct store *s, struct jval x, struct jval summary,
               struct store_value config, struct store_value space,
               struct err *err)
{
    char *seed = json_text(x, "seed");
    int rc =
        seed == NULL
            ? err_set(err, ERR_MEMORY, "out of memory")
            : STORE_RUN(
                  s, STORE_EXPERIMENT, err, rows_text(x, "id"),
                  rows_text(x, "name"), rows_text(x, "optimize_mode"),
                  rows_text(x, "mode_from"), store_text(seed),
                  rows_count(x, "concurrency"), rows_count(x, "max_trials"),
                  rows_count(x, "deterministic"), microseconds(x, "started_ns"),
                  config, space, rows_text(summary, "reason"),
                  rows_number(summary, "duration_s"), rows_count(summary, "ok"),
                  rows_count(summary, "over"));

    free(seed);
    return rc;
}

int
rows_set_experiment(struct rows *r, const char *folder, struct err *err)
{
    struct json *x = parse_part(folder, FOLDER_EXPERIMENT, err);
    struct json *summary, *none;
    struct buf config, space;
    int rc;

    if (x == NULL)
        return -1;
    summary = parse_part(folder, FOLDER_SUMMARY, NULL);
    none = json_parse("{}", 2, JSON_STRICT, NULL);
    read_part(folder, FOLDER_CONFIG, &config, NULL);
    read_part(folder, FOLDER_SPACE, &space, NULL);
    rc = none == NULL
             ? err_set(err, ERR_MEMORY, "out of memory")
             : put_experiment(r->store, json_root(x),
                              json_root(summary != NULL ? summary : none),
                              store_bytes(buf_text(&config), config.len),
                              store_bytes(buf_text(&space), space.len), err);
    buf_fini(&config);
    buf_fini(&space);
    json_free(none);
    json_free(summary);
    json_free(x);
    return rc;
}
