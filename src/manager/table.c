/* SPDX-License-Identifier: MIT */
#include "manager/table.h"

#include "config/overrides.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/map.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
#include "manager/checkpoints.h"
#include "manager/goals.h"
#include "manager/parameters.h"
#include "manager/results.h"
#include "manager/display.h"
#include "manager/trial.h"
#include "space/space.h"
#include "trial/files.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARAMETERS_SHOWN 160
#define PARAMETERS_LEAST 8 /* on a narrow terminal */
#define ROW_HEAD 48        /* columns before the parameters */
#define ORIGIN_COLUMN 7
#define BUDGET_COLUMN 7
#define VALUE_COLUMN 13
#define COLUMNS_MAX 24 /* of values */
#define JSON_MAX ((size_t)1 << 30)

struct lines {
    FILE *out;
    size_t width;
};

static void
widen(void *ctx, const char *name, const char *value, size_t len)
{
    struct lines *l = ctx;

    (void)value;
    (void)len;
    if (strlen(name) > l->width)
        l->width = strlen(name);
}

static void
print_parameter(void *ctx, const char *name, const char *value, size_t len)
{
    const struct lines *l = ctx;
    struct buf text;

    buf_init(&text, JSON_MAX);
    visible_text(&text, name, strlen(name), strlen(name));
    for (size_t i = strlen(name); i < l->width + 2; i++)
        buf_add_char(&text, ' ');
    visible_text(&text, value, len, 5 * PARAMETERS_SHOWN);
    visible_printf(l->out, "  %s\n", buf_text(&text));
    buf_fini(&text);
}

/* The parameters as the trial got them. */
static struct json *
given(const struct results *r, const struct result *item)
{
    struct json *doc = json_parse(item->parameters, strlen(item->parameters),
                                  JSON_STRICT, NULL);
    struct space *space = results_space(r->folder);
    struct json *out;

    if (doc == NULL || space == NULL) {
        space_free(space);
        return doc;
    }
    out = parameters_given(space, json_root(doc), NULL);
    json_free(doc);
    space_free(space);
    return out;
}

/* Prints where the state is that the trial has saved, if it is kept. */
static void
print_checkpoint(FILE *out, const struct results *r, const struct result *item)
{
    char *path = checkpoints_kept(r->folder, item->trial);

    if (path != NULL)
        visible_printf(out, "checkpoint: %s\n", path);
    free(path);
}

static void
print_best(FILE *out, const struct results *r)
{
    const struct result *best = results_best(r);
    struct lines lines = {out, 0};
    struct json *doc;
    double value, budget = results_best_budget(r);

    if (best == NULL) {
        fputs("no trial has a final result\n\n", out);
        return;
    }
    results_value(best, &value);
    visible_printf(out, "best %.10g, trial %s", value, best->trial);
    if (budget > 0)
        visible_printf(out, " of those with budget %.4g", budget);
    visible_printf(out, " (%s, as %s says)\n",
                   r->minimize ? "minimize" : "maximize", r->mode_from);
    doc = given(r, best);
    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT) {
        parameters_flatten(json_root(doc), widen, &lines, NULL);
        parameters_flatten(json_root(doc), print_parameter, &lines, NULL);
    } else if (doc != NULL) {
        visible_printf(out, "  %s\n", best->parameters);
    }
    json_free(doc);
    print_checkpoint(out, r, best);
    fputc('\n', out);
}

/* Which columns the rows need beside those that all tables have, and how many
 * bytes of parameters they have room for: on a terminal a row is one line. */
struct layout {
    bool origins, budgets;
    /* Values by name: in place of the value, with objectives, else behind it.
     */
    char *names[COLUMNS_MAX];
    size_t n_names;
    bool several;     /* there are objectives */
    const char *knee; /* the trial; NULL: none is one */
    size_t room;
};

static void
add_column(struct layout *l, const char *name)
{
    for (size_t i = 0; i < l->n_names; i++)
        if (strcmp(l->names[i], name) == 0)
            return;
    if (l->n_names < COLUMNS_MAX &&
        (l->names[l->n_names] = strdup(name)) != NULL)
        l->n_names++;
}

/* Adds a column for each value that a trial has reported. */
static void
add_columns(struct layout *l, const struct result *item)
{
    struct json *doc =
        strcmp(item->values, "null") == 0
            ? NULL
            : json_parse(item->values, strlen(item->values), JSON_STRICT, NULL);
    struct jval_iter it;

    if (doc == NULL)
        return;
    it = jval_iter(json_root(doc));
    while (jval_next(&it))
        add_column(l, it.key);
    json_free(doc);
}

