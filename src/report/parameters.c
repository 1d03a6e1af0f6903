/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A parameter's column begins when the first trial has it.  It holds numbers
 * until a value comes that is none, or from the beginning texts where the
 * search space says it is a choice; texts are numbered as they come, behind
 * those that the search space names. */
#include "core/grow.h"
#include "report/state.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "json.h"
#include "manager/parameters.h"
#include "report/axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_NAME "TRIAL_BUDGET"
#define TEXT_MAX ((size_t)64 << 20)
#define CHOICES_MAX 100 /* different values that fit on an axis */

struct column {
    struct report_parameter p;
    struct map numbers; /* of values -> their index, from 1 */
};

struct columning {
    struct report *report;
    struct axes axes;
    struct column **all; /* owned */
    size_t n, cap;
    struct map by_name;
    struct report_trial *trial; /* in hand */
    struct buf text;
    bool failed; /* out of memory */
};

/* ---- values that are texts ---- */

/* SIZE_MAX: out of memory. */
static size_t
number_of(struct column *c, const char *text)
{
    struct columns *values = &c->p.values;
    uintptr_t i = (uintptr_t)map_get(&c->numbers, text, strlen(text));

    if (i != 0)
        return i - 1;
    if (columns_add(values, text, NULL) != 0 ||
        map_put(&c->numbers, text, strlen(text),
                (void *)(uintptr_t)values->n) != 0)
        return SIZE_MAX;
    return values->n - 1;
}

static void
put_text(struct columning *k, struct column *c, size_t trial, const char *text)
{
    size_t i = number_of(c, text);

    if (i == SIZE_MAX)
        k->failed = true;
    else
        c->p.cells[trial] = (double)i;
}

/* A value came that is no number. */
static void
become_choice(struct columning *k, struct column *c)
{
    char text[NUMBER_TEXT_MAX];

    c->p.scale = SCALE_CHOICE;
    for (size_t i = 0; i < k->report->n_trials; i++)
        if (!isnan(c->p.cells[i])) {
            number_format(c->p.cells[i], text);
            put_text(k, c, i, text);
        }
}

/* ---- columns ---- */

static void
column_free(struct column *c)
{
    if (c == NULL)
        return;
    map_fini(&c->numbers);
    columns_fini(&c->p.values);
    free(c->p.name);
    free(c->p.cells);
    free(c);
}

static struct column *
column_new(struct columning *k, const char *name)
{
    const struct axis *axis = axes_find(&k->axes, name);
    size_t n = k->report->n_trials;
    struct column *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->p.name = strdup(name);
    c->p.cells = calloc(n, sizeof *c->p.cells);
    c->p.low = axis == NULL ? (double)NAN : axis->low;
    c->p.high = axis == NULL ? (double)NAN : axis->high;
    c->p.scale = axis == NULL ? SCALE_LINEAR : axis->scale;
    c->p.searched = axis != NULL;
    if (c->p.name == NULL || c->p.cells == NULL) {
        column_free(c);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        c->p.cells[i] = (double)NAN;
    for (size_t i = 0; axis != NULL && i < axis->choices.n; i++)
        if (number_of(c, axis->choices.names[i]) == SIZE_MAX)
            k->failed = true;
    return c;
}

static struct column *
add_column(struct columning *k, const char *name)
{
    struct column *c;

    if (GROW(k->all, k->n, k->cap) != 0)
        return NULL;
    c = column_new(k, name);
    if (c == NULL || map_put(&k->by_name, name, strlen(name), c) != 0) {
        column_free(c);
        return NULL;
    }
    return k->all[k->n++] = c;
}

static void
put_value(void *ctx, const char *name, struct jval value)
{
    struct columning *k = ctx;
    size_t trial = (size_t)(k->trial - k->report->trials);
    struct column *c;
    const char *text;
    double number;
    bool numeric = jval_number(value, &number) && isfinite(number);

    if (strcmp(name, BUDGET_NAME) == 0 && numeric) {
        k->trial->budget = number;
        return;
    }
    c = map_get(&k->by_name, name, strlen(name));
    if (c == NULL)
        c = add_column(k, name);
    if (c == NULL) {
        k->failed = true;
        return;
    }
    if (!numeric && c->p.scale != SCALE_CHOICE)
        become_choice(k, c);
    if (c->p.scale != SCALE_CHOICE) {
        c->p.cells[trial] = number;
        return;
    }
    buf_clear(&k->text);
    if (!jval_string(value, &text, NULL)) {
        jval_write(value, &k->text);
        text = buf_text(&k->text);
    }
    put_text(k, c, trial, text);
}

/* ---- all of them ---- */

static int
read_trial(struct columning *k, struct report_trial *t, struct err *err)
{
    struct json *doc =
        t->parameters == NULL
            ? NULL
            : json_parse(t->parameters, strlen(t->parameters), JSON_NAN, NULL);
    int rc = 0;

    k->trial = t;
    if (doc != NULL)
        rc = parameters_walk(json_root(doc), put_value, k, err);
    json_free(doc);
    return k->failed ? err_set(err, ERR_MEMORY, "out of memory") : rc;
}

/* A logarithm needs values above 0. */
static void
settle_scale(const struct report *r, struct report_parameter *p)
{
    if (p->scale == SCALE_CHOICE && p->values.n > CHOICES_MAX)
        p->scale = SCALE_TEXT;
    for (size_t i = 0; i < r->n_trials && p->scale == SCALE_LOG; i++)
        if (p->cells[i] <= 0)
            p->scale = SCALE_LINEAR;
    if (p->scale == SCALE_LOG && p->low <= 0)
        p->low = (double)NAN;
}

/* In the order of the search space; the columns are given to the report. */
static int
settle(struct columning *k, const char *folder, struct err *err)
{
    struct report *r = k->report;
    struct columns names = {0};
    int rc = 0;

    r->parameters = calloc(k->n + 1, sizeof *r->parameters);
    for (size_t i = 0; rc == 0 && i < k->n; i++)
        rc = columns_add(&names, k->all[i]->p.name, err);
    if (rc == 0 && r->parameters == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    if (rc == 0)
        rc = columns_sort(&names, folder, err);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct column *c =
            map_get(&k->by_name, names.names[i], strlen(names.names[i]));

        settle_scale(r, &c->p);
        r->parameters[r->n_parameters++] = c->p;
        c->p = (struct report_parameter){0};
    }
    columns_fini(&names);
    return rc;
}

/* Where the search space names none, as for batches, all were searched. */
static void
settle_searched(struct report *r)
{
    bool any = false;

    for (size_t i = 0; i < r->n_parameters; i++)
        any = any || r->parameters[i].searched;
    for (size_t i = 0; i < r->n_parameters && !any; i++)
        r->parameters[i].searched = true;
}

int
reading_parameters(struct reading *r, struct err *err)
{
    struct columning k = {.report = r->report};
    int rc = axes_load(&k.axes, r->folder, err);

    buf_init(&k.text, TEXT_MAX);
    for (size_t i = 0; rc == 0 && i < r->report->n_trials; i++)
        rc = read_trial(&k, &r->report->trials[i], err);
    if (rc == 0)
        rc = settle(&k, r->folder, err);
    if (rc == 0)
        settle_searched(r->report);
    for (size_t i = 0; i < k.n; i++)
        column_free(k.all[i]);
    free(k.all);
    map_fini(&k.by_name);
    axes_fini(&k.axes);
    buf_fini(&k.text);
    return rc;
}
