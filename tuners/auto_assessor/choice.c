/* SPDX-License-Identifier: MIT */
#include "auto_assessor/choice.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUESSED 4.0 /* trials that a guess counts for */
#define GOOD 4      /* the best one in so many */

static const struct {
    struct choice_rule rule;
    double lost, saved; /* guesses */
} rules[CHOICE_RULES] = {
    {{100, 0}, 0, 0},      {{75, 0}, 0.05, 0.25}, {{75, 9}, 0.035, 0.22},
    {{75, 3}, 0.02, 0.17}, {{50, 0}, 0.1, 0.5},   {{50, 9}, 0.07, 0.44},
    {{50, 3}, 0.04, 0.33}, {{25, 0}, 0.2, 0.75},  {{25, 9}, 0.14, 0.67},
    {{25, 3}, 0.08, 0.5},  {{10, 0}, 0.35, 0.9},  {{10, 9}, 0.25, 0.8},
    {{10, 3}, 0.14, 0.6},
};

struct choice *
choice_new(const struct choice_options *options)
{
    struct percentile_rule rule = {.maximize = options->maximize,
                                   .interval = 1};
    struct choice *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->options = *options;
    c->past = percentile_new(&rule);
    if (c->past != NULL)
        return c;
    free(c);
    return NULL;
}

void
choice_free(struct choice *c)
{
    if (c == NULL)
        return;
    percentile_free(c->past);
    free(c->finals);
    free(c);
}

static double
lost_of(const struct choice *c, size_t i)
{
    return (c->lost[i] + GUESSED * rules[i].lost) / (c->good + GUESSED);
}

static double
saved_of(const struct choice *c, size_t i)
{
    return (c->saved[i] + GUESSED * rules[i].saved) / (c->seen + GUESSED);
}

static size_t
rule_in_force(const struct choice *c)
{
    size_t most = 0;

    for (size_t i = 1; i < CHOICE_RULES; i++)
        if (lost_of(c, i) <= c->options.bound &&
            saved_of(c, i) > saved_of(c, most))
            most = i;
    return most;
}

/* What a trial of n values is held against; NaN: nothing. */
static double
limit_of(const struct choice *c, size_t i, size_t n)
{
    const struct choice_rule *r = &rules[i].rule;
    double share = c->options.maximize ? 100 - r->percentile : r->percentile;

    if (r->percentile == 100 || (r->part > 0 && n < c->longest / r->part))
        return NAN;
    return percentile_at(c->past, n, share);
}

/* NaN is worse than all. */
static bool
is_worse(const struct choice *c, double value, double than)
{
    if (isnan(value) || isnan(than))
        return isnan(value) && !isnan(than);
    return c->options.maximize ? value < than : value > than;
}

static double
better_of(const struct choice *c, double a, double b)
{
    return is_worse(c, a, b) ? b : a;
}

static bool
is_control(const struct choice *c, uint64_t trial)
{
    return trial % c->options.one_in == c->options.one_in - 1;
}

void
choice_assess(const struct choice *c, uint64_t trial, const double *values,
              size_t n, struct choice_verdict *out)
{
    size_t i = rule_in_force(c);

    *out = (struct choice_verdict){.rule = rules[i].rule,
                                   .best = NAN,
                                   .limit = NAN,
                                   .lost = lost_of(c, i),
                                   .saved = saved_of(c, i)};
    for (size_t k = 0; k < n; k++)
        out->best = better_of(c, out->best, values[k]);
    if (c->n_finals < c->options.startup)
        return;
    out->limit = limit_of(c, i, n);
    out->stop = is_worse(c, out->best, out->limit);
    if (out->stop && is_control(c, trial)) {
        out->stop = false;
        out->is_control = true;
    }
}

