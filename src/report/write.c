/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "core/buf.h"
#include "core/number.h"
#include "json.h"
#include "manager/checkpoints.h"
#include "manager/results.h"
#include "objectives/objectives.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_writer write_object(struct json_writer *w, const char *key);
static struct json_writer write_list(struct json_writer *w, const char *key);
static void write_value(struct buf *out, double value);
static void write_moment(struct buf *out, const struct report *r, int64_t us);
static void write_names(struct json_writer *w, const char *key,
                        const struct columns *names);

/* ---- texts that come often are numbered ---- */

struct words {
    struct columns all;
    struct map numbers; /* text -> index, from 1 */
};

/* The number of a text, which is new or not; REPORT_NONE: there is no text, or
 * no memory. */
static size_t
number_of(struct words *w, const char *text)
{
    uintptr_t i;

    if (text == NULL || text[0] == '\0')
        return REPORT_NONE;
    i = (uintptr_t)map_get(&w->numbers, text, strlen(text));
    if (i != 0)
        return i - 1;
    if (columns_add(&w->all, text, NULL) != 0 ||
        map_put(&w->numbers, text, strlen(text), (void *)(uintptr_t)w->all.n) !=
            0)
        return REPORT_NONE;
    return w->all.n - 1;
}

static void
write_words(struct json_writer *w, const struct report *r, const char *key,
            const char *words_key, size_t member)
{
    struct json_writer list = write_list(w, key);
    struct words words = {0};

    for (size_t i = 0; i < r->n_trials; i++) {
        const char *const *text =
            (const void *)((const char *)&r->trials[i] + member);
        size_t number = number_of(&words, *text);

        json_add_unsigned_if(&list, NULL, number != REPORT_NONE, number);
    }
    json_close(&list);
    write_names(w, words_key, &words.all);
    map_fini(&words.numbers);
    columns_fini(&words.all);
}

/* ---- the trials' columns ---- */

typedef void write_one(struct buf *out, const struct report *r,
                       const struct report_trial *t);

static void
write_id(struct buf *out, const struct report *r, const struct report_trial *t)
{
    (void)r;
    json_write_text(out, t->id);
}

static void
write_parameter_id(struct buf *out, const struct report *r,
                   const struct report_trial *t)
{
    (void)r;
    buf_add_text(out, t->parameter_id == NULL ? "null" : t->parameter_id);
}

static void
write_number_if(struct buf *out, bool there, double value)
{
    if (there)
        write_value(out, value);
    else
        buf_add_text(out, "null");
}

static void
write_final(struct buf *out, const struct report *r,
            const struct report_trial *t)
{
    (void)r;
    write_number_if(out, t->has_value, t->value);
}

static void
write_latest(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    write_number_if(out, t->has_latest, t->latest);
}

static void
write_counts(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    buf_add_char(out, t->counts ? '1' : '0');
}

static void
write_budget(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    write_number_if(out, !isnan(t->budget), t->budget);
}

static void
write_from(struct buf *out, const struct report *r,
           const struct report_trial *t)
{
    (void)r;
    if (t->from == REPORT_NONE)
        buf_add_text(out, "null");
    else
        buf_printf(out, "%zu", t->from);
}

static void
write_cloned(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    buf_add_char(out, t->cloned ? '1' : '0');
}

static void
write_started(struct buf *out, const struct report *r,
              const struct report_trial *t)
{
    write_moment(out, r, t->started_us);
}

static void
write_ended(struct buf *out, const struct report *r,
            const struct report_trial *t)
{
    write_moment(out, r, t->ended_us);
}

static void
write_duration(struct buf *out, const struct report *r,
               const struct report_trial *t)
{
    (void)r;
    write_number_if(out, !isnan(t->duration_s), t->duration_s);
}

static void
write_queued(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    write_number_if(out, !isnan(t->queued_s), t->queued_s);
}

static void
write_reports(struct buf *out, const struct report *r,
              const struct report_trial *t)
{
    (void)r;
    buf_printf(out, "%" PRIu64, t->reports);
}

/* Writes how many attempts were begun; 0 where the log tells of the end alone,
 * and is whole. */
static void
write_attempt_count(struct buf *out, const struct report *r,
                    const struct report_trial *t)
{
    if (t->attempts == 0 && (t->ended_us == 0 || r->lacks))
        buf_add_text(out, "null");
    else
        buf_printf(out, "%" PRIu64, t->attempts);
}

static void
write_base(struct buf *out, const struct report *r,
           const struct report_trial *t)
{
    (void)r;
    buf_printf(out, "%" PRIu64, t->base);
}

