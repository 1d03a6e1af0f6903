/* SPDX-License-Identifier: MIT */
#include "store/rows.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "log/record.h"
#include "manager/parameters.h"
#include "store/metric.h"

#include <stdlib.h>
#include <string.h>

#define CODE_SIZE 2
#define TEXT_MAX ((size_t)64 << 20)

/* A record in hand. */
struct told {
    struct rows *rows;
    const struct record *record;
    const char *payload; /* behind the code */
    size_t len;
    uint64_t segment, offset;
};

/* ---- notes ---- */

static int
add_note(const struct told *t, struct store_value trial,
         struct store_value event, struct err *err)
{
    const struct record *r = t->record;

    return STORE_RUN(
        t->rows->store, STORE_NOTE, err, store_int((int64_t)t->segment),
        store_int((int64_t)t->offset), store_int((int64_t)r->number),
        store_text(record_kind_text(r->kind)), trial, event,
        store_bytes(t->payload, t->len), store_int(r->time_us));
}

/* The parameters that were suggested under this id, taken out: to be freed;
 * NULL: none. */
static int
take_suggested(struct rows *r, const char *id, char **out, struct err *err)
{
    struct store *s = r->store;
    int rc = STORE_RUN(s, STORE_TAKEN, err, store_text(id));

    *out = NULL;
    if (rc != 1)
        return rc;
    *out = strdup(s->sql->text(store_query(s, STORE_TAKEN), 0, NULL));
    store_reset(s, STORE_TAKEN);
    if (*out == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    return STORE_RUN(s, STORE_UNSUGGEST, err, store_text(id));
}

static int
add_parameters(struct rows *r, const char *trial, const char *text,
               struct err *err)
{
    struct json *doc =
        text == NULL ? NULL : json_parse(text, strlen(text), JSON_STRICT, NULL);
    int rc =
        doc == NULL ? 0 : rows_add_parameters(r, trial, json_root(doc), err);

    json_free(doc);
    return rc;
}

static int
start_trial(const struct told *t, struct jval root, const char *trial,
            struct err *err)
{
    char *parameters = NULL;
    struct buf id;
    struct jval v;
    int rc = 0;

    buf_init(&id, TEXT_MAX);
    if (jval_get(root, "parameter_id", &v)) {
        jval_write(v, &id);
        rc = take_suggested(t->rows, buf_text(&id), &parameters, err);
    }
    if (rc == 0)
        rc = STORE_RUN(t->rows->store, STORE_STARTED, err, store_text(trial),
                       store_text(id.len > 0 ? buf_text(&id) : NULL),
                       store_int(t->record->time_us), store_text(parameters));
    if (rc == 0)
        rc = add_parameters(t->rows, trial, parameters, err);
    free(parameters);
    buf_fini(&id);
    return rc;
}

static int
attempt_started(const struct told *t, struct jval root, const char *trial,
                struct err *err)
{
    if (start_trial(t, root, trial, err) != 0)
        return -1;
    return STORE_RUN(t->rows->store, STORE_ATTEMPT_STARTED, err,
                     store_text(trial), rows_count(root, "attempt"),
                     store_int(t->record->time_us), rows_count(root, "pid"));
}

static int
attempt_exited(const struct told *t, struct jval root, const char *trial,
               struct err *err)
{
    return STORE_RUN(t->rows->store, STORE_ATTEMPT_EXITED, err,
                     store_text(trial), rows_count(root, "attempt"),
                     store_int(t->record->time_us), rows_text(root, "status"));
}

static int
take_note(const struct told *t, struct err *err)
{
    static const struct {
        const char *event;
        int (*take)(const struct told *t, struct jval root, const char *trial,
                    struct err *err);
    } takers[] = {{"started", attempt_started}, {"exited", attempt_exited}};
    struct json *doc = json_parse(t->payload, t->len, JSON_STRICT, NULL);
    struct store_value event, trial, attempt;
    int rc = 1;

    if (doc == NULL)
        return 0;
    event = rows_text(json_root(doc), "event");
    trial = rows_text(json_root(doc), "trial_job_id");
    attempt = rows_count(json_root(doc), "attempt");
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (event.type == SQL_TEXT && trial.type == SQL_TEXT &&
            attempt.type == SQL_INTEGER &&
            strcmp(takers[i].event, event.text) == 0)
            rc = takers[i].take(t, json_root(doc), trial.text, err);
    if (rc == 1)
        rc = add_note(t, trial, event, err);
    json_free(doc);
    return rc;
}

static int
take_words(const struct told *t, struct err *err)
{
    return add_note(t, store_null(), store_null(), err);
}

/* ---- what the sides and the manager say to each other ---- */

static int
take_suggestion(const struct told *t, struct err *err)
{
    struct suggestion s;
    int rc;

    if (suggestion_read(t->payload, t->len, &s, NULL) != 0)
        return 0;
    rc = STORE_RUN(t->rows->store, STORE_SUGGESTED, err, store_text(s.id),
                   store_text(s.parameters), store_int(t->record->time_us));
    suggestion_fini(&s);
    return rc;
}

static int
take_metric(const struct told *t, struct err *err)
{
    const struct frame frame = {
        .code = "ME", .payload = t->payload, .len = t->len};
    struct command *cmd = command_decode(&frame, t->record->number, NULL);
    const struct metric *m;
    char *text;
    int rc;

    if (cmd == NULL || cmd->metric.type == METRIC_REQUEST) {
        command_free(cmd);
        return 0;
    }
    m = &cmd->metric;
    text = metric_said(m, t->payload, t->len);
    rc = STORE_RUN(
        t->rows->store, STORE_METRIC, err, store_text(m->job),
        store_int((int64_t)m->attempt),
        store_text(m->type == METRIC_FINAL ? "final" : "intermediate"),
        store_int((int64_t)m->sequence),
        m->has_value ? store_real(m->value) : store_null(), store_text(text),
        store_int(t->record->time_us));
    free(text);
    command_free(cmd);
    return rc;
}

static int
take_end(const struct told *t, struct err *err)
{
    struct json *doc = json_parse(t->payload, t->len, JSON_STRICT, NULL);
    struct store_value trial;
    int rc = 0;

    if (doc == NULL)
        return 0;
    trial = rows_text(json_root(doc), "trial_job_id");
    if (trial.type == SQL_TEXT)
        rc = STORE_RUN(t->rows->store, STORE_ENDED, err, trial,
                       rows_text(json_root(doc), "event"),
                       store_int(t->record->time_us));
    json_free(doc);
    return rc;
}

static int
add_decision(const struct told *t, const char *trial, const char *decision,
             struct err *err)
{
    bool tuner = t->record->kind == RECORD_TUNER;

    return STORE_RUN(t->rows->store, STORE_DECISION, err, store_text("log"),
                     store_int((int64_t)t->record->number), store_text(trial),
                     store_text(tuner ? "tuner" : "assessor"),
                     store_text(decision), store_null(),
                     store_int(t->record->time_us));
}

static int
take_kill(const struct told *t, struct err *err)
{
    struct json *doc = json_parse(t->payload, t->len, JSON_STRICT, NULL);
    const char *trial;
    int rc = 0;

    if (doc != NULL && jval_string(json_root(doc), &trial, NULL))
        rc = add_decision(t, trial, "stop", err);
    json_free(doc);
    return rc;
}

static int
take_decision(const struct told *t, struct err *err)
{
    struct json *doc = json_parse(t->payload, t->len, JSON_STRICT, NULL);
    const char *trial, *decision;
    struct jval v, w;
    int rc = 0;

    if (doc != NULL && jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_get(json_root(doc), "decision", &w) &&
        jval_string(v, &trial, NULL) && jval_string(w, &decision, NULL))
        rc = add_decision(t, trial, decision, err);
    json_free(doc);
    return rc;
}

/* ---- which is which ---- */

static const struct {
    enum record_kind kind;
    const char *code; /* NULL: it has none */
    int (*take)(const struct told *t, struct err *err);
} takers[] = {
    {RECORD_IN, "ME", take_metric},
    {RECORD_IN, "NT", take_note},
    {RECORD_IN, "EN", take_end},
    {RECORD_TUNER, "TR", take_suggestion},
    {RECORD_ASSESSOR, "KI", take_kill},
    {RECORD_TUNER, "KI", take_kill},
    {RECORD_TUNER, "DT", take_decision},
    {RECORD_SKIPPED, NULL, take_words},
    {RECORD_RESUMED, NULL, take_words},
    {RECORD_END, NULL, take_words},
    {RECORD_TUNER_EVENT, NULL, take_words},
    {RECORD_ASSESSOR_EVENT, NULL, take_words},
};

int
rows_add_record(struct rows *r, const struct record *record, uint64_t segment,
                uint64_t offset, struct err *err)
{
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        size_t skip = takers[i].code == NULL ? 0 : CODE_SIZE;
        const struct told told = {
            r,       record, record->payload + skip, record->len - skip,
            segment, offset};

        if (record->kind == takers[i].kind && record->len >= skip &&
            (skip == 0 || memcmp(record->payload, takers[i].code, skip) == 0))
            return takers[i].take(&told, err);
    }
    return 0;
}
