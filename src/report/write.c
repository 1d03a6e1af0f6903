/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "core/buf.h"
#include "core/number.h"
#include "json.h"
#include "manager/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_comma(struct buf *out, size_t i);
static void write_value(struct buf *out, double value);
static void write_moment(struct buf *out, const struct report *r, int64_t us);
static void write_names(struct buf *out, const char *key,
                        const struct columns *names);
static void write_trials(struct buf *out, const struct report *r);

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
write_words(struct buf *out, const struct report *r, const char *key,
            const char *words_key, size_t member)
{
    struct words w = {0};

    buf_printf(out, "\"%s\":[", key);
    for (size_t i = 0; i < r->n_trials; i++) {
        const char *const *text =
            (const void *)((const char *)&r->trials[i] + member);
        size_t number = number_of(&w, *text);

        write_comma(out, i);
        if (number == REPORT_NONE)
            buf_add_text(out, "null");
        else
            buf_printf(out, "%zu", number);
    }
    buf_add_text(out, "],\n");
    write_names(out, words_key, &w.all);
    buf_add_text(out, ",\n");
    map_fini(&w.numbers);
    columns_fini(&w.all);
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

/* "trials": a column for each of what is known of a trial. */
static void
write_trials(struct buf *out, const struct report *r)
{
    buf_add_text(out, "\"trials\":{\n");
    write_words(out, r, "status", "statuses",
                offsetof(struct report_trial, status));
    write_words(out, r, "why", "whys", offsetof(struct report_trial, why));
    write_words(out, r, "ended_by", "enders",
                offsetof(struct report_trial, ended_by));
    for (size_t c = 0; c < N_COLUMNS; c++) {
        buf_printf(out, "%s\"%s\":[", c > 0 ? ",\n" : "", columns[c].key);
        for (size_t i = 0; i < r->n_trials; i++) {
            write_comma(out, i);
            columns[c].write(out, r, &r->trials[i]);
        }
        buf_add_char(out, ']');
    }
    buf_add_text(out, "},\n");
}

/* ---- the write ---- */

/* Beyond so many cells their numbers are shortened, so that a page stays some
 * MB long.  POINTS_ALL: the points that all curves may have together. */
#define CELLS_EXACT 200000
#define CELL_DIGITS 7
#define POINTS_ALL 240000
#define POINTS_MIN 8
#define POINTS_MAX 256
#define POINT_DIGITS 6

/* Writes ", " unless it is the first; `i` counts from 0. */
static void
write_comma(struct buf *out, size_t i)
{
    if (i > 0)
        buf_add_char(out, ',');
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
write_names(struct buf *out, const char *key, const struct columns *names)
{
    buf_printf(out, "\"%s\":[", key);
    for (size_t i = 0; i < names->n; i++) {
        write_comma(out, i);
        json_write_text(out, names->names[i]);
    }
    buf_add_char(out, ']');
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
    }
    return "";
}

static void
write_experiment(struct buf *out, const struct report *r)
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

    buf_add_text(out, "\"experiment\":{");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_write_text_member(out, texts[i].key, texts[i].text);
    buf_printf(out,
               "\"seed\": \"%" PRIu64 "\", \"concurrency\": %" PRIu64
               ", \"max_trials\": %" PRIu64 ", \"began_us\": %" PRId64
               ", \"read_us\": %" PRId64 ", \"over\": %s, \"paused\": %s, "
               "\"log_lacks\": %s, \"duration_s\": ",
               x->seed, r->concurrency, r->max_trials, r->began_us, r->read_us,
               x->over ? "true" : "false", x->paused ? "true" : "false",
               r->lacks ? "true" : "false");
    json_write_number(out,
                      x->state == RESULTS_ENDED ? x->duration_s : (double)NAN);
    buf_add_text(out, "},\n");
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
write_best(struct buf *out, const struct report *r)
{
    const struct result *best = results_best(r->results);
    size_t trial = best == NULL ? REPORT_NONE : index_of(r, best->trial);
    double value;

    buf_add_text(out, "\"best\":");
    if (trial == REPORT_NONE || !results_value(best, &value)) {
        buf_add_text(out, "null,\n");
        return;
    }
    buf_printf(out, "{\"trial\":%zu,\"value\":", trial);
    write_value(out, value);
    buf_printf(out, ",\"parameters\":%s},\n", best->parameters);
}

/* ---- parameters ---- */

static const char *const scale_names[] = {
    [SCALE_LINEAR] = "linear",
    [SCALE_LOG] = "log",
    [SCALE_CHOICE] = "choice",
    [SCALE_TEXT] = "text",
};

static void
write_cells(struct buf *out, const struct report *r,
            const struct report_parameter *p)
{
    bool exact = p->scale == SCALE_CHOICE || p->scale == SCALE_TEXT ||
                 r->n_trials * r->n_parameters <= CELLS_EXACT;

    buf_add_text(out, "\"cells\":[");
    for (size_t i = 0; i < r->n_trials; i++) {
        write_comma(out, i);
        if (isnan(p->cells[i]))
            buf_add_text(out, "null");
        else if (exact)
            write_value(out, p->cells[i]);
        else
            write_short(out, p->cells[i], CELL_DIGITS);
    }
    buf_add_char(out, ']');
}

static void
write_parameters(struct buf *out, const struct report *r)
{
    buf_add_text(out, "\"parameters\":[");
    for (size_t i = 0; i < r->n_parameters; i++) {
        const struct report_parameter *p = &r->parameters[i];

        write_comma(out, i);
        buf_add_text(out, "\n{");
        json_write_text_member(out, "name", p->name);
        json_write_text_member(out, "scale", scale_names[p->scale]);
        json_write_number_member(out, "low", p->low);
        json_write_number_member(out, "high", p->high);
        buf_printf(out, "\"searched\":%s,", p->searched ? "true" : "false");
        write_names(out, "values", &p->values);
        buf_add_char(out, ',');
        write_cells(out, r, p);
        buf_add_char(out, '}');
    }
    buf_add_text(out, "],\n");
}

static void
write_importance(struct buf *out, const struct report *r)
{
    buf_printf(out, "\"importance\":{\"trials\":%zu,", r->importance_trials);
    json_write_number_member(out, "budget", r->importance_budget);
    buf_add_text(out, "\"share\":[");
    for (size_t i = 0; i < r->n_parameters; i++) {
        write_comma(out, i);
        if (isnan(r->importance[i].share))
            buf_add_text(out, "null");
        else
            write_short(out, r->importance[i].share, POINT_DIGITS);
    }
    buf_add_text(out, "]},\n");
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
write_curve(struct buf *out, const struct curve *c, size_t max)
{
    struct curve_point points[POINTS_MAX];
    size_t n = curve_thinned(c, max, points);

    buf_add_text(out, "[[");
    for (size_t i = 0; i < n; i++) {
        write_comma(out, i);
        buf_printf(out, "%" PRIu64, points[i].step);
    }
    buf_add_text(out, "],[");
    for (size_t i = 0; i < n; i++) {
        write_comma(out, i);
        write_short(out, points[i].value, POINT_DIGITS);
    }
    buf_add_text(out, "]]");
}

static void
write_curves(struct buf *out, const struct report *r)
{
    size_t each = points_of_each(r);

    buf_add_text(out, "\"curves\":[");
    for (size_t i = 0; i < r->n_trials; i++) {
        write_comma(out, i);
        if (r->trials[i].curve.seen == 0)
            buf_add_text(out, "null");
        else
            write_curve(out, &r->trials[i].curve, each);
    }
    buf_add_text(out, "],\n");
}

/* ---- when ---- */

static void
write_attempts(struct buf *out, const struct report *r)
{
    buf_add_text(out, "\"attempts\":[");
    for (size_t i = 0; i < r->n_attempts; i++) {
        const struct report_attempt *a = &r->attempts[i];

        write_comma(out, i);
        buf_printf(out, "[%zu,%" PRIu64 ",", a->trial, a->number);
        write_moment(out, r, a->from_us);
        buf_add_char(out, ',');
        write_moment(out, r, a->to_us);
        if (a->device == REPORT_NONE)
            buf_add_text(out, ",null]");
        else
            buf_printf(out, ",%zu]", a->device);
    }
    buf_add_text(out, "],\n");
    write_names(out, "devices", &r->devices);
}

/* Writes the gaps of an experiment that was resumed. */
static void
write_gaps(struct buf *out, const struct report *r)
{
    if (r->n_gaps == 0)
        return;
    buf_add_text(out, ",\n\"gaps\":[");
    for (size_t i = 0; i < r->n_gaps; i++) {
        write_comma(out, i);
        buf_add_char(out, '[');
        write_moment(out, r, r->gaps[i].from_us);
        buf_add_char(out, ',');
        write_moment(out, r, r->gaps[i].to_us);
        buf_add_char(out, ']');
    }
    buf_add_char(out, ']');
}

void
report_write_json(const struct report *r, struct buf *out)
{
    buf_add_text(out, "{\"version\":1,\n");
    write_experiment(out, r);
    write_best(out, r);
    write_trials(out, r);
    write_parameters(out, r);
    write_importance(out, r);
    write_curves(out, r);
    write_attempts(out, r);
    write_gaps(out, r);
    buf_add_text(out, "}\n");
}
