/* SPDX-License-Identifier: MIT */
#include "percentile/state.h"

#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>

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
