/* SPDX-License-Identifier: MIT */
/* DESIGN.  NNI collects and sorts the averages of all completed trials for
 * each value that arrives.  Averages are only ever added, so the median of a
 * step can be kept instead of found: two heaps, the lower half of the
 * averages with its greatest on top and the upper half with its least on top,
 * the lower one being as large as the upper or one larger.  The top of the
 * lower heap is a[(n-1)/2] in ascending order.  For minimize everything is
 * entered with its sign turned, which makes that a[n/2] of the true order.
 *
 * Both heaps of a step share one block of 2 * half numbers: lower from 0,
 * upper from half.  A single average needs no block: of a long trial there may
 * be millions. */
#include "medianstop/medianstop.h"

#include "grow.h"
#include "tunepipe/plugin.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct step {
    union {
        double one;     /* half == 0 */
        double *values; /* else */
    };
    uint32_t half, n_lower, n_upper;
};

struct medianstop_trial {
    struct medianstop_trial *next, **link;
    double best;
    size_t n_seen;
};

struct medianstop {
    bool maximize;
    size_t start_step;
    struct step *steps; /* steps[k]: averages of k + 1 values */
    size_t n_steps;
    struct medianstop_trial *running;
};

struct medianstop *
medianstop_new(bool maximize, size_t start_step)
{
    struct medianstop *m = calloc(1, sizeof *m);

    if (m == NULL)
        return NULL;
    m->maximize = maximize;
    m->start_step = start_step;
    return m;
}

static void
trial_free(struct medianstop_trial *t)
{
    *t->link = t->next;
    if (t->next != NULL)
        t->next->link = t->link;
    free(t);
}

void
medianstop_free(struct medianstop *m)
{
    if (m == NULL)
        return;
    while (m->running != NULL)
        trial_free(m->running);
    for (size_t i = 0; i < m->n_steps; i++)
        if (m->steps[i].half > 0)
            free(m->steps[i].values);
    free(m->steps);
    free(m);
}

static const double *
values_of(const struct step *s)
{
    return s->half == 0 ? &s->one : s->values;
}

static double
signed_value(const struct medianstop *m, double value)
{
    return m->maximize ? value : -value;
}

static struct medianstop_trial *
trial_new(struct medianstop *m)
{
    struct medianstop_trial *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->next = m->running;
    t->link = &m->running;
    if (t->next != NULL)
        t->next->link = &t->next;
    m->running = t;
    return t;
}

static void
see(const struct medianstop *m, struct medianstop_trial *t,
    const double *values, size_t n)
{
    if (t->n_seen == 0) {
        t->best = values[0];
        t->n_seen = 1;
    }
    for (; t->n_seen < n; t->n_seen++) {
        double v = values[t->n_seen];

        if (m->maximize ? v > t->best : v < t->best)
            t->best = v;
    }
}

int
medianstop_assess(struct medianstop *m, struct medianstop_trial **trial,
                  const double *values, size_t n,
                  struct medianstop_verdict *out)
{
    const struct step *s;

    *out = (struct medianstop_verdict){.best = NAN, .median = NAN};
    out->early = n == 0 || n < m->start_step;
    if (out->early)
        return 0;
    if (*trial == NULL && (*trial = trial_new(m)) == NULL)
        return -1;
    see(m, *trial, values, n);
    if (n > m->n_steps || m->steps[n - 1].n_lower == 0)
        return 0;
    s = &m->steps[n - 1];
    out->compared = true;
    out->averages = (size_t)s->n_lower + s->n_upper;
    out->best = (*trial)->best;
    out->median = signed_value(m, values_of(s)[0]);
    out->stop = signed_value(m, out->best) < values_of(s)[0];
    return 0;
}

/* Heaps.  `up` is true for the one with its least on top. */

static bool
above(bool up, double a, double b)
{
    return up ? a < b : a > b;
}

