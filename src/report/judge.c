/* SPDX-License-Identifier: MIT */
#include "report/state.h"

#include "core/err.h"
#include "manager/results.h"
#include "numerics/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Results with different budgets are not compared: those of the greatest
 * budget that so many trials have count, as in BOHB (Falkner 2018). */
#define ENOUGH 20

struct ranked {
    double reached; /* steps: the further the better; INFINITY: the end */
    double value;   /* the less the better */
    size_t trial;
};

static int
compare(const void *va, const void *vb)
{
    const struct ranked *a = va, *b = vb;

    if (a->reached != b->reached)
        return a->reached > b->reached ? -1 : 1;
    if (a->value != b->value && !isnan(a->value) && !isnan(b->value))
        return a->value < b->value ? -1 : 1;
    if (isnan(a->value) != isnan(b->value))
        return isnan(a->value) ? 1 : -1;
    return (a->trial > b->trial) - (a->trial < b->trial);
}

static bool
is(const struct report_trial *t, const char *status)
{
    return strcmp(t->status, status) == 0;
}

/* One that was paused at its budget has its latest value as a result; who was
 * stopped comes behind all that were not. */
static bool
result_of(const struct report_trial *t, struct ranked *out)
{
    double reached = (double)(t->base + t->reports);
    bool there = is(t, "paused") && reached >= t->budget;

    out->value = t->counts ? t->value : t->latest;
    out->reached = t->counts || there ? INFINITY : reached;
    return t->counts || (t->has_latest && (there || is(t, "stopped")));
}

/* Whether budgets are the same, NAN the same as NAN. */
static bool
same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static size_t
count_at(const struct report *r, double budget)
{
    struct ranked result;
    size_t n = 0;

    for (size_t i = 0; i < r->n_trials; i++)
        n += same(r->trials[i].budget, budget) &&
             result_of(&r->trials[i], &result);
    return n;
}

/* The greatest that is less than `below`; NAN: there is none. */
static double
budget_below(const struct report *r, double below)
{
    double best = (double)NAN;

    for (size_t i = 0; i < r->n_trials; i++) {
        double b = r->trials[i].budget;

        if (b < below && !(b <= best))
            best = b;
    }
    return best;
}

/* The greatest with enough results, else the one with the most. */
static double
choose_budget(const struct report *r)
{
    double best = budget_below(r, INFINITY);
    size_t most = 0;

    for (double b = best; !isnan(b); b = budget_below(r, b)) {
        size_t n = count_at(r, b);

        if (n >= ENOUGH)
            return b;
        if (n > most) {
            most = n;
            best = b;
        }
    }
    return best;
}

/* The trials with a result at that budget, best first; returns how many. */
static size_t
rank(const struct report *r, double budget, struct ranked *out)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_trials; i++) {
        const struct report_trial *t = &r->trials[i];

        if (!same(t->budget, budget) || !result_of(t, &out[n]))
            continue;
        out[n].value *= r->results->minimize ? 1 : -1;
        out[n++].trial = i;
    }
    qsort(out, n, sizeof *out, compare);
    return n;
}

/* Cells of the ranked trials, on the scale of their axis. */
static void
fill(const struct report_parameter *p, const struct ranked *ranked, size_t n,
     double *out)
{
    for (size_t i = 0; i < n; i++) {
        double cell = p->cells[ranked[i].trial];

        out[i] = p->scale == SCALE_LOG ? num_log(cell) : cell;
    }
}

/* Those that cannot be judged, texts and what was not searched, have no
 * values. */
static int
score(struct report *r, const struct ranked *ranked, size_t n, struct err *err)
{
    struct importance_parameter *all = calloc(r->n_parameters + 1, sizeof *all);
    double *cells = calloc(r->n_parameters * n + 1, sizeof *cells);
    size_t *places = calloc(n + 1, sizeof *places);
    int rc = all == NULL || cells == NULL || places == NULL ? -1 : 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        places[i] = i;
    for (size_t i = 0; rc == 0 && i < r->n_parameters; i++) {
        const struct report_parameter *p = &r->parameters[i];
        bool judged = p->searched && p->scale != SCALE_TEXT;

        all[i] = (struct importance_parameter){
            &cells[i * n], p->scale == SCALE_CHOICE ? p->values.n : 0};
        fill(p, ranked, n, &cells[i * n]);
        for (size_t j = 0; j < n && !judged; j++)
            cells[i * n + j] = (double)NAN;
    }
    if (rc == 0)
        rc = importance_scores(all, r->n_parameters, places, n, r->importance);
    free(places);
    free(cells);
    free(all);
    return rc == 0 ? 0 : err_set(err, ERR_MEMORY, "out of memory");
}

int
reading_importance(struct reading *reading, struct err *err)
{
    struct report *r = reading->report;
    struct ranked *ranked = calloc(r->n_trials + 1, sizeof *ranked);
    int rc;

    r->importance = calloc(r->n_parameters + 1, sizeof *r->importance);
    if (ranked == NULL || r->importance == NULL) {
        free(ranked);
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    r->importance_budget = choose_budget(r);
    r->importance_trials = rank(r, r->importance_budget, ranked);
    rc = score(r, ranked, r->importance_trials, err);
    free(ranked);
    return rc;
}
