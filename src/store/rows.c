/* SPDX-License-Identifier: MIT */
#include "store/rows.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "history/folder.h"
#include "history/history.h"
#include "log/record.h"
#include "manager/parameters.h"
#include "manager/results.h"
#include "objectives/objectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)64 << 20)

static int
know(struct map *names, const char *name, struct err *err)
{
    /* the value does not matter */
    if (map_put(names, name, strlen(name), names) != 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    return 0;
}

static int
read_names(struct store *s, enum store_query query, struct map *names,
           struct err *err)
{
    int rc;

    while ((rc = store_step(s, query, NULL, 0, err)) == 1)
        if (know(names, s->sql->text(store_query(s, query), 0, NULL), err) !=
            0) {
            store_reset(s, query);
            return -1;
        }
    return rc;
}

/* ---- the front ---- */

/* A trial of the front. */
struct on_front {
    struct rows *rows;
    char trial[24];
};

static void
leave_front(void *of)
{
    struct on_front *o = of;

    if (o->rows->keeps_front &&
        STORE_RUN(o->rows->store, STORE_SET_FRONT, NULL, store_text(o->trial),
                  store_null()) != 0)
        o->rows->front_rc = -1;
    free(o);
}

/* True: the trial is on the front. */
static bool
enter_front(struct rows *r, const char *trial, double budget,
            const char *reported)
{
    struct on_front *o = malloc(sizeof *o);
    struct objective_values v;

    if (o == NULL)
        return false;
    o->rows = r;
    snprintf(o->trial, sizeof o->trial, "%s", trial);
    if (pareto_read(r->objectives, reported, &v) &&
        pareto_add(&r->front, trial, budget, &v, o))
        return true;
    free(o);
    return false;
}

static int
read_front(struct rows *r, const char *folder, struct err *err)
{
    struct results *results = results_load(folder, RESULTS_NONE, err);
    struct store *s = r->store;
    int rc;

    if (results == NULL)
        return -1;
    r->objectives = results->objectives;
    results->objectives = NULL;
    results_free(results);
    if (r->objectives == NULL)
        return 0;
    r->front = (struct pareto){.of = r->objectives, .drop = leave_front};
    while ((rc = store_step(s, STORE_FRONT, NULL, 0, err)) == 1) {
        struct sql_query *q = store_query(s, STORE_FRONT);

        enter_front(r, s->sql->text(q, 0, NULL), s->sql->real(q, 2),
                    s->sql->text(q, 1, NULL));
    }
    r->keeps_front = true;
    return rc;
}

int
rows_init(struct rows *r, struct store *s, const char *folder, struct err *err)
{
    *r = (struct rows){.store = s};
    if (read_names(s, STORE_NAMES, &r->names, err) != 0 ||
        read_names(s, STORE_VALUE_NAMES, &r->values, err) != 0)
        return -1;
    return read_front(r, folder, err);
}

void
rows_fini(struct rows *r)
{
    r->keeps_front = false;
    pareto_fini(&r->front);
    objectives_free(r->objectives);
    map_fini(&r->names);
    map_fini(&r->values);
}

struct store_value
rows_text(struct jval object, const char *key)
{
    const char *text;
    struct jval v;
    size_t len;

    if (!jval_get(object, key, &v) || !jval_string(v, &text, &len))
        return store_null();
    return store_bytes(text, len);
}

static struct store_value
rows_number(struct jval object, const char *key)
{
    struct jval v;
    double value;

    if (!jval_get(object, key, &v) || !jval_number(v, &value))
        return store_null();
    return store_real(value);
}

static struct store_value
rows_count(struct jval object, const char *key)
{
    struct jval v;
    int64_t value;
    bool yes;

    if (!jval_get(object, key, &v))
        return store_null();
    if (jval_bool(v, &yes))
        return store_int(yes);
    return jval_int(v, &value) ? store_int(value) : store_null();
}

struct adding {
    struct rows *rows;
    const char *trial;
    struct buf text;
    struct err *err;
    int rc;
};

static struct store_value
value_of(struct adding *a, struct jval v, const char **type)
{
    const char *text;
    int64_t integer;
    double real;
    size_t len;

    *type = "number";
    if (jval_int(v, &integer))
        return store_int(integer);
    if (jval_number(v, &real))
        return store_real(real);
    *type = "text";
    if (jval_string(v, &text, &len))
        return store_bytes(text, len);
    *type = "json";
    buf_clear(&a->text);
    jval_write(v, &a->text);
    return store_bytes(buf_text(&a->text), a->text.len);
}

static int
add_name(struct rows *r, const char *name, struct err *err)
{
    if (map_get(&r->names, name, strlen(name)) != NULL)
        return 0;
    r->new_names = true;
    return know(&r->names, name, err) != 0
               ? -1
               : STORE_RUN(r->store, STORE_NAME, err, store_text(name));
}

static void
add_value(void *ctx, const char *name, struct jval v)
{
    struct adding *a = ctx;
    struct store_value value;
    const char *type;

    if (a->rc != 0)
        return;
    value = value_of(a, v, &type);
    a->rc = add_name(a->rows, name, a->err);
    if (a->rc == 0)
        a->rc = STORE_RUN(a->rows->store, STORE_PARAMETER, a->err,
                          store_text(a->trial), store_text(name),
                          store_text(type), value);
}

/* Writes the values of a trial's parameters. */
static int
rows_add_parameters(struct rows *r, const char *trial, struct jval parameters,
                    struct err *err)
{
    struct adding a = {.rows = r, .trial = trial, .err = err};
    int rc;

    buf_init(&a.text, TEXT_MAX);
    rc = parameters_walk(parameters, add_value, &a, err);
    if (rc == 0)
        rc = a.rc;
    if (rc == 0)
        rc = buf_check(&a.text, "the value of a parameter", err);
    buf_fini(&a.text);
    return rc;
}

/* ---- from files ---- */

#define FILE_MAX ((size_t)64 << 20)

/* ---- results.jsonl ---- */

static char *
json_text(struct jval object, const char *key)
{
    struct jval v;

    return jval_get(object, key, &v) ? jval_copy_text(v) : strdup("null");
}

/* Writes the seed as it stands in the line: it has 64 bits, and no sign. */
static int
add_trial(struct rows *r, struct jval line, const struct result *item,
          int64_t number, struct err *err)
{
    double result;
    bool compared = results_value(item, &result);
    bool reported = strcmp(item->values, "null") != 0;
    char *id = json_text(line, "parameter_id"), *seed = json_text(line, "seed");
    char *parameters = json_text(line, "parameters");
    int rc;

    rc = id == NULL || seed == NULL || parameters == NULL
             ? err_set(err, ERR_MEMORY, "out of memory")
             : STORE_RUN(
                   r->store, STORE_RESULT, err, rows_text(line, "trial"),
                   store_text(id), store_text(seed), store_int(number),
                   rows_text(line, "status"), rows_text(line, "why"),
                   rows_text(line, "ended_by"), rows_number(line, "value"),
                   store_int(results_counts(item)), rows_number(line, "latest"),
                   rows_number(line, "duration_s"),
                   rows_count(line, "intermediates"), store_text(parameters),
                   rows_text(line, "from"), rows_text(line, "from_how"),
                   item->budget > 0 ? store_real(item->budget) : store_null(),
                   compared ? store_real(result) : store_null(),
                   reported ? store_text(item->values) : store_null(),
                   rows_number(line, "violation"));
    if (rc == 0 && compared && r->objectives != NULL &&
        enter_front(r, item->trial, item->budget, item->values))
        rc = STORE_RUN(r->store, STORE_SET_FRONT, err, store_text(item->trial),
                       store_int(1));
    if (rc == 0 && r->front_rc != 0)
        rc = err_set(err, ERR_SYSTEM, "the front cannot be written");
    free(id);
    free(seed);
    free(parameters);
    return rc;
}

/* Writes the values that were reported by name. */
static int
add_values(struct rows *r, struct jval line, const char *trial, struct err *err)
{
    struct jval_iter it;
    struct jval v;
    double value;
    int rc = 0;

    if (!jval_get(line, "values", &v))
        return 0;
    it = jval_iter(v);
    while (rc == 0 && jval_next(&it)) {
        bool known = map_get(&r->values, it.key, strlen(it.key)) != NULL;

        if (!known) {
            r->new_names = true;
            rc = know(&r->values, it.key, err) != 0
                     ? -1
                     : STORE_RUN(r->store, STORE_VALUE_NAME, err,
                                 store_text(it.key));
        }
        if (rc == 0)
            rc = STORE_RUN(r->store, STORE_VALUE, err, store_text(trial),
                           store_text(it.key),
                           jval_number(it.value, &value) ? store_real(value)
                                                         : store_null());
    }
    return rc;
}

/* Writes the tuner's decisions; the assessor's are in the log. */
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

/* Writes the parameters, but their values only where the log did not tell them:
 * they never change. */
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
    struct result item;
    bool known;
    int rc = 1;

    if (doc == NULL)
        return 1;
    if (results_line(line, len, &item) != 0) {
        json_free(doc);
        return 1;
    }
    trial = rows_text(json_root(doc), "trial");
    if (trial.type == SQL_TEXT) {
        rc = STORE_RUN(r->store, STORE_HAS_PARAMETERS, err, trial);
        known = rc == 1;
        if (known)
            store_reset(r->store, STORE_HAS_PARAMETERS);
        if (rc >= 0)
            rc = add_trial(r, json_root(doc), &item, number, err);
        if (rc == 0)
            rc = add_values(r, json_root(doc), trial.text, err);
        if (rc == 0)
            rc = add_decision(r, json_root(doc), number, err);
        if (rc == 0)
            rc = add_parameters(r, json_root(doc), trial, known, err);
    }
    result_fini(&item);
    json_free(doc);
    return rc;
}

