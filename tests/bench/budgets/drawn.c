/* SPDX-License-Identifier: MIT */
#include "drawn.h"

#include "sim/dice.h"

#include "core/buf.h"
#include "numerics/elementary.h"
#include "tunepipe/plugin.h"

#include <math.h>
#include <string.h>

struct drawn_kind {
    const char *name;
    double quickest, slowest; /* pace, in whole curves */
    double favour;      /* 1: the best are the slowest, -1: the quickest */
    double least, most; /* noise, decades of sigma */
    double spikes;      /* share of values with ten times the noise */
    double late;    /* what nothing is learned in, at most, in whole curves */
    double plateau; /* height of one that half of a curve stays on, at most */
    double overfit; /* rise from the middle to the end, at most */
};

static const struct drawn_kind kinds[] = {
    {"even", 0.01, 0.3, 0, -4, -2.5, 0, 0, 0, 0},
    {"crossed", 0.005, 0.2, 1, -4, -2.5, 0, 0, 0, 0},
    {"restless", 0.01, 0.1, 0, -2.3, -1.3, 0.02, 0, 0, 0},
    {"late", 0.01, 0.1, 0, -4, -2.5, 0, 0.5, 0, 0},
    {"plateaus", 0.005, 0.05, 0, -4, -2.5, 0, 0, 0.3, 0},
    {"overfit", 0.01, 0.2, -1, -4, -2.5, 0, 0, 0, 0.5},
};

enum { PACE, LATE, RISE }; /* slopes */

#define FLOOR 0.05 /* of 1, with which every curve begins */
#define SPAN 0.75  /* from the lowest level to the highest */

const char *
drawn_list(size_t i)
{
    return i < sizeof kinds / sizeof *kinds ? kinds[i].name : NULL;
}

const struct drawn_kind *
drawn_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static double
between(struct dice *dice, double low, double high)
{
    return low + (high - low) * dice_unit(dice);
}

static void
open_dim(const struct drawn *d, struct drawn_dim *dim, struct dice *dice)
{
    dim->best = between(dice, 0.1, 0.9);
    dim->weight = num_pow(10, between(dice, -1.5, 0));
    if (dice_chance(dice, 0.25))
        dim->n_choices = 2 + (size_t)dice_below(dice, DRAWN_CHOICES - 1);
    for (size_t i = 0; i < dim->n_choices; i++) {
        dim->away[i] = between(dice, 0.1, 0.6);
        dim->at[i] = dice_unit(dice);
    }
    if (dim->n_choices > 0) {
        size_t best = (size_t)dice_below(dice, dim->n_choices);

        dim->away[best] = 0;
        dim->best = dim->at[best];
    }
    for (size_t i = 0; i < DRAWN_WAYS; i++)
        dim->slope[i] = between(dice, -1, 1);
    if (d->kind->favour != 0)
        dim->slope[PACE] =
            fabs(dim->slope[PACE]) * copysign(d->kind->favour, dim->best - 0.5);
}

void
drawn_open(struct drawn *d, const struct drawn_kind *kind, uint64_t seed)
{
    static const size_t lengths[] = {9, 20, 27, 50, 81, 100, 160, 243};
    struct dice dice = {dice_mix(seed * 64 + (uint64_t)(kind - kinds) + 5)};

    *d = (struct drawn){.kind = kind, .seed = seed};
    d->n_dims = 2 + (size_t)dice_below(&dice, DRAWN_DIMS - 1);
    d->longest = lengths[dice_below(&dice, sizeof lengths / sizeof *lengths)];
    d->scale = num_pow(10, between(&dice, -2, 3));
    d->offset = d->scale * between(&dice, -1, 1);
    d->noise = num_pow(10, between(&dice, kind->least, kind->most));
    d->power = between(&dice, 0.8, 2);
    for (size_t i = 0; i < d->n_dims; i++)
        open_dim(d, &d->dims[i], &dice);
}