static struct layout
lay_out(FILE *out, const struct results *r, const struct result *const *items,
        size_t n)
{
    struct layout l = {.room = PARAMETERS_SHOWN};
    int columns = INT_MAX;

    if (r != NULL && r->objectives != NULL) {
        size_t knee = pareto_knee(&r->front);

        l.several = true;
        l.knee = knee == PARETO_NONE ? NULL : r->front.points[knee].trial;
        for (size_t i = 0; i < r->objectives->n_values; i++)
            add_column(&l, r->objectives->names[i]);
    }
    for (size_t i = 0; i < n; i++) {
        l.origins = l.origins || items[i]->from[0] != '\0';
        l.budgets = l.budgets || items[i]->budget > 0;
        add_columns(&l, items[i]);
    }
    if (isatty(fileno(out)))
        columns = display_columns(fileno(out)) - ROW_HEAD - 3 /* "..." */ -
                  (l.origins ? ORIGIN_COLUMN : 0) -
                  (l.budgets ? BUDGET_COLUMN : 0) -
                  VALUE_COLUMN * ((int)l.n_names - l.several);
    if (columns < PARAMETERS_SHOWN)
        l.room =
            columns < PARAMETERS_LEAST ? PARAMETERS_LEAST : (size_t)columns;
    return l;
}

/* Prints the parameters, without the budget where it has a column. */
static void
print_parameters(FILE *out, const struct result *item, const struct layout *l)
{
    struct json *doc = json_parse(item->parameters, strlen(item->parameters),
                                  JSON_STRICT, NULL);
    struct buf parameters, shown;

    buf_init(&parameters, JSON_MAX);
    buf_init(&shown, JSON_MAX);
    if (doc != NULL)
        display_parameters(&parameters, json_root(doc),
                           l->budgets ? TRIAL_BUDGET_PARAMETER : NULL,
                           PARAMETERS_SHOWN + 1);
    visible_text(&shown, buf_text(&parameters), parameters.len, l->room);
    visible_printf(out, " %s\n", buf_text(&shown));
    buf_fini(&shown);
    buf_fini(&parameters);
    json_free(doc);
}

/* Prints the values by name; those of a trial without a final result stand in
 * brackets. */
static void
print_values(FILE *out, const struct result *item, const struct layout *l)
{
    struct json *doc =
        json_parse(item->values, strlen(item->values), JSON_STRICT, NULL);
    double final;
    bool is_final = results_final(item, &final);
    struct jval v;
    double value;

    for (size_t i = 0; i < l->n_names; i++) {
        char text[32] = "-";

        if (doc != NULL && jval_get(json_root(doc), l->names[i], &v) &&
            jval_number(v, &value))
            snprintf(text, sizeof text, is_final ? "%.6g" : "(%.6g)", value);
        visible_printf(out, "%12s ", text);
    }
    json_free(doc);
}

static void
print_row(FILE *out, const struct result *item, const struct layout *l)
{
    char value[32] = "-", budget[32] = "-";
    double final;

    if (results_final(item, &final))
        snprintf(value, sizeof value, "%.6g", final);
    else if (item->has_latest)
        snprintf(value, sizeof value, "(%.6g)", item->latest);
    if (item->budget > 0)
        snprintf(budget, sizeof budget, "%.4g", item->budget);
    visible_printf(out, "  %-6s%c", item->trial,
                   l->knee != NULL && strcmp(l->knee, item->trial) == 0 ? '*'
                                                                        : ' ');
    if (l->origins)
        visible_printf(out, "%-6s ", item->from[0] != '\0' ? item->from : "-");
    if (l->budgets)
        visible_printf(out, "%6s ", budget);
    if (!l->several)
        visible_printf(out, "%12s ", value);
    print_values(out, item, l);
    visible_printf(out, "%9.1fs  %-13s", item->duration_s, item->status);
    print_parameters(out, item, l);
}