static const struct {
    const char *key;
    write_one *write;
} columns[] = {
    {"id", write_id},
    {"parameter_id", write_parameter_id},
    {"value", write_final},
    {"latest", write_latest},
    {"counts", write_counts},
    {"budget", write_budget},
    {"from", write_from},
    {"cloned", write_cloned},
    {"started", write_started},
    {"ended", write_ended},
    {"duration", write_duration},
    {"reports", write_reports},
    {"attempts", write_attempt_count},
    {"base", write_base},
};
#define N_COLUMNS (sizeof columns / sizeof *columns)

static void
write_column(struct json_writer *w, const struct report *r, const char *key,
             write_one *write)
{
    struct json_writer list = write_list(w, key);

    for (size_t i = 0; i < r->n_trials; i++)
        write(json_value(&list, NULL), r, &r->trials[i]);
    json_close(&list);
}

/* "trials": a column for each of what is known of a trial. */
static void
write_trials(struct json_writer *all, const struct report *r)
{
    struct json_writer w = write_object(all, "trials");

    buf_add_char(w.out, '\n');
    json_separate(&w, ",\n", ":");
    write_words(&w, r, "status", "statuses",
                offsetof(struct report_trial, status));
    write_words(&w, r, "why", "whys", offsetof(struct report_trial, why));
    write_words(&w, r, "ended_by", "enders",
                offsetof(struct report_trial, ended_by));
    for (size_t c = 0; c < N_COLUMNS; c++)
        write_column(&w, r, columns[c].key, columns[c].write);
    if (r->elsewhere) {
        write_words(&w, r, "place", "places",
                    offsetof(struct report_trial, place));
        write_column(&w, r, "queued", write_queued);
    }
    json_close(&w);
}

/* ---- the write ---- */

/* Beyond so many cells their numbers are shortened, so that a page stays some
 * MB long.  POINTS_ALL: the points that all curves may have together. */
#define CELLS_EXACT 200000
#define CELL_DIGITS 7
#define POINTS_ALL 240000
#define POINTS_MIN 3
#define POINTS_MAX 256
#define POINT_DIGITS 6

/* Begins a member whose value has no blanks inside. */
static struct json_writer
begin_dense(struct json_writer *w, const char *key)
{
    struct json_writer inner = json_begin(json_value(w, key));

    json_separate(&inner, ",", ":");
    return inner;
}

static struct json_writer
write_object(struct json_writer *w, const char *key)
{
    struct json_writer object = begin_dense(w, key);

    json_open_object(&object, NULL);
    return object;
}

static struct json_writer
write_list(struct json_writer *w, const char *key)
{
    struct json_writer list = begin_dense(w, key);

    json_open_array(&list, NULL);
    return list;
}

static void
write_word(struct buf *out, double value)
{
    buf_add_text(out, isnan(value) ? "\"NaN\""
                      : value > 0  ? "\"Infinity\""
                                   : "\"-Infinity\"");
}

/* Writes a number; what JSON cannot say becomes a text: "NaN", "Infinity",
 * "-Infinity". */
static void
write_value(struct buf *out, double value)
{
    char text[NUMBER_TEXT_MAX];
    size_t len;

    if (!isfinite(value)) {
        write_word(out, value);
        return;
    }
    len = number_format(value, text);
    if (len > 2 && strcmp(text + len - 2, ".0") == 0)
        text[len - 2] = '\0';
    buf_add_text(out, text);
}

/* Writes a number with so many significant digits. */
static void
write_short(struct buf *out, double value, int digits)
{
    char text[NUMBER_TEXT_MAX];
    double back;

    if (!isfinite(value)) {
        write_word(out, value);
        return;
    }
    /* Rounded in decimal, then in the shortest spelling. */
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    for (char *c = text; *c != '\0'; c++)
        if (*c == ',')
            *c = '.';
    write_value(out, number_parse(text, strlen(text), &back) ? back : value);
}

/* Writes seconds since the experiment began, to the millisecond; null for 0. */
static void
write_moment(struct buf *out, const struct report *r, int64_t us)
{
    if (us == 0)
        buf_add_text(out, "null");
    else
        write_value(out, (double)((us - r->began_us) / 1000) / 1000);
}

static void
write_names(struct json_writer *w, const char *key, const struct columns *names)
{
    struct json_writer list = write_list(w, key);

    for (size_t i = 0; i < names->n; i++)
        json_add_text(&list, NULL, names->names[i]);
    json_close(&list);
}

