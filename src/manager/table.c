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
    size_t room;
};

static struct layout
lay_out(FILE *out, const struct result *const *items, size_t n)
{
    struct layout l = {.room = PARAMETERS_SHOWN};
    int columns = INT_MAX;

    for (size_t i = 0; i < n; i++) {
        l.origins = l.origins || items[i]->from[0] != '\0';
        l.budgets = l.budgets || items[i]->budget > 0;
    }
    if (isatty(fileno(out)))
        columns = display_columns(fileno(out)) - ROW_HEAD - 3 /* "..." */ -
                  (l.origins ? ORIGIN_COLUMN : 0) -
                  (l.budgets ? BUDGET_COLUMN : 0);
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
    visible_printf(out, "  %-6s ", item->trial);
    if (l->origins)
        visible_printf(out, "%-6s ", item->from[0] != '\0' ? item->from : "-");
    if (l->budgets)
        visible_printf(out, "%6s ", budget);
    visible_printf(out, "%12s %9.1fs  %-13s", value, item->duration_s,
                   item->status);
    print_parameters(out, item, l);
}

void
table_print_rows(FILE *out, const struct result *const *items, size_t n)
{
    struct layout l = lay_out(out, items, n);

    if (n == 0)
        return;
    visible_printf(out, "  %-6s %s%s%12s %10s  %-13s %s\n", "trial",
                   l.origins ? "from   " : "", l.budgets ? "budget " : "",
                   "value", "time", "status", "parameters");
    for (size_t i = 0; i < n; i++)
        print_row(out, items[i], &l);
    fputc('\n', out);
}

static void
print_best_rows(FILE *out, const struct results *r)
{
    const struct result *ranked[RESULTS_BEST];

    table_print_rows(out, ranked, results_ranked(r, ranked, RESULTS_BEST));
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
    table_print_rows(out, items, r->n);
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
    print_best(out, r);
    (all ? print_all_rows : print_best_rows)(out, r);
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
    json_add_number(&w, "latest", item->has_latest ? item->latest : none);
    json_add_number(&w, "duration_s", item->duration_s);
    json_add_number(&w, "prepare_s",
                    item->has_prepare ? item->prepare_s : none);
    json_add_unsigned(&w, "intermediates", item->intermediates);
    json_add_raw(&w, "parameters", item->parameters);
    json_close(&w);
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
    if (json_open_object_if(&w, "best", best != NULL)) {
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
