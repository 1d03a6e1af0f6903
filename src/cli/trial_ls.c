/* SPDX-License-Identifier: MIT */
#include "cli/trial_control.h"

#include "cli/target.h"
#include "cli/verb.h"

#include "control/client.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/visible.h"
#include "json.h"
#include "manager/display.h"
#include "manager/results.h"
#include "objectives/objectives.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES ((size_t)64 << 20)
#define TEXT_MAX 80
#define VALUE_WIDTH 12

/* A trial that has a result or lives; borrowed. */
struct row {
    const char *trial, *status, *why;
    const char *place; /* where it runs or ran; "": here */
    double queued_s;
    const char *from;              /* the trial it goes on from; "": none */
    bool has_value;                /* which may be NAN */
    double value, latest, seconds; /* NAN: none */
    const char *values;            /* by name, JSON text; NULL: none */
    const char *parameters;        /* JSON text, or */
    struct jval live;              /* what the manager tells of it */
};

struct rows {
    struct row *items;
    size_t n;
    const struct objectives *objectives; /* borrowed; NULL: one number */
};

static struct row
row_of_result(const struct result *r)
{
    double value = (double)NAN;
    bool has_value = results_final(r, &value);

    return (struct row){.trial = r->trial,
                        .status = r->status,
                        .why = r->why,
                        .place = r->place,
                        .queued_s = r->queued_s,
                        .from = r->from,
                        .has_value = has_value,
                        .value = has_value ? value : (double)NAN,
                        .latest = r->has_latest ? r->latest : (double)NAN,
                        .values =
                            strcmp(r->values, "null") != 0 ? r->values : NULL,
                        .seconds = r->duration_s,
                        .parameters = r->parameters};
}

static struct row
row_of_live(struct jval trial)
{
    return (struct row){.trial = jval_text_of(trial, "trial"),
                        .status = jval_text_of(trial, "status"),
                        .why = "",
                        .place = jval_text_of(trial, "place"),
                        .queued_s = jval_number_of(trial, "queued_s"),
                        .from = jval_text_of(trial, "from"),
                        .value = (double)NAN,
                        .latest = jval_number_of(trial, "latest"),
                        .seconds = jval_number_of(trial, "elapsed_s"),
                        .live = trial};
}

/* Orders by number; of two rows with the same number the result comes first,
 * which is newer: a trial with a result lives no more. */
static int
compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    unsigned long long nx = strtoull(x->trial, NULL, 10),
                       ny = strtoull(y->trial, NULL, 10);

    if (nx != ny)
        return nx < ny ? -1 : 1;
    return (x->parameters == NULL) - (y->parameters == NULL);
}

static int
gather(struct rows *rows, const struct results *r, const struct jval *account,
       struct err *err)
{
    size_t n_live = 0, kept = 0;
    struct jval live;

    if (account != NULL && jval_get(*account, "trials", &live))
        n_live = jval_count(live);
    rows->objectives = r->objectives;
    rows->items = calloc(r->n + n_live + 1, sizeof *rows->items);
    if (rows->items == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < r->n; i++)
        rows->items[rows->n++] = row_of_result(&r->items[i]);
    for (size_t i = 0; i < n_live; i++)
        rows->items[rows->n++] = row_of_live(jval_at(live, i));
    qsort(rows->items, rows->n, sizeof *rows->items, compare);
    for (size_t i = 0; i < rows->n; i++)
        if (kept == 0 ||
            strcmp(rows->items[kept - 1].trial, rows->items[i].trial) != 0)
            rows->items[kept++] = rows->items[i];
    rows->n = kept;
    return 0;
}

/* ---- print ---- */

static void
print_parameters(const struct row *row)
{
    struct json *doc = NULL;
    struct jval parameters = {0};
    struct buf text;
    bool known;

    buf_init(&text, LINE_MAX_BYTES);
    if (row->parameters != NULL) {
        doc = json_parse(row->parameters, strlen(row->parameters), JSON_STRICT,
                         NULL);
        known = doc != NULL;
        if (known)
            parameters = json_root(doc);
    } else {
        known = jval_get(row->live, "parameters", &parameters);
    }
    if (known)
        display_parameters(&text, parameters, NULL, DISPLAY_PARAMETERS_MAX);
    puts(buf_text(&text));
    json_free(doc);
    buf_fini(&text);
}

/* Prints one value, or in brackets one that is not final; NaN: there is none.
 */
static void
print_value(const struct row *row, bool is_there, double value)
{
    char text[40] = "-";

    if (is_there)
        snprintf(text, sizeof text, row->has_value ? "%.6g" : "(%.6g)", value);
    printf("%12s ", text);
}

/* Prints the values: one, or those of objectives and limits in their order.  Of
 * a trial that lives the first one is known. */