void
table_print_rows(FILE *out, const struct results *r,
                 const struct result *const *items, size_t n)
{
    struct layout l = lay_out(out, r, items, n);
    struct buf name;

    if (n > 0) {
        visible_printf(out, "  %-6s %s%s", "trial", l.origins ? "from   " : "",
                       l.budgets ? "budget " : "");
        if (!l.several)
            visible_printf(out, "%12s ", "value");
        buf_init(&name, 4 * VALUE_COLUMN + 8);
        for (size_t i = 0; i < l.n_names; i++) {
            buf_clear(&name);
            visible_text(&name, l.names[i], strlen(l.names[i]),
                         VALUE_COLUMN - 1);
            visible_printf(out, "%12s ", buf_text(&name));
        }
        buf_fini(&name);
        visible_printf(out, "%10s  %-13s %s\n", "time", "status", "parameters");
    }
    for (size_t i = 0; i < n; i++)
        print_row(out, items[i], &l);
    if (n > 0)
        fputc('\n', out);
    while (l.n_names > 0)
        free(l.names[--l.n_names]);
}

static void
print_best_rows(FILE *out, const struct results *r)
{
    const struct result *ranked[RESULTS_BEST];

    table_print_rows(out, r, ranked, results_ranked(r, ranked, RESULTS_BEST));
}

void
table_print_objectives(FILE *out, const struct objectives *of)
{
    for (size_t i = 0; i < of->n; i++)
        visible_printf(out, "%s%s: %s", i > 0 ? ", " : "", of->items[i].name,
                       of->items[i].maximize ? "maximize" : "minimize");
    for (size_t i = 0; i < of->n_limits; i++)
        visible_printf(out, "; %s", of->limits[i].text);
}

static void
print_growth(FILE *out, const struct pareto *p)
{
    double volume = pareto_hypervolume(p);

    if (!pareto_has_references(p->of))
        return;
    if (isnan(volume))
        fputs("hypervolume not computed of so many", out);
    else
        visible_printf(out, "hypervolume %.6g", volume);
    if (p->grew > 0)
        visible_printf(out, ", grew last by trial %s, %" PRIu64 " result%s ago",
                       p->grew_by, pareto_since(p),
                       pareto_since(p) == 1 ? "" : "s");
    fputc('\n', out);
}

/* Prints the front: the trials that no other one dominates. */
static void
print_front(FILE *out, const struct results *r)
{
    const struct pareto *p = &r->front;
    const struct result **items = calloc(p->n + 1, sizeof *items);
    size_t n = items != NULL ? results_ranked(r, items, p->n) : 0;
    bool beyond = n > 0 && p->points[0].v.violation > 0;

    if (n == 0) {
        fputs("no trial has a final result\n\n", out);
        free(items);
        return;
    }
    visible_printf(out, "front of %zu, of %" PRIu64 " results", n, p->seen);
    if (p->budget > 0)
        visible_printf(out, ", of those with budget %.4g", p->budget);
    fputs(" (", out);
    table_print_objectives(out, p->of);
    fputs(beyond ? ", which none is within)\n" : ")\n", out);
    print_growth(out, p);
    if (pareto_knee(p) != PARETO_NONE)
        fputs("* the knee, farthest from the line between the extremes\n", out);
    fputc('\n', out);
    table_print_rows(out, r, items, n);
    free(items);
}

/* Prints a row for each trial, the best first. */
static void
print_all_rows(FILE *out, const struct results *r)
{
    const struct result **items = calloc(r->n + 1, sizeof *items);

    if (items == NULL)
        return;
    for (size_t i = 0; i < r->n; i++)
        items[i] = &r->items[i];
    results_sort(r, items, r->n);
    table_print_rows(out, r, items, r->n);
    free(items);
}

static void
print_counts(FILE *out, const struct results *r)
{
    const char *separator = ": ";
    const size_t *n = r->n_ended;

    fprintf(out, "trials: %zu ended", r->n - n[TRIAL_INTERRUPTED]);
    for (int state = TRIAL_SUCCEEDED; state < TRIAL_STATES; state++) {
        if (n[state] == 0)
            continue;
        fprintf(out, "%s%zu %s", state == TRIAL_INTERRUPTED ? "; " : separator,
                n[state], trial_state_name((enum trial_state)state));
        separator = ", ";
    }
    if (r->unended > 0)
        visible_printf(out, "; %zu %s", r->unended,
                       r->state == RESULTS_RUNNING ? "running"
                                                   : "without an end");
    fputc('\n', out);
}

/* Of a deterministic run, prints how many trials ended by what its seed does
 * not decide. */
static void
print_inputs(FILE *out, const struct results *r)
{
    const char *separator = "inputs: trials ended by ";

    if (!r->deterministic)
        return;
    for (size_t i = 0; i < RESULTS_INPUTS; i++) {
        if (r->n_by[i] == 0)
            continue;
        visible_printf(out, "%s%s: %zu", separator, results_inputs[i],
                       r->n_by[i]);
        separator = ", ";
    }
    if (separator[0] == ',')
        fputs("; no seed repeats these\n", out);
}