/* ---- the experiment ---- */

/* Appends the file's content; false: there is none that can be read. */
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

/* Writes the experiment's row.  What `object` lacks is null, such as a summary
 * that was not written yet. */
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

/* ---- from the history ---- */

static int
add_note(struct rows *r, const struct history_fact *f,
         const struct history_reader *h, const char *event, struct err *err)
{
    const struct record *record = f->record;
    bool framed = record->kind == RECORD_IN; /* else it is words */
    struct history_position at = history_at(h);

    return STORE_RUN(r->store, STORE_NOTE, err, store_int(at.segment),
                     store_int(at.offset), store_int((int64_t)record->number),
                     store_text(record_kind_text(record->kind)),
                     store_text(f->job), store_text(event),
                     framed ? store_bytes(f->payload, f->len)
                            : store_bytes(record->payload, record->len),
                     store_int(record->time_us));
}

static int
bind_parameters(struct rows *r, const char *trial, const char *text,
                struct err *err)
{
    struct json *doc =
        text == NULL ? NULL : json_parse(text, strlen(text), JSON_STRICT, NULL);
    int rc =
        doc == NULL ? 0 : rows_add_parameters(r, trial, json_root(doc), err);

    json_free(doc);
    return rc;
}

/* Writes the trial's row.  Once it runs, its parameters are no suggestion any
 * more that waits for a trial. */