/* ---- the experiment ---- */

static const char *
state_name(enum results_state state)
{
    switch (state) {
    case RESULTS_RUNNING:
        return "running";
    case RESULTS_ENDED:
        return "ended";
    case RESULTS_DIED:
        return "died";
    case RESULTS_QUEUED:
        return "queued";
    case RESULTS_FORKED:
        return "forked";
    }
    return "";
}

static void
write_experiment(struct json_writer *all, const struct report *r)
{
    const struct results *x = r->results;
    const struct {
        const char *key, *text;
    } texts[] = {{"id", x->id},
                 {"name", r->name},
                 {"folder", x->folder},
                 {"config", x->config},
                 {"state", state_name(x->state)},
                 {"reason", x->reason},
                 {"optimize_mode", x->minimize ? "minimize" : "maximize"},
                 {"tuner", r->tuner},
                 {"assessor", r->assessor}};

    struct json_writer w = json_begin_object(json_value(all, "experiment"));
    char seed[24];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_add_text(&w, texts[i].key, texts[i].text);
    snprintf(seed, sizeof seed, "%" PRIu64, x->seed);
    json_add_text(&w, "seed", seed);
    json_add_unsigned(&w, "concurrency", r->concurrency);
    json_add_unsigned(&w, "max_trials", x->max_trials);
    json_add_integer(&w, "began_us", r->began_us);
    json_add_integer(&w, "read_us", r->read_us);
    json_add_bool(&w, "over", x->over);
    json_add_bool(&w, "paused", x->paused);
    json_add_bool(&w, "log_lacks", r->lacks);
    if (r->left_out > 0) {
        json_add_unsigned(&w, "left_out", r->left_out);
        json_add_unsigned_if(&w, "page", r->page > 0, r->page);
        json_add_unsigned(&w, "pages", r->pages);
        json_add_unsigned_if(&w, "every", r->every > 0, r->every);
    }
    json_add_number(&w, "duration_s",
                    x->state == RESULTS_ENDED ? x->duration_s : (double)NAN);
    json_close(&w);
}

static void
write_shares(struct json_writer *list, const struct report *r,
             const struct importance_score *scores)
{
    for (size_t i = 0; i < r->n_parameters; i++)
        if (isnan(scores[i].share))
            json_add_text(list, NULL, NULL);
        else
            write_short(json_value(list, NULL), scores[i].share, POINT_DIGITS);
}

static size_t
index_of(const struct report *r, const char *id)
{
    for (size_t i = 0; i < r->n_trials; i++)
        if (strcmp(r->trials[i].id, id) == 0)
            return i;
    return REPORT_NONE;
}

static void
write_best(struct json_writer *all, const struct report *r)
{
    const struct result *best = results_best(r->results);
    size_t trial = best == NULL ? REPORT_NONE : index_of(r, best->trial);
    struct json_writer w;
    double value, budget = results_best_budget(r->results);
    char *checkpoint;

    if (trial == REPORT_NONE || !results_value(best, &value)) {
        json_add_text(all, "best", NULL);
        return;
    }
    w = write_object(all, "best");
    json_add_unsigned(&w, "trial", trial);
    write_value(json_value(&w, "value"), value);
    if (budget > 0)
        json_add_number(&w, "budget", budget);
    json_add_raw(&w, "parameters", best->parameters);
    checkpoint = checkpoints_kept(r->results->folder, best->trial);
    if (checkpoint != NULL)
        json_add_text(&w, "checkpoint", checkpoint);
    free(checkpoint);
    json_close(&w);
}

/* ---- objectives ---- */

static const struct report_metric *
metric_named(const struct report *r, const char *name)
{
    for (size_t i = 0; i < r->n_metrics; i++)
        if (strcmp(r->metrics[i].name, name) == 0)
            return &r->metrics[i];
    return NULL;
}

/* How far the values of a trial are beyond the limits; NaN: it has not all. */
static double
violation_of(const struct report *r, size_t trial)
{
    const struct objectives *of = r->results->objectives;
    double values[OBJECTIVES_VALUES_MAX];

    for (size_t i = 0; i < of->n_values; i++) {
        const struct report_metric *m = metric_named(r, of->names[i]);

        values[i] = strcmp(of->names[i], "default") == 0
                        ? r->trials[trial].value
                    : m != NULL ? m->cells[trial]
                                : (double)NAN;
        if (isnan(values[i]))
            return (double)NAN;
    }
    return objectives_violation(of, values);
}

