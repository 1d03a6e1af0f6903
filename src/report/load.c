/* SPDX-License-Identifier: MIT */
#include "core/grow.h"
#include "report/state.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "history/folder.h"
#include "history/history.h"
#include "json.h"
#include "manager/results.h"
#include "log/record.h"
#include "trial/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART_MAX ((size_t)64 << 20)

static int
out_of_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

/* ---- trials ---- */

static struct report_trial *
append_trial(struct report *r, const char *id)
{
    if (GROW(r->trials, r->n_trials, r->cap_trials) != 0)
        return NULL;
    r->trials[r->n_trials] = (struct report_trial){
        .id = strdup(id),
        .from = REPORT_NONE,
        .budget = (double)NAN,
        .duration_s = (double)NAN,
    };
    return r->trials[r->n_trials].id == NULL ? NULL : &r->trials[r->n_trials++];
}

/* The trial with this id, which is made where there is none; NULL: out of
 * memory.  Valid until the next one is made. */
static struct report_trial *
trial_of(struct reading *r, const char *id)
{
    uintptr_t i = (uintptr_t)map_get(&r->trials, id, strlen(id));
    struct report_trial *t;

    if (i != 0)
        return &r->report->trials[i - 1];
    t = append_trial(r->report, id);
    if (t == NULL || map_put(&r->trials, id, strlen(id),
                             (void *)(uintptr_t)r->report->n_trials) != 0)
        return NULL;
    return t;
}

static void
trial_fini(struct report_trial *t)
{
    free(t->id);
    free(t->parameter_id);
    free(t->status);
    free(t->why);
    free(t->ended_by);
    free(t->parameters);
    free(t->from_id);
    curve_fini(&t->curve);
}

/* ---- what the log tells ---- */

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

static void
add_head(struct report *r, const struct record *record)
{
    struct json *doc =
        json_parse(record->payload, record->len, JSON_STRICT, NULL);

    if (doc != NULL && r->tuner == NULL) {
        r->tuner = plugin_name(json_root(doc), "tuner");
        r->assessor = plugin_name(json_root(doc), "assessor");
    }
    json_free(doc);
}

/* Gives the trial what was suggested for it; of the user's own its files tell.
 */
static int
add_suggestion(struct report_trial *to, const struct history_suggestion *s)
{
    if (to->parameter_id != NULL || s->id == NULL)
        return 0;
    to->parameter_id = strdup(s->id);
    to->cloned = s->cloned;
    if (s->parameters != NULL)
        to->parameters = strdup(s->parameters);
    if (s->from != NULL)
        to->from_id = strdup(s->from);
    return to->parameter_id != NULL &&
                   (s->parameters == NULL || to->parameters != NULL) &&
                   (s->from == NULL || to->from_id != NULL)
               ? 0
               : -1;
}

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

/* The newest ones are the last; NULL: it is not there. */
static struct report_attempt *
find_attempt(struct report *r, size_t trial, uint64_t number)
{
    for (size_t i = r->n_attempts; i > 0; i--)
        if (r->attempts[i - 1].trial == trial &&
            r->attempts[i - 1].number == number)
            return &r->attempts[i - 1];
    return NULL;
}

static struct report_attempt *
append_attempt(struct report *r)
{
    if (GROW(r->attempts, r->n_attempts, r->cap_attempts) != 0)
        return NULL;
    return &r->attempts[r->n_attempts++];
}

/* Its devices are granted, or granted anew, when its run starts. */
static int
add_attempt(struct reading *r, struct report_trial *to,
            const struct history_fact *f)
{
    size_t trial = (size_t)(to - r->report->trials);
    struct report_attempt *a =
        find_attempt(r->report, trial, f->attempt.number);

    if (a == NULL) {
        a = append_attempt(r->report);
        if (a == NULL)
            return -1;
        *a = (struct report_attempt){.trial = trial,
                                     .number = f->attempt.number,
                                     .from_us = f->attempt.begun_us};
    }
    a->device = device_of(r, jval_text_of(f->object, "device"));
    if (to->started_us == 0)
        to->started_us = a->from_us;
    return 0;
}

