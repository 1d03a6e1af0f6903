/* SPDX-License-Identifier: MIT */
#include "store/rows.h"

#include "core/err.h"
#include "history/history.h"
#include "log/record.h"

#include <stdlib.h>
#include <string.h>

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
        rc = add_parameters(r, f->job, s->parameters, err);
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

/* One whose beginning and end nobody noted is known by what it reported. */
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
add_decision(struct rows *r, const struct history_fact *f, struct err *err)
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
        return add_decision(r, f, err);
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