static int
add_start(struct rows *r, const struct history_fact *f, struct err *err)
{
    const struct history_suggestion *s = &f->trial->suggested;
    int rc = STORE_RUN(
        r->store, STORE_STARTED, err, store_text(f->job), store_text(s->id),
        f->runs ? store_int(f->attempt.started_us) : store_null(),
        store_text(s->parameters));

    if (rc == 0)
        rc = bind_parameters(r, f->job, s->parameters, err);
    if (rc == 0 && s->id != NULL && f->runs)
        rc = STORE_RUN(r->store, STORE_UNSUGGEST, err, store_text(s->id));
    return rc;
}

static int
add_attempt(struct rows *r, const struct history_fact *f,
            const struct history_reader *h, struct err *err)
{
    int rc = f->runs ? 0 : add_note(r, f, h, "preparing", err);

    if (rc == 0)
        rc = add_start(r, f, err);
    if (rc != 0)
        return rc;
    return STORE_RUN(r->store, STORE_ATTEMPT_STARTED, err, store_text(f->job),
                     store_int((int64_t)f->attempt.number),
                     f->runs ? store_int(f->attempt.started_us) : store_null(),
                     rows_count(f->object, "pid"));
}

/* Writes the end of an attempt.  One whose beginning and end nobody noted is
 * known by what it reported. */
