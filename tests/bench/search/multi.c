/* SPDX-License-Identifier: MIT */
/* DESIGN
 * Those of the literature have a front of a known form, whose volume is a
 * formula, or a sum over two million steps that was taken once and stands here.
 * Our own ones are made so that few parameters trade the costs and the others
 * have a right value, beside which every cost is greater: what can be reached
 * is listed when an instance is made. */
#include "multi.h"

#include "dims.h"
#include "numerics/elementary.h"
#include "numerics/hypervolume.h"
#include "numerics/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.141592653589793

struct kind;

struct multi {
    const struct kind *kind;
    size_t n_dims;
    struct random_stream draws;
    struct point best;
    double ideal;
};

struct kind {
    const char *name, *family;
    const struct dim *dims;
    size_t n_costs;
    double reference[MULTI_COSTS_MAX];
    double ideal; /* 0: `list` has what can be reached */
    void (*values)(const struct multi *m, const struct point *p, double *costs,
                   double *beyond);
    void (*list)(const struct multi *m, double *costs, size_t *n);
    bool is_limited;
};

#define LIST_MAX 40000

/* ---- of the literature ---- */

#define X(name)                               \
    {                                         \
        name, DIM_UNIFORM, 0, 1, 0, {0}, 0, 0 \
    }
#define FIVE(a) X(a "1"), X(a "2"), X(a "3"), X(a "4"), X(a "5")
#define TEN FIVE("a"), FIVE("b")

static const struct dim eleven_dims[] = {TEN, X("c1"), {0}};
static const struct dim ten_dims[] = {TEN, {0}};
static const struct dim twelve_dims[] = {TEN, X("c1"), X("c2"), {0}};
static const struct dim thirteen_dims[] = {TEN, X("c1"), X("c2"), X("c3"), {0}};
static const struct dim many_dims[] = {TEN, FIVE("c"), FIVE("d"), X("e1"), {0}};
static const struct dim many2_dims[] = {TEN,     FIVE("c"), FIVE("d"),
                                        X("e1"), X("e2"),   {0}};
static const struct dim many3_dims[] = {TEN,     FIVE("c"), FIVE("d"), X("e1"),
                                        X("e2"), X("e3"),   {0}};
static const struct dim thirty_dims[] = {TEN,       FIVE("c"), FIVE("d"),
                                         FIVE("e"), FIVE("f"), {0}};

/* zdt4 has one parameter in 0..1, the others in -5..5. */
#define Y(name)                                \
    {                                          \
        name, DIM_UNIFORM, -5, 5, 0, {0}, 0, 0 \
    }
static const struct dim zdt4_dims[] = {X("a1"), Y("a2"), Y("a3"), Y("a4"),
                                       Y("a5"), Y("b1"), Y("b2"), Y("b3"),
                                       Y("b4"), Y("b5"), {0}};

static double
mean_from(const struct multi *m, const struct point *p, size_t first)
{
    double sum = 0;

    for (size_t i = first; i < m->n_dims; i++)
        sum += p->value[i];
    return sum / (double)(m->n_dims - first);
}

static void
zdt1(const struct multi *m, const struct point *p, double *costs,
     double *beyond)
{
    double g = 1 + 9 * mean_from(m, p, 1);

    (void)beyond;
    costs[0] = p->value[0];
    costs[1] = g * (1 - sqrt(costs[0] / g));
}

static void
zdt2(const struct multi *m, const struct point *p, double *costs,
     double *beyond)
{
    double g = 1 + 9 * mean_from(m, p, 1);

    (void)beyond;
    costs[0] = p->value[0];
    costs[1] = g * (1 - costs[0] / g * (costs[0] / g));
}

static void
zdt3(const struct multi *m, const struct point *p, double *costs,
     double *beyond)
{
    double g = 1 + 9 * mean_from(m, p, 1), part;

    (void)beyond;
    costs[0] = p->value[0];
    part = costs[0] / g;
    costs[1] = g * (1 - sqrt(part) - part * sin(10 * PI * costs[0]));
}