static void
print_values(const struct row *row, const struct objectives *of)
{
    struct json *doc =
        row->values == NULL
            ? NULL
            : json_parse(row->values, strlen(row->values), JSON_STRICT, NULL);
    double only = row->has_value ? row->value : row->latest, value;
    struct jval one;

    if (of == NULL || doc == NULL)
        print_value(row, row->has_value || !isnan(only), only);
    for (size_t i = doc == NULL; of != NULL && i < of->n_values; i++) {
        bool is_there = doc != NULL &&
                        jval_get(json_root(doc), of->names[i], &one) &&
                        jval_number(one, &value);

        print_value(row, is_there, is_there ? value : (double)NAN);
    }
    json_free(doc);
}

static void
print_row(const struct row *row, const struct objectives *of, bool origins)
{
    char seconds[40] = "-";
    struct buf status;

    if (!isnan(row->seconds))
        snprintf(seconds, sizeof seconds, "%.1f", row->seconds);
    buf_init(&status, 1000);
    visible_text(&status, row->status, strlen(row->status), TEXT_MAX);
    visible_printf(stdout, "%-8.20s ", row->trial);
    if (origins)
        visible_printf(stdout, "%-8.20s ",
                       row->from[0] != '\0' ? row->from : "-");
    printf("%-12s ", buf_text(&status));
    print_values(row, of);
    printf("%9s  ", seconds);
    buf_fini(&status);
    if (row->place[0] != '\0')
        visible_printf(stdout, "%s (queued %.1f s)  ", row->place,
                       row->queued_s);
    print_parameters(row);
}

static void
add_row(struct json_writer *w, const struct row *row)
{
    struct jval parameters;

    json_open_object(w, NULL);
    json_add_text(w, "trial", row->trial);
    json_add_text(w, "status", row->status);
    json_add_number(w, "value", row->value);
    json_add_number(w, "latest", row->latest);
    if (row->values != NULL)
        json_add_raw(w, "values", row->values);
    json_add_number(w, "duration_s", row->seconds);
    if (row->place[0] != '\0') {
        json_add_text(w, "place", row->place);
        json_add_number(w, "queued_s", row->queued_s);
    }
    json_add_text(w, "why", row->why);
    json_add_text(w, "from", row->from[0] != '\0' ? row->from : NULL);
    if (row->parameters == NULL &&
        jval_get(row->live, "parameters", &parameters))
        jval_write(parameters, json_value(w, "parameters"));
    else
        json_add_raw(w, "parameters", row->parameters);
    json_close(w);
}

static int
print_json(const struct rows *rows, struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    json_open_array(w, "trials");
    for (size_t i = 0; i < rows->n; i++)
        add_row(w, &rows->items[i]);
    return verb_json_print(&line, stdout, err);
}

/* Whether a column for the trials' origins is worth its room. */
static bool
has_origins(const struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->items[i].from[0] != '\0')
            return true;
    return false;
}

static void
print(const struct rows *rows)
{
    const struct objectives *of = rows->objectives;
    bool origins = has_origins(rows);
    struct buf name;

    printf("%-8s %s%-12s ", "TRIAL", origins ? "FROM     " : "", "STATUS");
    if (of == NULL)
        printf("%12s ", "VALUE");
    buf_init(&name, LINE_MAX_BYTES);
    for (size_t i = 0; of != NULL && i < of->n_values; i++) {
        buf_clear(&name);
        visible_text(&name, of->names[i], strlen(of->names[i]), VALUE_WIDTH);
        visible_printf(stdout, "%12s ", buf_text(&name));
    }
    buf_fini(&name);
    printf("%9s  %s\n", "SECONDS", "PARAMETERS");
    for (size_t i = 0; i < rows->n; i++)
        print_row(&rows->items[i], of, origins);
}

/* Lists the trials.  Those that live are asked for first: one that ends
 * meanwhile is then among the results. */
static int
list(const char *folder, bool json, struct err *err)
{
    struct jval account, *known = NULL;
    struct rows rows = {0};
    struct json *doc;
    struct results *r;
    int rc = -1;

    if (control_ask(folder, REQUEST_STATUS_ALL, &doc, &account, err) == 0)
        known = &account;
    else if (err->number == ETIMEDOUT)
        return -1;
    r = results_load(folder, RESULTS_ALL, err);
    if (r != NULL)
        rc = gather(&rows, r, known, err);
    if (rc == 0 && json)
        rc = print_json(&rows, err);
    else if (rc == 0)
        print(&rows);
    free(rows.items);
    results_free(r);
    json_free(doc);
    return rc;
}

int
trial_control_ls(int argc, char **argv, struct err *err)
{
    static const struct option options[] = {TRIAL_CONTROL_JSON};
    struct trial_control_words w = {0};
    char *folder;
    int rc;

    if (options_parse(options, 1, &w, &argc, argv, err) != 0)
        return -1;
    folder = target_of_words("trial ls", argc, argv, err);
    rc = folder == NULL ? -1 : list(folder, w.json, err);
    free(folder);
    return rc;
}