/* How many values a trial would have had under each rule. */
static void
stops(const struct choice *c, const double *values, size_t n, size_t *at)
{
    double best = NAN;

    for (size_t i = 0; i < CHOICE_RULES; i++)
        at[i] = n;
    for (size_t k = 0; k < n; k++) {
        best = better_of(c, best, values[k]);
        for (size_t i = 1; i < CHOICE_RULES; i++)
            if (at[i] == n && is_worse(c, best, limit_of(c, i, k + 1)))
                at[i] = k + 1;
    }
}

/* Where a best value belongs among the others', the best being first. */
static size_t
place_of(const struct choice *c, double best)
{
    size_t low = 0, high = c->n_finals;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_worse(c, best, c->finals[middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void
learn(struct choice *c, uint64_t trial, const double *values, size_t n,
      size_t place)
{
    size_t in_force = rule_in_force(c), at[CHOICE_RULES];
    bool is_good = place < (c->n_finals + GOOD) / GOOD;
    double counts;

    stops(c, values, n, at);
    counts = at[in_force] < n && is_control(c, trial)
                 ? (double)c->options.one_in
                 : 1;
    c->seen += counts;
    if (is_good)
        c->good += counts;
    for (size_t i = 1; i < CHOICE_RULES; i++) {
        c->saved[i] += counts * (double)(n - at[i]) / (double)n;
        if (is_good && at[i] < n)
            c->lost[i] += counts;
    }
}

int
choice_succeeded(struct choice *c, uint64_t trial, const double *values,
                 size_t n)
{
    double best = NAN;
    size_t place;

    for (size_t k = 0; k < n; k++)
        best = better_of(c, best, values[k]);
    if (isnan(best))
        return 0;
    place = place_of(c, best);
    if (GROW(c->finals, c->n_finals, c->room) != 0)
        return -1;
    if (c->n_finals >= c->options.startup)
        learn(c, trial, values, n, place);
    if (percentile_succeeded(c->past, values, n) != 0)
        return -1;
    memmove(&c->finals[place + 1], &c->finals[place],
            (c->n_finals - place) * sizeof *c->finals);
    c->finals[place] = best;
    c->n_finals++;
    c->longest = n > c->longest ? n : c->longest;
    return 0;
}

void
choice_save(const struct choice *c, const struct tp_sink *sink)
{
    percentile_save(c->past, sink);
    tp_put_u64(sink, c->longest);
    tp_put_f64(sink, c->seen);
    tp_put_f64(sink, c->good);
    tp_put_f64s(sink, c->lost, CHOICE_RULES);
    tp_put_f64s(sink, c->saved, CHOICE_RULES);
    tp_put_u64(sink, c->n_finals);
    tp_put_f64s(sink, c->finals, c->n_finals);
}

static bool
is_sound(const struct choice *c)
{
    for (size_t i = 1; i < c->n_finals; i++)
        if (is_worse(c, c->finals[i - 1], c->finals[i]))
            return false;
    for (size_t i = 0; i < CHOICE_RULES; i++)
        if (!(c->lost[i] >= 0 && c->lost[i] <= c->good && c->saved[i] >= 0 &&
              c->saved[i] <= c->seen))
            return false;
    return isfinite(c->seen) && c->good <= c->seen;
}

const char *
choice_load(struct choice *c, const struct tp_source *source)
{
    const char *wrong = percentile_load(c->past, source);
    uint64_t n = 0;

    if (wrong != NULL)
        return wrong;
    tp_get_u64(source, &c->longest);
    tp_get_f64(source, &c->seen);
    tp_get_f64(source, &c->good);
    tp_get_f64s(source, c->lost, CHOICE_RULES);
    tp_get_f64s(source, c->saved, CHOICE_RULES);
    if (tp_get_u64(source, &n) != TP_OK || n > tp_left(source) / sizeof(double))
        return "the saved rules are cut off";
    if (grow_to(&c->finals, (size_t)n, sizeof *c->finals) != 0)
        return "out of memory";
    c->n_finals = c->room = (size_t)n;
    if (tp_get_f64s(source, c->finals, c->n_finals) != TP_OK || !is_sound(c))
        return "the saved rules are damaged";
    return NULL;
}