static void
zdt4(const struct multi *m, const struct point *p, double *costs,
     double *beyond)
{
    double g = 1 + 10 * (double)(m->n_dims - 1);

    (void)beyond;
    for (size_t i = 1; i < m->n_dims; i++)
        g += p->value[i] * p->value[i] - 10 * cos(4 * PI * p->value[i]);
    costs[0] = p->value[0];
    costs[1] = g * (1 - sqrt(costs[0] / g));
}

static void
zdt6(const struct multi *m, const struct point *p, double *costs,
     double *beyond)
{
    double g = 1 + 9 * sqrt(sqrt(mean_from(m, p, 1)));
    double s = sin(6 * PI * p->value[0]);

    (void)beyond;
    costs[0] = 1 - num_exp(-4 * p->value[0]) * s * s * s * s * s * s;
    costs[1] = g * (1 - costs[0] / g * (costs[0] / g));
}

static void
dtlz2(const struct multi *m, const struct point *p, double *costs,
      double *beyond)
{
    size_t n = m->kind->n_costs;
    double g = 1;

    (void)beyond;
    for (size_t i = n - 1; i < m->n_dims; i++)
        g += (p->value[i] - 0.5) * (p->value[i] - 0.5);
    for (size_t k = 0; k < n; k++) {
        costs[k] = g;
        for (size_t i = 0; i + k + 1 < n; i++)
            costs[k] *= cos(p->value[i] * PI / 2);
        if (k > 0)
            costs[k] *= sin(p->value[n - 1 - k] * PI / 2);
    }
}

static void
dtlz7(const struct multi *m, const struct point *p, double *costs,
      double *beyond)
{
    size_t n = m->kind->n_costs;
    double g = 2 + 9 * mean_from(m, p, n - 1), last = (double)n;

    (void)beyond;
    for (size_t k = 0; k + 1 < n; k++) {
        costs[k] = p->value[k];
        last -= costs[k] / g * (1 + sin(3 * PI * costs[k]));
    }
    costs[n - 1] = g * last;
}

static double
square_from(double x, double y, double a, double b)
{
    return (x - a) * (x - a) + (y - b) * (y - b);
}

/* Only near its ends and its middle is the front within the limit. */
static void
c2dtlz2(const struct multi *m, const struct point *p, double *costs,
        double *beyond)
{
    const double root = 0.7071067811865476;
    double near;

    dtlz2(m, p, costs, beyond);
    near = fmin(square_from(costs[0], costs[1], 1, 0),
                square_from(costs[0], costs[1], 0, 1));
    near = fmin(near, square_from(costs[0], costs[1], root, root)) - 0.04;
    *beyond = fmax(near, 0);
}

/* ---- our own ---- */

static double
away(const struct multi *m, const struct point *p, size_t i)
{
    return p->unit[i] - m->best.unit[i];
}

/* Of an option that is not the right one. */
static double
wrong(const struct multi *m, const struct point *p, size_t i)
{
    uint32_t draw = 5000 + (uint32_t)(i * 64) + (uint32_t)p->option[i];

    if (p->option[i] == m->best.option[i])
        return 0;
    return 0.1 + 0.4 * random_uniform(&m->draws, draw);
}

enum { RATE, BATCH, LAYERS, UNITS, DROPOUT, DECAY, ACTIVATION, OPTIMIZER };

static const struct dim network_dims[] = {
    {"learning_rate", DIM_LOG, 1e-5, 1, 0, {0}, 0, 0},
    {"batch_size", DIM_LOG_GRID, 8, 512, 8, {0}, 0, 0},
    {"layers", DIM_INTEGER, 1, 9, 0, {0}, 0, 0},
    {"units", DIM_LOG_GRID, 16, 1024, 16, {0}, 0, 0},
    {"dropout", DIM_UNIFORM, 0, 0.8, 0, {0}, 0, 0},
    {"decay", DIM_LOG, 1e-6, 0.1, 0, {0}, 0, 0},
    {"activation", DIM_CHOICE, 0, 0, 0, {"relu", "tanh", "gelu", "selu"}, 0, 0},
    {"optimizer", DIM_CHOICE, 0, 0, 0, {"sgd", "adam", "rmsprop"}, 0, 0},
    {0},
};

/* Size against error: the larger, the less it errs, at a learning rate that
 * falls with it. */
