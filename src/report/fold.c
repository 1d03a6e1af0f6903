/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * What the log tells about trials: TR what was suggested, and from which
 * checkpoint; NT when attempts began and ended, and on which devices; ME what
 * was reported.  How a trial ended tells results.jsonl, which load.c reads
 * behind this: there each trial stands once, and wholly. */
#include "report/state.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "json.h"
#include "log/log.h"
#include "log/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CODE_SIZE 2

/* A record in hand. */
struct told {
    struct reading *reading;
    const struct record *record;
    const char *payload; /* behind the code */
    size_t len;
};

static int
out_of_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

/* ---- the head ---- */

/* {"tuner": {"name": ...}} or {"tuner": "..."}. */
static char *
plugin_name(struct jval head, const char *key)
{
    const char *name;
    struct jval v;

    if (!jval_get(head, key, &v))
        return NULL;
    if (jval_type(v) == JSON_OBJECT && !jval_get(v, "name", &v))
        return NULL;
    return jval_string(v, &name, NULL) ? strdup(name) : NULL;
}

static int
take_head(const struct told *t, struct err *err)
{
    struct json *doc = json_parse(t->payload, t->len, JSON_STRICT, NULL);
    struct report *r = t->reading->report;

    (void)err;
    if (doc != NULL && r->tuner == NULL) {
        r->tuner = plugin_name(json_root(doc), "tuner");
        r->assessor = plugin_name(json_root(doc), "assessor");
    }
    json_free(doc);
    return 0;
}

/* ---- suggestions ---- */

static void
suggested_free(struct suggested *s)
{
    if (s == NULL)
        return;
    free(s->parameters);
    free(s->from_id);
    free(s);
}

static struct suggested *
read_suggestion(struct jval root)
{
    struct suggested *s = calloc(1, sizeof *s);
    const char *from = NULL;
    struct jval v;

    if (s == NULL)
        return NULL;
    if (jval_get(root, "parameters", &v))
        s->parameters = jval_copy_text(v);
    if (jval_get(root, "resume_from", &v) && jval_string(v, &from, NULL))
        s->from_id = strdup(from);
    s->cloned = strcmp(jval_text_of(root, "resume_how"), "cloned") == 0;
    if (s->parameters != NULL && (from == NULL || s->from_id != NULL))
        return s;
    suggested_free(s);
    return NULL;
}

static int
take_suggestion(const struct told *t, struct err *err)
{
    struct json *doc = json_parse(t->payload, t->len, JSON_STRICT, NULL);
    struct map *all = &t->reading->suggested;
    struct suggested *s = NULL;
    char *id = NULL;
    struct jval v;
    int rc = 0;

    if (doc != NULL && jval_get(json_root(doc), "parameter_id", &v)) {
        id = jval_copy_text(v);
        s = id == NULL ? NULL : read_suggestion(json_root(doc));
        if (s != NULL)
            suggested_free(map_remove(all, id, strlen(id)));
        if (s == NULL || map_put(all, id, strlen(id), s) != 0) {
            suggested_free(s);
            rc = out_of_memory(err);
        }
    }
    free(id);
    json_free(doc);
    return rc;
}

/* Gives the trial what was suggested for it. */
static int
give(struct reading *r, struct report_trial *trial, struct jval note,
     struct err *err)
{
    struct suggested *s;
    struct jval v;

    if (trial->parameter_id != NULL || !jval_get(note, "parameter_id", &v))
        return 0;
    trial->parameter_id = jval_copy_text(v);
    if (trial->parameter_id == NULL)
        return out_of_memory(err);
    s = map_remove(&r->suggested, trial->parameter_id,
                   strlen(trial->parameter_id));
    if (s == NULL)
        return 0; /* the user's own */
    free(trial->parameters);
    free(trial->from_id);
    trial->parameters = s->parameters;
    trial->from_id = s->from_id;
    trial->cloned = s->cloned;
    free(s);
    return 0;
}

/* ---- attempts ---- */

static size_t
device_of(struct reading *r, const char *name)
{
    struct columns *all = &r->report->devices;
    uintptr_t i;

    if (name[0] == '\0')
        return REPORT_NONE;
    i = (uintptr_t)map_get(&r->devices, name, strlen(name));
    if (i != 0)
        return i - 1;
    if (columns_add(all, name, NULL) != 0 ||
        map_put(&r->devices, name, strlen(name), (void *)(uintptr_t)all->n) !=
            0)
        return REPORT_NONE;
    return all->n - 1;
}

static struct report_attempt *
add_attempt(struct report *r)
{
    if (r->n_attempts == r->cap_attempts) {
        size_t cap = r->cap_attempts == 0 ? 64 : 2 * r->cap_attempts;
        struct report_attempt *all = realloc(r->attempts, cap * sizeof *all);

        if (all == NULL)
            return NULL;
        r->attempts = all;
        r->cap_attempts = cap;
    }
    return &r->attempts[r->n_attempts++];
}

static int
attempt_began(const struct told *t, struct report_trial *trial,
              struct jval note, uint64_t number, struct err *err)
{
    struct report *r = t->reading->report;
    struct report_attempt *a;
    size_t index = (size_t)(trial - r->trials);

    if (trial->attempts > number)
        return 0; /* it was told when its preparation began, or is adopted */
    a = add_attempt(r);
    if (a == NULL)
        return out_of_memory(err);
    *a = (struct report_attempt){
        .trial = index,
        .number = number,
        .from_us = t->record->time_us,
        .device = device_of(t->reading, jval_text_of(note, "device"))};
    trial->attempts = number + 1;
    if (trial->started_us == 0)
        trial->started_us = t->record->time_us;
    return give(t->reading, trial, note, err);
}

