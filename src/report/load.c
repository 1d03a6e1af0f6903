/* SPDX-License-Identifier: MIT */
#include "report/state.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "json.h"
#include "manager/experiment_folder.h"
#include "manager/results.h"
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
    if (r->n_trials == r->cap_trials) {
        size_t cap = r->cap_trials == 0 ? 64 : 2 * r->cap_trials;
        struct report_trial *all = realloc(r->trials, cap * sizeof *all);

        if (all == NULL)
            return NULL;
        r->trials = all;
        r->cap_trials = cap;
    }
    r->trials[r->n_trials] = (struct report_trial){
        .id = strdup(id),
        .from = REPORT_NONE,
        .budget = (double)NAN,
        .duration_s = (double)NAN,
    };
    return r->trials[r->n_trials].id == NULL ? NULL : &r->trials[r->n_trials++];
}

struct report_trial *
reading_trial(struct reading *r, const char *id)
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
    struct report_trial *t = reading_trial(r, item->trial);

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
    if (read_experiment(r, err) != 0 || reading_log(r, err) != 0 ||
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
    free(r->parameters);
    free(r->importance);
    free(r->name);
    free(r->tuner);
    free(r->assessor);
    free(r);
}