static void
print_state(FILE *out, const struct results *r)
{
    switch (r->state) {
    case RESULTS_RUNNING:
        visible_printf(out, "state:  %s\n",
                       r->paused
                           ? "paused: no trials are begun (tunepipe continue)"
                           : "running");
        break;
    case RESULTS_ENDED:
        visible_printf(out, "state:  %s (%.1f s)\n",
                       r->reason != NULL ? r->reason : "ended", r->duration_s);
        break;
    case RESULTS_DIED:
        fputs("state:  its manager died before the end\n", out);
        break;
    case RESULTS_QUEUED:
        visible_printf(out, "state:  %s\n", r->reason);
        break;
    case RESULTS_FORKED:
        fputs("state:  forked, not started\n", out);
        break;
    }
}

/* Prints that all trials were used up by the first budgets, as where
 * maxTrialNumber is small: none had the whole one. */
static void
print_unpromoted(FILE *out, const struct results *r)
{
    const size_t *n = r->n_ended;
    size_t ended = r->n - n[TRIAL_INTERRUPTED];

    if (!r->over || results_of_study(r->folder) || n[TRIAL_PAUSED] == 0 ||
        n[TRIAL_SUCCEEDED] > 0 || r->max_trials == 0 || ended < r->max_trials)
        return;
    visible_printf(out,
                   "budget: no trial was given all of it: %zu of %zu are "
                   "paused\n"
                   "go on:  tunepipe resume %s --max-trials %" PRIu64 "\n",
                   n[TRIAL_PAUSED], ended, r->folder, 2 * r->max_trials);
}

/* A trial's number, and one. */
static uintptr_t
place_of(const struct result *item)
{
    uint64_t number = 0;

    number_parse_u64(item->trial, strlen(item->trial), &number);
    return (uintptr_t)number + 1;
}

/* Parameters that failed -> place_of() the last trial that failed with them. */
static bool
note_failed(void *ctx, const struct result *item)
{
    struct map *failed = ctx;
    uintptr_t place = place_of(item);
    size_t len = strlen(item->parameters);

    if (trial_is_failure(trial_state_of(item->status)) &&
        (uintptr_t)map_get(failed, item->parameters, len) < place)
        map_put(failed, item->parameters, len, (void *)place);
    return true;
}

static bool
drop_repeated(void *ctx, const struct result *item)
{
    struct map *failed = ctx;
    size_t len = strlen(item->parameters);
    uintptr_t place = (uintptr_t)map_get(failed, item->parameters, len);

    if (place > 0 && place < place_of(item))
        map_remove(failed, item->parameters, len);
    return failed->count > 0;
}

/* Whether a trial has failed whose parameters no later one has had, as
 * repeat_failed() looks for. */
static bool
has_failed(const struct results *r)
{
    struct map failed = {0};
    size_t n = 0;
    bool found;

    for (int state = 0; state < TRIAL_STATES; state++)
        if (trial_is_failure((enum trial_state)state))
            n += r->n_ended[state];
    if (n > 0) {
        results_walk(r, note_failed, &failed, NULL);
        results_walk(r, drop_repeated, &failed, NULL);
    }
    found = failed.count > 0;
    map_fini(&failed);
    return found;
}

/* Whether it would refuse trials that are added, as custom_check_open() does.
 */
static bool
takes_no_more(const struct results *r)
{
    return r->deterministic ||
           (r->reason != NULL &&
            (goals_named(r->reason) ||
             strstr(r->reason, "maxExperimentDuration is over") != NULL));
}

/* Prints how those that failed run again, once what they lack is there. */
static void
print_retry(FILE *out, const struct results *r)
{
    if (takes_no_more(r) || !has_failed(r) ||
        (r->state != RESULTS_RUNNING && results_of_study(r->folder)))
        return;
    if (r->state == RESULTS_RUNNING)
        visible_printf(out, "retry:  tunepipe trial retry %s --failed\n",
                       r->folder);
    else
        visible_printf(out, "retry:  tunepipe resume %s --retry-failed\n",
                       r->folder);
}

/* Prints the options that stood in place of keys of the configuration. */
static void
print_overrides(FILE *out, const struct results *r)
{
    struct buf text;

    if (r->overrides == NULL)
        return;
    buf_init(&text, JSON_MAX);
    overrides_show(r->overrides, &text);
    visible_printf(out, "run:    %s\n", buf_text(&text));
    buf_fini(&text);
}