static void
heap_add(double *heap, uint32_t *n, double value, bool up)
{
    size_t i = (*n)++;

    while (i > 0 && above(up, value, heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = value;
}

static double
heap_take(double *heap, uint32_t *n, bool up)
{
    double top = heap[0], last = heap[--*n];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < *n) {
        if (child + 1 < *n && above(up, heap[child + 1], heap[child]))
            child++;
        if (!above(up, heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

/* Room for one more in each heap, or for the first average. */
static int
step_reserve(struct step *s)
{
    uint32_t half = s->half + s->half / 2 + 2;
    double *values = s->half == 0 ? NULL : s->values;

    if (s->n_lower == 0 || (s->n_lower < s->half && s->n_upper < s->half))
        return 0;
    if (grow_to(&values, half, 2 * sizeof *values) != 0)
        return -1;
    if (s->half == 0)
        values[0] = s->one;
    memmove(values + half, values + s->half, s->n_upper * sizeof *values);
    s->values = values;
    s->half = half;
    return 0;
}

/* After step_reserve().  A value that belongs above goes through the lower
 * heap into the upper one, or the other way, so that the sizes stay even. */
static void
step_add(struct step *s, double value)
{
    double *lower = s->values, *upper;

    if (s->half == 0) {
        s->one = value;
        s->n_lower = 1;
        return;
    }
    upper = lower + s->half;
    if (s->n_lower == s->n_upper) {
        heap_add(upper, &s->n_upper, value, true);
        heap_add(lower, &s->n_lower, heap_take(upper, &s->n_upper, true),
                 false);
    } else {
        heap_add(lower, &s->n_lower, value, false);
        heap_add(upper, &s->n_upper, heap_take(lower, &s->n_lower, false),
                 true);
    }
}

/* Makes everything ready for a trial of n values, so that adding it cannot
 * stop half-way. */
static int
reserve(struct medianstop *m, size_t n)
{
    if (n > m->n_steps) {
        if (grow_to(&m->steps, n, sizeof *m->steps) != 0)
            return -1;
        memset(m->steps + m->n_steps, 0, (n - m->n_steps) * sizeof *m->steps);
        m->n_steps = n;
    }
    for (size_t i = 0; i < n; i++)
        if (step_reserve(&m->steps[i]) != 0)
            return -1;
    return 0;
}

static int
complete(struct medianstop *m, const double *values, size_t n)
{
    double sum = 0;

    if (reserve(m, n) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        double average;

        sum += values[i];
        average = sum / (double)(i + 1);
        if (!isnan(average))
            step_add(&m->steps[i], signed_value(m, average));
    }
    return 0;
}

int
medianstop_ended(struct medianstop *m, struct medianstop_trial **trial,
                 const double *values, bool succeeded)
{
    int rc = 0;

    if (*trial == NULL)
        return 0;
    if (succeeded)
        rc = complete(m, values, (*trial)->n_seen);
    trial_free(*trial);
    *trial = NULL;
    return rc;
}

/* ---- saving: the heaps as they lie, so that they come to lie so again ---- */

void
medianstop_save(const struct medianstop *m, const struct tp_sink *sink)
{
    tp_put_u64(sink, m->n_steps);
    for (size_t i = 0; i < m->n_steps; i++) {
        const struct step *s = &m->steps[i];

        tp_put_u64(sink, s->n_lower);
        tp_put_u64(sink, s->n_upper);
        tp_put_f64s(sink, values_of(s), s->n_lower);
        tp_put_f64s(sink, values_of(s) + s->half, s->n_upper);
    }
}

static bool
is_heap(const double *heap, size_t n, bool up)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(heap[i]) || above(up, heap[i], heap[(i - (i > 0)) / 2]))
            return false;
    return true;
}

static const char *
load_step(struct step *s, const struct tp_source *source)
{
    uint64_t lower, upper;
    double *values = &s->one;

    tp_get_u64(source, &lower);
    tp_get_u64(source, &upper);
    if (lower > tp_left(source) / sizeof(double) || upper > lower ||
        lower - upper > 1)
        return "the number of averages is damaged";
    if (lower > 1 || upper > 0) {
        values = malloc(2 * (size_t)lower * sizeof *values);
        if (values == NULL)
            return "out of memory";
        s->values = values;
        s->half = (uint32_t)lower;
    }
    s->n_lower = (uint32_t)lower;
    s->n_upper = (uint32_t)upper;
    tp_get_f64s(source, values, s->n_lower);
    tp_get_f64s(source, values + s->half, s->n_upper);
    if (!is_heap(values, s->n_lower, false) ||
        !is_heap(values + s->half, s->n_upper, true) ||
        (upper > 0 && values[0] > values[s->half]))
        return "the averages are damaged";
    return NULL;
}

const char *
medianstop_load(struct medianstop *m, const struct tp_source *source)
{
    uint64_t n;

    if (tp_get_u64(source, &n) != TP_OK ||
        n > tp_left(source) / (2 * sizeof(uint64_t)))
        return "the number of steps is damaged";
    m->steps = calloc((size_t)n + 1, sizeof *m->steps);
    if (m->steps == NULL)
        return "out of memory";
    m->n_steps = (size_t)n;
    for (size_t i = 0; i < m->n_steps; i++) {
        const char *why = load_step(&m->steps[i], source);

        if (why != NULL)
            return why;
    }
    return NULL;
}

void
medianstop_save_trial(const struct medianstop_trial *trial,
                      const struct tp_sink *sink)
{
    tp_put_u64(sink, trial == NULL ? 0 : trial->n_seen);
    if (trial != NULL)
        tp_put_f64(sink, trial->best);
}

const char *
medianstop_load_trial(struct medianstop *m, size_t n,
                      struct medianstop_trial **trial,
                      const struct tp_source *source)
{
    uint64_t n_seen;

    if (tp_get_u64(source, &n_seen) != TP_OK || n_seen > n)
        return "what a running trial reported is damaged";
    if (n_seen == 0)
        return NULL;
    *trial = trial_new(m);
    if (*trial == NULL)
        return "out of memory";
    (*trial)->n_seen = (size_t)n_seen;
    return tp_get_f64(source, &(*trial)->best) == TP_OK
               ? NULL
               : "what a running trial reported is missing";
}
