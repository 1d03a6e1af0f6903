/* SPDX-License-Identifier: MIT */
#include "percentile/percentile.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct percentile *
percentile_new(const struct percentile_rule *rule)
{
    struct percentile *p = calloc(1, sizeof *p);

    if (p != NULL)
        p->rule = *rule;
    return p;
}

void
percentile_free(struct percentile *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->n_steps; i++)
        free(p->steps[i].values);
    free(p->steps);
    free(p);
}

/* As NumPy's "linear" method has it, to the bit. */
double
percentile_of(const double *v, size_t n, double percentile)
{
    double place = (double)(n - 1) * (percentile / 100), low = floor(place), t;
    size_t i = (size_t)low;
    double a, b;

    if (i >= n - 1)
        return v[n - 1];
    a = v[i];
    b = v[i + 1];
    t = place - low;
    if (a == b || t == 0)
        return a; /* infinities, too */
    return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

double
percentile_at(const struct percentile *p, size_t n, double percentile)
{
    if (n > p->n_steps || p->steps[n - 1].n == 0)
        return NAN;
    return percentile_of(p->steps[n - 1].values, p->steps[n - 1].n, percentile);
}

/* The best that is no NaN, or NaN. */
static double
best_of(const struct percentile *p, const double *values, size_t n)
{
    double best = NAN;

    for (size_t i = 0; i < n; i++)
        if (isnan(best) ||
            (p->rule.maximize ? values[i] > best : values[i] < best))
            best = values[i];
    return best;
}

/* Whether one of the steps that are due lies among the new values: several
 * may have come at once. */
static bool
is_due(const struct percentile_rule *r, size_t n, size_t seen)
{
    size_t first = r->start_step > 0 ? r->start_step : 1;
    size_t due = first + (n - first) / r->interval * r->interval;

    return due > seen;
}

static enum percentile_reason
why_not(const struct percentile *p, size_t n, size_t seen)
{
    const struct percentile_rule *r = &p->rule;

    if (p->n_completed == 0 || p->n_completed < r->startup_trials)
        return PERCENTILE_FEW_TRIALS;
    if (n == 0 || n < r->start_step)
        return PERCENTILE_EARLY;
    if (!is_due(r, n, seen))
        return PERCENTILE_BETWEEN;
    if (n > p->n_steps || p->steps[n - 1].n == 0 ||
        p->steps[n - 1].n < r->min_trials)
        return PERCENTILE_FEW_AT_STEP;
    return PERCENTILE_JUDGED;
}

void
percentile_assess(const struct percentile *p, const double *values, size_t n,
                  size_t seen, struct percentile_verdict *out)
{
    const struct percentile_rule *r = &p->rule;
    const struct percentile_step *s;

    *out = (struct percentile_verdict){.best = NAN, .limit = NAN};
    out->reason = why_not(p, n, seen);
    if (out->reason != PERCENTILE_JUDGED)
        return;
    s = &p->steps[n - 1];
    out->trials = s->n;
    out->best = best_of(p, values, n);
    out->limit = percentile_of(
        s->values, s->n, r->maximize ? 100 - r->percentile : r->percentile);
    out->stop = isnan(out->best) ||
                (r->maximize ? out->best < out->limit : out->best > out->limit);
}

static int
step_reserve(struct percentile_step *s)
{
    size_t cap = s->cap + s->cap / 2 + 1;

    if (s->n < s->cap)
        return 0;
    if (grow_to(&s->values, cap, sizeof *s->values) != 0)
        return -1;
    s->cap = cap;
    return 0;
}

/* After step_reserve(). */
static void
step_add(struct percentile_step *s, double value)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->values[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&s->values[low + 1], &s->values[low],
            (s->n - low) * sizeof *s->values);
    s->values[low] = value;
    s->n++;
}

/* Makes everything ready, so that adding cannot stop half-way. */
static int
reserve(struct percentile *p, size_t n)
{
    if (n > p->n_steps) {
        if (grow_to(&p->steps, n, sizeof *p->steps) != 0)
            return -1;
        memset(p->steps + p->n_steps, 0, (n - p->n_steps) * sizeof *p->steps);
        p->n_steps = n;
    }
    for (size_t i = 0; i < n; i++)
        if (step_reserve(&p->steps[i]) != 0)
            return -1;
    return 0;
}

int
percentile_succeeded(struct percentile *p, const double *values, size_t n)
{
    double sum = 0;

    if (reserve(p, n) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        double value = values[i];

        sum += value;
        if (p->rule.averages)
            value = sum / (double)(i + 1);
        if (!isnan(value))
            step_add(&p->steps[i], value);
    }
    p->n_completed++;
    return 0;
}

/* Steps at the end that have nothing are not told apart from none. */
static size_t
steps_used(const struct percentile *p)
{
    size_t n = p->n_steps;

    while (n > 0 && p->steps[n - 1].n == 0)
        n--;
    return n;
}

void
percentile_save(const struct percentile *p, const struct tp_sink *sink)
{
    size_t n = steps_used(p);

    tp_put_u64(sink, p->n_completed);
    tp_put_u64(sink, n);
    for (size_t i = 0; i < n; i++) {
        tp_put_u64(sink, p->steps[i].n);
        tp_put_f64s(sink, p->steps[i].values, p->steps[i].n);
    }
}

static const char *
load_step(struct percentile_step *step, const struct tp_source *s)
{
    uint64_t n;

    if (tp_get_u64(s, &n) != TP_OK || n > tp_left(s) / sizeof *step->values)
        return "the saved values are cut off";
    step->values = calloc((size_t)n + 1, sizeof *step->values);
    if (step->values == NULL)
        return "out of memory";
    step->cap = (size_t)n + 1;
    step->n = (size_t)n;
    if (tp_get_f64s(s, step->values, step->n) != TP_OK)
        return "the saved values are cut off";
    for (size_t i = 0; i < step->n; i++)
        if (isnan(step->values[i]) ||
            (i > 0 && step->values[i] < step->values[i - 1]))
            return "the saved values are not in order";
    return NULL;
}

const char *
percentile_load(struct percentile *p, const struct tp_source *s)
{
    const char *wrong = NULL;
    uint64_t n;

    if (tp_get_u64(s, &p->n_completed) != TP_OK || tp_get_u64(s, &n) != TP_OK ||
        n > tp_left(s) / sizeof(uint64_t))
        return "the saved steps are cut off";
    p->steps = calloc((size_t)n + 1, sizeof *p->steps);
    if (p->steps == NULL)
        return "out of memory";
    p->n_steps = (size_t)n;
    for (size_t i = 0; wrong == NULL && i < p->n_steps; i++)
        wrong = load_step(&p->steps[i], s);
    return wrong;
}