static void
write_front(struct json_writer *w, const struct report *r)
{
    const struct pareto *front = &r->results->front;
    size_t *order = pareto_order(front), knee = pareto_knee(front), trial;
    struct json_writer list = write_list(w, "front");

    for (size_t i = 0; order != NULL && i < front->n; i++) {
        trial = index_of(r, front->points[order[i]].trial);
        if (trial != REPORT_NONE)
            json_add_unsigned(&list, NULL, trial);
    }
    json_close(&list);
    free(order);
    trial = knee == PARETO_NONE ? REPORT_NONE
                                : index_of(r, front->points[knee].trial);
    json_add_unsigned_if(w, "knee", trial != REPORT_NONE, trial);
}

static void
write_growth(struct json_writer *w, const struct report *r)
{
    struct json_writer list = write_list(w, "growth");

    for (size_t i = 0; i < r->n_growth; i++) {
        json_open_array(&list, NULL);
        json_add_unsigned(&list, NULL, r->growth[i].results);
        if (isnan(r->growth[i].volume))
            json_add_text(&list, NULL, NULL);
        else
            write_short(json_value(&list, NULL), r->growth[i].volume,
                        POINT_DIGITS);
        json_close(&list);
    }
    json_close(&list);
    json_add_unsigned(w, "results", r->results_seen);
}

static void
write_violations(struct json_writer *w, const struct report *r)
{
    struct json_writer list = write_list(w, "violation");

    for (size_t i = 0; i < r->n_trials; i++) {
        double violation = violation_of(r, i);

        if (isnan(violation))
            json_add_text(&list, NULL, NULL);
        else
            write_short(json_value(&list, NULL), violation, POINT_DIGITS);
    }
    json_close(&list);
}

/* "objectives": what results are judged by, where that is not one number. */
static void
write_objectives(struct json_writer *all, const struct report *r)
{
    const struct objectives *of = r->results->objectives;
    struct json_writer w, list;

    if (of == NULL)
        return;
    w = write_object(all, "objectives");
    list = write_list(&w, "items");
    for (size_t i = 0; i < of->n; i++) {
        json_open_object(&list, NULL);
        json_add_text(&list, "name", of->items[i].name);
        json_add_text(&list, "direction",
                      of->items[i].maximize ? "maximize" : "minimize");
        json_add_number(&list, "reference", of->items[i].reference);
        json_add_number(&list, "goal", of->items[i].goal);
        json_close(&list);
    }
    json_close(&list);
    list = write_list(&w, "limits");
    for (size_t i = 0; i < of->n_limits; i++)
        json_add_text(&list, NULL, of->limits[i].text);
    json_close(&list);
    write_front(&w, r);
    if (r->growth != NULL)
        write_growth(&w, r);
    if (of->n_limits > 0)
        write_violations(&w, r);
    list = write_list(&w, "shares");
    for (size_t i = 1; i < of->n; i++) {
        json_open_array(&list, NULL);
        write_shares(&list, r, &r->importances[(i - 1) * r->n_parameters]);
        json_close(&list);
    }
    json_close(&list);
    json_close(&w);
}

/* ---- parameters ---- */

static const char *const scale_names[] = {
    [SCALE_LINEAR] = "linear",
    [SCALE_LOG] = "log",
    [SCALE_CHOICE] = "choice",
    [SCALE_TEXT] = "text",
};

static void
write_cells(struct json_writer *w, const struct report *r, const double *cells,
            bool indexes)
{
    bool exact = indexes ||
                 r->n_trials * (r->n_parameters + r->n_metrics) <= CELLS_EXACT;
    struct json_writer list = write_list(w, "cells");

    for (size_t i = 0; i < r->n_trials; i++)
        if (isnan(cells[i]))
            json_add_text(&list, NULL, NULL);
        else if (exact)
            write_value(json_value(&list, NULL), cells[i]);
        else
            write_short(json_value(&list, NULL), cells[i], CELL_DIGITS);
    json_close(&list);
}

static void
write_parameters(struct json_writer *all, const struct report *r)
{
    struct json_writer list = write_list(all, "parameters"), w;

    for (size_t i = 0; i < r->n_parameters; i++) {
        const struct report_parameter *p = &r->parameters[i];

        buf_add_char(json_value(&list, NULL), '\n');
        w = json_begin_object(list.out);
        json_add_text(&w, "name", p->name);
        json_add_text(&w, "scale", scale_names[p->scale]);
        json_add_number(&w, "low", p->low);
        json_add_number(&w, "high", p->high);
        json_separate(&w, ", ", ":");
        json_add_bool(&w, "searched", p->searched);
        json_separate(&w, ",", ":");
        write_names(&w, "values", &p->values);
        write_cells(&w, r, p->cells,
                    p->scale == SCALE_CHOICE || p->scale == SCALE_TEXT);
        json_close(&w);
    }
    json_close(&list);
}