void
drawn_write_space(const struct drawn *d, struct buf *out)
{
    static const char *const numbers[] = {
        "\"uniform\", \"_value\": [-1, 3]",
        "\"loguniform\", \"_value\": [1e-5, 1]",
        "\"qloguniform\", \"_value\": [8, 512, 1]",
        "\"randint\", \"_value\": [1, 9]",
    };

    for (size_t i = 0; i < d->n_dims; i++) {
        const struct drawn_dim *dim = &d->dims[i];

        buf_printf(out, "%s\"x%zu\": {\"_type\": ", i == 0 ? "{" : ", ", i);
        if (dim->n_choices == 0)
            buf_printf(out, "%s}", numbers[(d->seed + i) % 4]);
        else
            buf_printf(out, "\"choice\", \"_value\": [0");
        for (size_t k = 1; k < dim->n_choices; k++)
            buf_printf(out, ", %zu", k);
        if (dim->n_choices > 0)
            buf_add_text(out, "]}");
    }
    buf_add_char(out, '}');
}

double
drawn_optimum(const struct drawn *d)
{
    return d->offset + d->scale * FLOOR;
}

/* Nearly: the sum of twelve. */
static double
gauss(struct dice *dice)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += dice_unit(dice);
    return sum;
}

struct shape {
    double level, ways[DRAWN_WAYS]; /* ways in (0, 1) */
    struct dice dice;
};

static struct shape
shape_of(const struct drawn *d, const struct tp_space *dims, const double *x)
{
    struct shape s = {.dice = {dice_mix(d->seed)}};
    double off = 0, weights = 0;

    for (size_t i = 0; i < d->n_dims; i++) {
        const struct drawn_dim *dim = &d->dims[i];
        const struct tp_dim *of = TP_DIM(dims, i);
        double at = (x[i] - of->low) / (of->high - of->low);
        double away = at - dim->best;
        uint64_t bits;

        if (dim->n_choices > 0) {
            size_t element = (size_t)(at * (double)(dim->n_choices - 1) + 0.5);

            at = dim->at[element];
            away = dim->away[element];
        }
        off += dim->weight * away * away;
        weights += dim->weight;
        for (size_t k = 0; k < DRAWN_WAYS; k++)
            s.ways[k] += 5 * dim->slope[k] * (at - 0.5);
        memcpy(&bits, &x[i], sizeof bits);
        s.dice.state = dice_mix(s.dice.state ^ bits);
    }
    s.level = FLOOR + SPAN * (1 - num_exp(-8 * off / weights));
    for (size_t k = 0; k < DRAWN_WAYS; k++)
        s.ways[k] = 1 / (1 + num_exp(-s.ways[k]));
    return s;
}

void
drawn_curve(const struct drawn *d, const struct tp_space *dims, const double *x,
            double *observed, double *truth)
{
    const struct drawn_kind *kind = d->kind;
    struct shape s = shape_of(d, dims, x);
    double pace =
        kind->quickest * num_pow(kind->slowest / kind->quickest, s.ways[PACE]);

    for (size_t t = 0; t < d->longest; t++) {
        double much = (double)(t + 1) / (double)d->longest;
        double learned = fmax(much - kind->late * s.ways[LATE], 0);
        double y =
            s.level + (1 - s.level) * num_pow(1 + learned / pace, -d->power);

        if (kind->plateau > 0 && much < 0.3 + 0.4 * s.ways[LATE])
            y += kind->plateau * s.ways[RISE] * fmin(learned / pace, 1);
        y += kind->overfit * s.ways[RISE] * fmax(much - 0.4 * s.ways[LATE], 0);
        truth[t] = d->offset + d->scale * y;
        y += d->noise * gauss(&s.dice) *
             (dice_chance(&s.dice, kind->spikes) ? 10 : 1);
        observed[t] = d->offset + d->scale * y;
    }
}