/* The newest ones are the last. */
static struct report_attempt *
find_attempt(struct report *r, size_t trial, uint64_t number)
{
    for (size_t i = r->n_attempts; i > 0; i--)
        if (r->attempts[i - 1].trial == trial &&
            r->attempts[i - 1].number == number)
            return &r->attempts[i - 1];
    return NULL;
}

static int
attempt_started(const struct told *t, struct report_trial *trial,
                struct jval note, uint64_t number, struct err *err)
{
    struct report *r = t->reading->report;
    struct report_attempt *a =
        find_attempt(r, (size_t)(trial - r->trials), number);

    if (a != NULL) /* it was prepared; the devices are granted now */
        a->device = device_of(t->reading, jval_text_of(note, "device"));
    return attempt_began(t, trial, note, number, err);
}

static int
attempt_exited(const struct told *t, struct report_trial *trial,
               struct jval note, uint64_t number, struct err *err)
{
    struct report *r = t->reading->report;
    struct report_attempt *a =
        find_attempt(r, (size_t)(trial - r->trials), number);

    (void)note;
    (void)err;
    if (a != NULL && a->to_us == 0)
        a->to_us = t->record->time_us;
    return 0;
}

static int
take_note(const struct told *t, struct err *err)
{
    static const struct {
        const char *event;
        int (*take)(const struct told *t, struct report_trial *trial,
                    struct jval note, uint64_t number, struct err *err);
    } takers[] = {{"preparing", attempt_began},
                  {"started", attempt_started},
                  {"exited", attempt_exited}};
    struct json *doc = json_parse(t->payload, t->len, JSON_STRICT, NULL);
    const char *event, *id;
    struct report_trial *trial;
    uint64_t number = 0;
    struct jval v;
    int rc = 0;

    if (doc == NULL)
        return 0;
    event = jval_text_of(json_root(doc), "event");
    id = jval_text_of(json_root(doc), "trial_job_id");
    if (jval_get(json_root(doc), "attempt", &v))
        jval_uint(v, &number);
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strcmp(takers[i].event, event) == 0 && id[0] != '\0') {
            trial = reading_trial(t->reading, id);
            rc = trial == NULL
                     ? out_of_memory(err)
                     : takers[i].take(t, trial, json_root(doc), number, err);
        }
    json_free(doc);
    return rc;
}

/* ---- results ---- */

static int
add_metric(const struct told *t, const struct metric *m, struct err *err)
{
    struct report_trial *trial = reading_trial(t->reading, m->job);
    double value = m->has_value ? m->value : (double)NAN;

    if (trial == NULL)
        return out_of_memory(err);
    trial->base = m->base;
    trial->reports++;
    trial->latest = value;
    trial->has_latest = m->has_value;
    return curve_add(&trial->curve, m->base + m->sequence, value) == 0
               ? 0
               : out_of_memory(err);
}

static int
take_metric(const struct told *t, struct err *err)
{
    const struct frame frame = {
        .code = "ME", .payload = t->payload, .len = t->len};
    struct command *cmd = command_decode(&frame, t->record->number, NULL);
    int rc = 0;

    if (cmd != NULL && cmd->metric.type == METRIC_PERIODICAL)
        rc = add_metric(t, &cmd->metric, err);
    command_free(cmd);
    return rc;
}

static int
take_end(const struct told *t, struct err *err)
{
    struct json *doc = json_parse(t->payload, t->len, JSON_STRICT, NULL);
    const char *id =
        doc == NULL ? "" : jval_text_of(json_root(doc), "trial_job_id");
    struct report_trial *trial =
        id[0] == '\0' ? NULL : reading_trial(t->reading, id);

    (void)err;
    if (trial != NULL)
        trial->ended_us = t->record->time_us;
    json_free(doc);
    return 0;
}

/* ---- which is which ---- */

static const struct {
    enum record_kind kind;
    const char *code; /* NULL: it has none */
    int (*take)(const struct told *t, struct err *err);
} takers[] = {
    {RECORD_HEAD, NULL, take_head},        {RECORD_IN, "ME", take_metric},
    {RECORD_IN, "NT", take_note},          {RECORD_IN, "EN", take_end},
    {RECORD_TUNER, "TR", take_suggestion},
};

static int
take_record(struct reading *reading, const struct record *r, struct err *err)
{
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        size_t skip = takers[i].code == NULL ? 0 : CODE_SIZE;
        const struct told told = {reading, r, r->payload + skip, r->len - skip};

        if (r->kind == takers[i].kind && r->len >= skip &&
            (skip == 0 || memcmp(r->payload, takers[i].code, skip) == 0))
            return takers[i].take(&told, err);
    }
    return 0;
}

/* A tail that is cut off is not there yet. */
static int
walk(struct reading *reading, struct log_reader *log, struct err *err)
{
    enum log_status status;
    struct record r;

    while ((status = log_next(log, &r, err)) == LOG_RECORD)
        if (take_record(reading, &r, err) != 0)
            return -1;
    return status == LOG_DAMAGED ? -1 : 0;
}

int
reading_log(struct reading *r, struct err *err)
{
    struct log_reader *log = log_open_in(r->folder, 0, err);
    struct suggested *left;
    size_t at = 0;
    int rc;

    r->report->lacks = log != NULL && log_lacks(log, NULL);
    rc = log == NULL ? -1 : walk(r, log, err);
    log_close(log);
    while ((left = map_next(&r->suggested, &at)) != NULL)
        suggested_free(left);
    map_fini(&r->suggested);
    return rc;
}