static void
write_metrics(struct json_writer *all, const struct report *r)
{
    struct json_writer list = write_list(all, "metrics"), w;

    for (size_t i = 0; i < r->n_metrics; i++) {
        buf_add_char(json_value(&list, NULL), '\n');
        w = json_begin_object(list.out);
        json_add_text(&w, "name", r->metrics[i].name);
        write_cells(&w, r, r->metrics[i].cells, false);
        json_close(&w);
    }
    json_close(&list);
}

static void
write_importance(struct json_writer *all, const struct report *r)
{
    struct json_writer w = write_object(all, "importance"), list;

    json_add_unsigned(&w, "trials", r->importance_trials);
    json_separate(&w, ",", ": ");
    json_add_number(&w, "budget", r->importance_budget);
    json_separate(&w, ", ", ":");
    list = write_list(&w, "share");
    write_shares(&list, r, r->importance);
    json_close(&list);
    json_close(&w);
}

/* ---- what was reported ---- */

static size_t
points_of_each(const struct report *r)
{
    size_t each = r->n_trials == 0 ? POINTS_MAX : POINTS_ALL / r->n_trials;

    return each < POINTS_MIN   ? POINTS_MIN
           : each > POINTS_MAX ? POINTS_MAX
                               : each;
}

static void
write_curve(struct json_writer *w, const struct curve *c, size_t max)
{
    struct curve_point points[POINTS_MAX];
    size_t n = curve_thinned(c, max, points);

    json_open_array(w, NULL);
    json_open_array(w, NULL);
    for (size_t i = 0; i < n; i++)
        json_add_unsigned(w, NULL, points[i].step);
    json_close(w);
    json_open_array(w, NULL);
    for (size_t i = 0; i < n; i++)
        write_short(json_value(w, NULL), points[i].value, POINT_DIGITS);
    json_close(w);
    json_close(w);
}

static void
write_curves(struct json_writer *all, const struct report *r)
{
    struct json_writer list = write_list(all, "curves");
    size_t each = points_of_each(r);

    for (size_t i = 0; i < r->n_trials; i++)
        if (r->trials[i].curve.seen == 0)
            json_add_text(&list, NULL, NULL);
        else
            write_curve(&list, &r->trials[i].curve, each);
    json_close(&list);
}

/* ---- when ---- */

static void
write_attempts(struct json_writer *all, const struct report *r)
{
    struct json_writer list = write_list(all, "attempts");

    for (size_t i = 0; i < r->n_attempts; i++) {
        const struct report_attempt *a = &r->attempts[i];

        json_open_array(&list, NULL);
        json_add_unsigned(&list, NULL, a->trial);
        json_add_unsigned(&list, NULL, a->number);
        write_moment(json_value(&list, NULL), r, a->from_us);
        write_moment(json_value(&list, NULL), r, a->to_us);
        json_add_unsigned_if(&list, NULL, a->device != REPORT_NONE, a->device);
        json_close(&list);
    }
    json_close(&list);
    write_names(all, "devices", &r->devices);
}

/* Writes the gaps of an experiment that was resumed. */
static void
write_gaps(struct json_writer *all, const struct report *r)
{
    struct json_writer list;

    if (r->n_gaps == 0)
        return;
    list = write_list(all, "gaps");
    for (size_t i = 0; i < r->n_gaps; i++) {
        json_open_array(&list, NULL);
        write_moment(json_value(&list, NULL), r, r->gaps[i].from_us);
        write_moment(json_value(&list, NULL), r, r->gaps[i].to_us);
        json_close(&list);
    }
    json_close(&list);
}

void
report_write_json(const struct report *r, struct buf *out)
{
    struct json_writer w = json_begin_object(out);

    json_separate(&w, ",\n", ":");
    json_add_unsigned(&w, "version", 1);
    write_experiment(&w, r);
    write_best(&w, r);
    write_trials(&w, r);
    write_parameters(&w, r);
    write_metrics(&w, r);
    write_importance(&w, r);
    write_objectives(&w, r);
    write_curves(&w, r);
    write_attempts(&w, r);
    write_gaps(&w, r);
    json_close(&w);
    buf_add_char(out, '\n');
}