static void
network_costs(double layers, double units, double penalty, double *costs)
{
    double size = num_log(layers * units * units + 64 * units);

    costs[0] = 0.02 + 0.9 * num_exp(-0.2 * size) +
               0.04 * (layers - 1) * num_exp(-units / 64) + penalty;
    costs[1] = size / 16;
}

static void
network(const struct multi *m, const struct point *p, double *costs,
        double *beyond)
{
    double rate = away(m, p, RATE) + 0.3 * (p->unit[UNITS] - 0.5) -
                  0.4 * away(m, p, BATCH);
    double penalty = 0.4 * (1 - num_exp(-20 * rate * rate));

    (void)beyond;
    penalty += 0.1 * away(m, p, BATCH) * away(m, p, BATCH);
    penalty += 0.3 * away(m, p, DROPOUT) * away(m, p, DROPOUT);
    penalty += 0.2 * away(m, p, DECAY) * away(m, p, DECAY);
    penalty += wrong(m, p, ACTIVATION) + wrong(m, p, OPTIMIZER);
    network_costs(p->value[LAYERS], p->value[UNITS], penalty, costs);
}

static void
network_list(const struct multi *m, double *costs, size_t *n)
{
    (void)m;
    for (int layers = 1; layers < 9; layers++)
        for (int units = 16; units <= 1024; units += 16)
            network_costs(layers, units, 0, costs + 2 * (*n)++);
}

/* Memory, of which the batch takes some. */
static double
memory_beyond(double layers, double units, double batch)
{
    double memory = num_log(layers * units * units) / 16 + batch / 4;

    return fmax(memory - 0.8, 0);
}

static void
memory(const struct multi *m, const struct point *p, double *costs,
       double *beyond)
{
    network(m, p, costs, beyond);
    *beyond = memory_beyond(p->value[LAYERS], p->value[UNITS], p->unit[BATCH]);
}

static void
memory_list(const struct multi *m, double *costs, size_t *n)
{
    for (int layers = 1; layers < 9; layers++)
        for (int units = 16; units <= 1024; units += 16)
            for (int batch = 8; batch <= 512; batch += 8) {
                double at = dims_unit(&network_dims[BATCH], batch);
                double a = at - m->best.unit[BATCH];

                if (memory_beyond(layers, units, at) <= 0)
                    network_costs(layers, units, 0.1 * a * a,
                                  costs + 2 * (*n)++);
            }
}

enum {
    MODEL,
    FEATURES,
    LASSO,
    TREES,
    DEPTH,
    LEAF,
    ROUNDS,
    SHRINKAGE,
    SCALING,
};

static const struct dim branches_dims[] = {
    {"model", DIM_CHOICE, 0, 0, 0, {"linear", "forest", "boosting"}, 0, 0},
    {"features", DIM_INTEGER, 1, 65, 0, {0}, 1, 0},
    {"lasso", DIM_LOG, 1e-4, 10, 0, {0}, 1, 0},
    {"trees", DIM_INTEGER, 10, 510, 0, {0}, 1, 1},
    {"depth", DIM_INTEGER, 2, 17, 0, {0}, 1, 1},
    {"leaf", DIM_INTEGER, 1, 51, 0, {0}, 1, 1},
    {"rounds", DIM_LOG_GRID, 10, 1000, 1, {0}, 1, 2},
    {"shrinkage", DIM_LOG, 1e-3, 1, 0, {0}, 1, 2},
    {"scaling", DIM_CHOICE, 0, 0, 0, {"none", "range", "variance"}, 0, 0},
    {0},
};

static void
linear_costs(double features, double penalty, double *costs)
{
    costs[0] = 0.3 + 0.3 * num_exp(-features / 16) + penalty;
    costs[1] = 0.02 + 0.002 * features;
}

static void
forest_costs(double trees, double depth, double penalty, double *costs)
{
    costs[0] =
        0.16 + 0.3 * num_exp(-trees / 80) + 0.3 * num_exp(-depth / 3) + penalty;
    costs[1] = 0.05 + trees * depth / 12000;
}

static void
boosting_costs(double rounds, double penalty, double *costs)
{
    costs[0] = 0.1 + 0.5 * num_exp(-rounds / 200) + penalty;
    costs[1] = 0.25 + 0.001 * rounds;
}