static int
add_exit(struct rows *r, const struct history_fact *f, struct err *err)
{
    const struct history_attempt *a = &f->attempt;
    int rc = 0;

    if (f->status == NULL && a->begun_us == 0)
        return 0;
    if (f->dated)
        rc = STORE_RUN(r->store, STORE_DATED, err, store_text(f->job),
                       store_int(a->started_us));
    if (rc != 0)
        return rc;
    return STORE_RUN(r->store, STORE_ATTEMPT_EXITED, err, store_text(f->job),
                     store_int((int64_t)a->number), store_int(f->time_us),
                     store_text(f->status),
                     f->dated ? store_int(a->started_us) : store_null());
}

static int
add_metric(struct rows *r, const struct history_fact *f, struct err *err)
{
    const struct history_metric *m = &f->metric;
    char *said;
    int rc;

    if (m->standing == HISTORY_AGAIN)
        return 0;
    said = history_said(f);
    rc = STORE_RUN(r->store, STORE_METRIC, err, store_text(f->job),
                   store_int((int64_t)m->attempt),
                   store_text(m->final ? "final" : "intermediate"),
                   store_int((int64_t)m->sequence),
                   m->n_values > 0 ? store_real(m->values[0].value)
                                   : store_null(),
                   store_text(said), store_int(f->time_us));
    free(said);
    return rc;
}

static int
bind_decision(struct rows *r, const struct history_fact *f, struct err *err)
{
    return STORE_RUN(r->store, STORE_DECISION, err, store_text("log"),
                     store_int((int64_t)f->record->number), store_text(f->job),
                     store_text(f->decision.by_tuner ? "tuner" : "assessor"),
                     store_text(f->decision.what), store_null(),
                     store_int(f->time_us));
}

static bool
is_for_people(enum record_kind kind)
{
    return kind == RECORD_SKIPPED || kind == RECORD_END ||
           kind == RECORD_TUNER_EVENT || kind == RECORD_ASSESSOR_EVENT;
}

int
rows_add_fact(struct rows *r, const struct history_fact *f,
              const struct history_reader *h, struct err *err)
{
    switch (f->kind) {
    case HISTORY_RECORD:
        return is_for_people(f->record->kind) ? add_note(r, f, h, NULL, err)
                                              : 0;
    case HISTORY_RESUMED:
        return add_note(r, f, h, NULL, err);
    case HISTORY_NOTE:
        return add_note(r, f, h, f->event, err);
    case HISTORY_SUGGESTED:
        return STORE_RUN(
            r->store, STORE_SUGGESTED, err, store_text(f->suggestion->id),
            store_text(f->suggestion->parameters), store_int(f->time_us));
    case HISTORY_ADDED:
        break;
    case HISTORY_BEGUN:
        return add_attempt(r, f, h, err);
    case HISTORY_REPORTED:
        return add_metric(r, f, err);
    case HISTORY_DECIDED:
        return bind_decision(r, f, err);
    case HISTORY_EXITED:
        return add_exit(r, f, err);
    case HISTORY_ENDED:
        if (f->trial == NULL)
            break;
        return STORE_RUN(r->store, STORE_ENDED, err, store_text(f->job),
                         store_text(f->end), store_int(f->time_us));
    }
    return 0;
}