void
table_print(FILE *out, const struct results *r, bool all)
{
    fputc('\n', out);
    if (r->objectives == NULL)
        print_best(out, r);
    else if (!all || r->front.n == 0)
        print_front(out, r);
    if (all)
        print_all_rows(out, r);
    else if (r->objectives == NULL)
        print_best_rows(out, r);
    print_counts(out, r);
    print_inputs(out, r);
    print_state(out, r);
    if (r->damaged > 0)
        visible_printf(out, "        %zu lines of results.jsonl are damaged\n",
                       r->damaged);
    print_overrides(out, r);
    visible_printf(out, "seed:   %llu\n", (unsigned long long)r->seed);
    visible_printf(out, "folder: %s\n", r->folder);
    print_unpromoted(out, r);
    if (r->state != RESULTS_RUNNING && !r->over)
        visible_printf(out, "go on:  %s %s\n", results_resume(r->folder),
                       r->folder);
    print_retry(out, r);
    visible_printf(out, "again:  tunepipe show %s\n", r->folder);
}

void
table_write_json(struct buf *b, const struct result *item)
{
    const char *how = item->from_how;
    struct json_writer w = json_begin_object(b);
    const double none = (double)NAN;

    json_add_text(&w, "trial", item->trial);
    json_add_raw(&w, "parameter_id", item->parameter_id);
    json_add_unsigned(&w, "seed", item->seed);
    json_add_text(&w, "status", item->status);
    json_add_text(&w, "why", item->why);
    json_add_text(&w, "ended_by", item->ended_by);
    if (item->place[0] != '\0') {
        json_add_text(&w, "place", item->place);
        json_add_number(&w, "queued_s", item->queued_s);
    }
    json_add_text(&w, "from", item->from[0] != '\0' ? item->from : NULL);
    json_add_text(&w, "from_how", how[0] != '\0' ? how : NULL);
    json_add_number(&w, "value", item->has_value ? item->value : none);
    if (strcmp(item->values, "null") != 0)
        json_add_raw(&w, "values", item->values);
    if (item->has_violation)
        json_add_number(&w, "violation", item->violation);
    json_add_number(&w, "latest", item->has_latest ? item->latest : none);
    json_add_number(&w, "duration_s", item->duration_s);
    json_add_number(&w, "prepare_s",
                    item->has_prepare ? item->prepare_s : none);
    json_add_unsigned(&w, "intermediates", item->intermediates);
    json_add_raw(&w, "parameters", item->parameters);
    json_close(&w);
}

/* Adds what a point of the front was given, and where its state is. */
static void
add_point(void *ctx, const struct pareto_point *point, struct json_writer *w)
{
    const struct results *r = ctx;
    const struct result *item = point->of;
    char *checkpoint = checkpoints_kept(r->folder, item->trial);

    json_add_raw(w, "parameters", item->parameters);
    if (checkpoint != NULL)
        json_add_text(w, "checkpoint", checkpoint);
    free(checkpoint);
}

int
table_print_json(FILE *out, const struct results *r, struct err *err)
{
    const struct result *best = results_best(r);
    char *checkpoint =
        best == NULL ? NULL : checkpoints_kept(r->folder, best->trial);
    double value = (double)NAN, budget = results_best_budget(r);
    struct json_writer w;
    struct buf b;
    int rc;

    buf_init(&b, JSON_MAX);
    w = json_begin_object(&b);
    if (r->objectives != NULL) {
        pareto_write_best(&r->front, SIZE_MAX, add_point, (void *)r, &w);
        pareto_write_growth(&r->front, pareto_hypervolume(&r->front), &w);
    } else if (json_open_object_if(&w, "best", best != NULL)) {
        results_value(best, &value);
        json_add_text(&w, "trial", best->trial);
        json_add_number(&w, "value", value);
        if (budget > 0)
            json_add_number(&w, "budget", budget);
        json_add_raw(&w, "parameters", best->parameters);
        if (checkpoint != NULL)
            json_add_text(&w, "checkpoint", checkpoint);
        json_close(&w);
    }
    json_open_array(&w, "trials");
    for (size_t i = 0; i < r->n; i++)
        table_write_json(json_value(&w, NULL), &r->items[i]);
    json_end(&w);
    buf_add_char(&b, '\n');
    rc = buf_check(&b, "the results", err);
    if (rc == 0)
        fwrite(b.data, 1, b.len, out);
    free(checkpoint);
    buf_fini(&b);
    return rc;
}