/* Latency against error: each model is best on a part of the front. */
static void
branches(const struct multi *m, const struct point *p, double *costs,
         double *beyond)
{
    double penalty = wrong(m, p, SCALING), a;

    (void)beyond;
    switch (p->option[MODEL]) {
    case 0:
        a = away(m, p, LASSO);
        linear_costs(p->value[FEATURES], penalty + 0.4 * a * a, costs);
        return;
    case 1:
        a = away(m, p, LEAF);
        forest_costs(p->value[TREES], p->value[DEPTH], penalty + 0.4 * a * a,
                     costs);
        return;
    default:
        a = away(m, p, SHRINKAGE) + 0.4 * (p->unit[ROUNDS] - 0.5);
        boosting_costs(p->value[ROUNDS],
                       penalty + 0.4 * (1 - num_exp(-20 * a * a)), costs);
    }
}

static void
branches_list(const struct multi *m, double *costs, size_t *n)
{
    (void)m;
    for (int features = 1; features < 65; features++)
        linear_costs(features, 0, costs + 2 * (*n)++);
    for (int trees = 10; trees < 510; trees++)
        for (int depth = 2; depth < 17; depth++)
            forest_costs(trees, depth, 0, costs + 2 * (*n)++);
    for (int rounds = 10; rounds <= 1000; rounds++)
        boosting_costs(rounds, 0, costs + 2 * (*n)++);
}

#define CODES 6
#define LETTERS 5