static void
add_exit(struct report *r, struct report_trial *to,
         const struct history_fact *f)
{
    struct report_attempt *a =
        find_attempt(r, (size_t)(to - r->trials), f->attempt.number);

    if (a == NULL)
        return;
    a->to_us = f->time_us;
    if (!f->dated)
        return;
    if (to->started_us == a->from_us)
        to->started_us = f->attempt.begun_us;
    a->from_us = f->attempt.begun_us;
}

static int
add_metric(struct report_trial *to, const struct history_metric *m)
{
    double value = m->n_values > 0 ? m->values[0].value : (double)NAN;

    if (m->final || m->standing != HISTORY_COUNTS)
        return 0;
    return curve_add(&to->curve, m->base + m->sequence, value);
}

static int
add_gap(struct report *r, const struct history_fact *f)
{
    if (grow_to(&r->gaps, r->n_gaps + 1, sizeof *r->gaps) != 0)
        return -1;
    r->gaps[r->n_gaps++] = (struct report_gap){f->gone_us, f->time_us};
    return 0;
}

static int
add_fact(struct reading *r, const struct history_fact *f)
{
    struct report_trial *to;
    int rc = 0;

    if (f->kind == HISTORY_RECORD && f->record->kind == RECORD_HEAD)
        add_head(r->report, f->record);
    if (f->kind == HISTORY_RESUMED)
        return add_gap(r->report, f);
    if (f->trial == NULL ||
        (f->kind == HISTORY_NOTE && f->trial->attempts == 0))
        return 0;
    to = trial_of(r, f->job);
    if (to == NULL)
        return -1;
    if (f->kind == HISTORY_BEGUN)
        rc = add_attempt(r, to, f);
    if (f->kind == HISTORY_REPORTED)
        rc = add_metric(to, &f->metric);
    if (f->kind == HISTORY_EXITED)
        add_exit(r->report, to, f);
    if (f->kind == HISTORY_ENDED)
        to->ended_us = f->time_us;
    to->attempts = f->trial->attempts;
    to->reports = f->trial->reports;
    to->base = f->trial->base;
    to->has_latest = f->trial->has_latest;
    to->latest = f->trial->latest;
    return rc != 0 ? rc : add_suggestion(to, &f->trial->suggested);
}

static int
read_history(struct reading *r, struct err *err)
{
    struct history_reader *h = history_open(r->folder, err);
    bool runs = r->report->results->state == RESULTS_RUNNING;
    struct history_fact fact;
    int rc = h == NULL ? -1 : 0;

    while (rc == 0 && (rc = history_next(h, &fact, err)) == 1)
        rc = add_fact(r, &fact) != 0 ? out_of_memory(err) : 0;
    while (rc == 0 && !runs && history_settle(h, &fact) == 1)
        rc = add_fact(r, &fact) != 0 ? out_of_memory(err) : 0;
    r->report->lacks = h != NULL && history_lacks(h);
    history_close(h);
    return rc;
}

/* ---- how they ended ---- */

/* *to becomes a copy. */
static int
set_text(char **to, const char *text)
{
    free(*to);
    *to = strdup(text);
    return *to == NULL ? -1 : 0;
}

static int
add_result(struct reading *r, const struct result *item, struct err *err)
{
    struct report_trial *t = trial_of(r, item->trial);

    if (t == NULL || set_text(&t->status, item->status) != 0 ||
        set_text(&t->why, item->why) != 0 ||
        set_text(&t->ended_by, item->ended_by) != 0 ||
        set_text(&t->parameter_id, item->parameter_id) != 0 ||
        set_text(&t->parameters, item->parameters) != 0)
        return out_of_memory(err);
    t->has_value = item->has_value;
    t->value = item->value;
    t->has_latest = item->has_latest;
    t->latest = item->latest;
    t->counts = results_counts(item);
    t->duration_s = item->duration_s;
    t->reports = item->intermediates;
    return 0;
}

static int
add_results(struct reading *r, struct err *err)
{
    const struct results *all = r->report->results;

    for (size_t i = 0; i < all->n; i++)
        if (add_result(r, &all->items[i], err) != 0)
            return -1;
    return 0;
}