static const struct dim codes_dims[] = {
    {"first", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d", "e"}, 0, 0},
    {"second", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d", "e"}, 0, 0},
    {"third", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d", "e"}, 0, 0},
    {"fourth", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d", "e"}, 0, 0},
    {"fifth", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d", "e"}, 0, 0},
    {"sixth", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d", "e"}, 0, 0},
    {"x", DIM_UNIFORM, 0, 1, 0, {0}, 0, 0},
    {0},
};

/* Each letter costs something of three things, and so does each next to
 * another. */
static void
codes_costs(const struct multi *m, const int *letters, double *costs)
{
    for (size_t k = 0; k < 3; k++) {
        costs[k] = 0;
        for (size_t i = 0; i < CODES; i++) {
            uint32_t draw =
                6000 + (uint32_t)((k * CODES + i) * 64) + (uint32_t)letters[i];

            costs[k] += random_uniform(&m->draws, draw) / CODES;
            if (i == 0)
                continue;
            draw += 8 + (uint32_t)(letters[i - 1] * 8);
            costs[k] += 0.4 * random_uniform(&m->draws, draw) / CODES;
        }
    }
}

static void
codes(const struct multi *m, const struct point *p, double *costs,
      double *beyond)
{
    double a = away(m, p, CODES);

    (void)beyond;
    codes_costs(m, p->option, costs);
    for (size_t k = 0; k < 3; k++)
        costs[k] += a * a;
}

static void
codes_list(const struct multi *m, double *costs, size_t *n)
{
    int letters[CODES];

    for (int all = 0; all < 15625; all++) {
        for (int i = 0, rest = all; i < CODES; i++, rest /= LETTERS)
            letters[i] = rest % LETTERS;
        codes_costs(m, letters, costs + 3 * (*n)++);
    }
}

/* ---- all ---- */

static const struct kind kinds[] = {
    {"zdt1", "zdt", thirty_dims, 2, {11, 11}, 121 - 1 / 3.0, zdt1, NULL, false},
    {"zdt2", "zdt", thirty_dims, 2, {11, 11}, 121 - 2 / 3.0, zdt2, NULL, false},
    {"zdt3",
     "zdt",
     thirty_dims,
     2,
     {11, 11},
     128.77811613069077,
     zdt3,
     NULL,
     false},
    {"zdt4", "zdt", zdt4_dims, 2, {1.1, 100}, 110 - 1 / 3.0, zdt4, NULL, false},
    {"zdt6",
     "zdt",
     ten_dims,
     2,
     {11, 11},
     117.51820185806324,
     zdt6,
     NULL,
     false},
    {"dtlz2_m2",
     "dtlz",
     eleven_dims,
     2,
     {1.1, 1.1},
     0.4246018366025519,
     dtlz2,
     NULL,
     false},
    {"dtlz2_m3",
     "dtlz",
     twelve_dims,
     3,
     {1.1, 1.1, 1.1},
     0.8074012244017016,
     dtlz2,
     NULL,
     false},
    {"dtlz2_m4",
     "dtlz",
     thirteen_dims,
     4,
     {1.1, 1.1, 1.1, 1.1},
     1.155674862465958,
     dtlz2,
     NULL,
     false},
    {"dtlz7_m2",
     "dtlz",
     many_dims,
     2,
     {15, 15},
     189.43077347548,
     dtlz7,
     NULL,
     false},
    {"dtlz7_m3",
     "dtlz",
     many2_dims,
     3,
     {15, 15, 15},
     2757.9232042644,
     dtlz7,
     NULL,
     false},
    {"dtlz7_m4",
     "dtlz",
     many3_dims,
     4,
     {15, 15, 15, 15},
     40115.77209595,
     dtlz7,
     NULL,
     false},
    {"c2dtlz2",
     "mo_limited",
     eleven_dims,
     2,
     {1.1, 1.1},
     0.38233360432,
     c2dtlz2,
     NULL,
     true},
    {"mo_network",
     "mo_mixed",
     network_dims,
     2,
     {0.6, 1},
     0,
     network,
     network_list,
     false},
    {"mo_memory",
     "mo_limited",
     network_dims,
     2,
     {0.6, 1},
     0,
     memory,
     memory_list,
     true},
    {"mo_branches",
     "mo_nested",
     branches_dims,
     2,
     {0.7, 1},
     0,
     branches,
     branches_list,
     false},
    {"mo_codes",
     "mo_mixed",
     codes_dims,
     3,
     {0.8, 0.8, 0.8},
     0,
     codes,
     codes_list,
     false},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

const char *
multi_name(size_t index)
{
    return index < N_KINDS ? kinds[index].name : NULL;
}

const char *
multi_family(size_t index)
{
    return index < N_KINDS ? kinds[index].family : NULL;
}

static void
draw_best(struct multi *m, size_t i)
{
    const struct dim *d = &m->kind->dims[i];
    double u = random_uniform(&m->draws, (uint32_t)i);

    if (d->kind == DIM_CHOICE) {
        m->best.option[i] = (int)(u * (double)dims_options(d));
        return;
    }
    m->best.value[i] = dims_value(d, 0.2 + 0.6 * u);
    m->best.unit[i] = dims_unit(d, m->best.value[i]);
}

/* -1: out of memory. */
static int
find_ideal(struct multi *m)
{
    const struct kind *k = m->kind;
    double *costs = calloc(LIST_MAX * k->n_costs, sizeof *costs);
    size_t n = 0;
    int rc = -1;

    if (costs != NULL) {
        k->list(m, costs, &n);
        rc = hypervolume(costs, n, k->n_costs, k->reference, &m->ideal);
    }
    free(costs);
    return rc;
}

struct multi *
multi_new(const char *name, uint64_t instance)
{
    struct multi *m;
    size_t at = 0;

    while (at < N_KINDS && strcmp(kinds[at].name, name) != 0)
        at++;
    m = at < N_KINDS ? calloc(1, sizeof *m) : NULL;
    if (m == NULL)
        return NULL;
    m->kind = &kinds[at];
    m->n_dims = dims_count(m->kind->dims);
    m->draws = random_stream(instance, RANDOM_TEST, at, 2);
    for (size_t i = 0; i < m->n_dims; i++)
        draw_best(m, i);
    m->ideal = m->kind->ideal;
    if (m->kind->list != NULL && find_ideal(m) != 0) {
        free(m);
        return NULL;
    }
    return m;
}

void
multi_free(struct multi *m)
{
    free(m);
}

const struct dim *
multi_dims(const struct multi *m)
{
    return m->kind->dims;
}

size_t
multi_n_costs(const struct multi *m)
{
    return m->kind->n_costs;
}

const double *
multi_reference(const struct multi *m)
{
    return m->kind->reference;
}

double
multi_ideal(const struct multi *m)
{
    return m->ideal;
}

bool
multi_is_limited(const struct multi *m)
{
    return m->kind->is_limited;
}

void
multi_values(const struct multi *m, const struct point *p, double *costs,
             double *beyond)
{
    *beyond = 0;
    m->kind->values(m, p, costs, beyond);
}