/* ---- those that have not ended ---- */

/* FOLDER/trials/ID/parameters.json, where the log does not tell. */
static char *
read_parameters(const char *folder, const char *id)
{
    char *trials = file_join(folder, FOLDER_TRIALS), *trial, *path;
    struct buf text;
    char *all = NULL;

    trial = trials == NULL ? NULL : file_join(trials, id);
    path = trial == NULL ? NULL : file_join(trial, TRIAL_PARAMETERS_JSON);
    buf_init(&text, 2 * PART_MAX);
    if (path != NULL && file_read_plain(path, PART_MAX, &text, NULL) == 0)
        all = buf_take(&text);
    buf_fini(&text);
    free(path);
    free(trial);
    free(trials);
    return all;
}

static int
complete(struct reading *r, struct err *err)
{
    struct report *all = r->report;

    for (size_t i = 0; i < all->n_trials; i++) {
        struct report_trial *t = &all->trials[i];
        const char *from = t->from_id;
        uintptr_t at;

        if (t->status == NULL && set_text(&t->status, "running") != 0)
            return out_of_memory(err);
        if (t->parameters == NULL)
            t->parameters = read_parameters(r->folder, t->id);
        at = from == NULL ? 0
                          : (uintptr_t)map_get(&r->trials, from, strlen(from));
        t->from = at == 0 || at - 1 == i ? REPORT_NONE : at - 1;
    }
    return 0;
}

/* ---- the experiment ---- */

static struct json *
read_part(const char *folder, const char *name, struct err *err)
{
    char *path = file_join(folder, name);
    struct json *doc = NULL;
    struct buf text;

    buf_init(&text, 2 * PART_MAX);
    if (path == NULL)
        out_of_memory(err);
    else if (file_read(path, PART_MAX, &text, err) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, err);
    buf_fini(&text);
    free(path);
    return doc;
}

static int
read_experiment(struct reading *r, struct err *err)
{
    struct json *doc = read_part(r->folder, FOLDER_EXPERIMENT, err);
    int64_t began_ns = 0;
    struct jval v;

    if (doc == NULL)
        return err_place(err, "%s", r->folder);
    r->report->name = strdup(jval_text_of(json_root(doc), "name"));
    if (jval_get(json_root(doc), "concurrency", &v))
        jval_uint(v, &r->report->concurrency);
    if (jval_get(json_root(doc), "max_trials", &v))
        jval_uint(v, &r->report->max_trials);
    if (jval_get(json_root(doc), "started_ns", &v))
        jval_int(v, &began_ns);
    r->report->began_us = began_ns / 1000;
    r->report->read_us = clock_realtime_ns() / 1000;
    json_free(doc);
    return r->report->name == NULL ? out_of_memory(err) : 0;
}

static int
read_all(struct reading *r, struct err *err)
{
    r->report->results = results_load(r->folder, err);
    if (r->report->results == NULL) {
        err->code = ERR_CONFIG;
        return -1;
    }
    if (read_experiment(r, err) != 0 || read_history(r, err) != 0 ||
        add_results(r, err) != 0 || complete(r, err) != 0 ||
        reading_parameters(r, err) != 0)
        return -1;
    return reading_importance(r, err);
}

struct report *
report_load(const char *folder, struct err *err)
{
    struct reading r = {.report = calloc(1, sizeof *r.report),
                        .folder = folder};
    int rc = r.report == NULL ? out_of_memory(err) : read_all(&r, err);

    map_fini(&r.trials);
    map_fini(&r.devices);
    if (rc == 0)
        return r.report;
    report_free(r.report);
    return NULL;
}

void
report_free(struct report *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->n_trials; i++)
        trial_fini(&r->trials[i]);
    for (size_t i = 0; i < r->n_parameters; i++) {
        free(r->parameters[i].name);
        columns_fini(&r->parameters[i].values);
        free(r->parameters[i].cells);
    }
    columns_fini(&r->devices);
    results_free(r->results);
    free(r->trials);
    free(r->attempts);
    free(r->gaps);
    free(r->parameters);
    free(r->importance);
    free(r->name);
    free(r->tuner);
    free(r->assessor);
    free(r);
}
