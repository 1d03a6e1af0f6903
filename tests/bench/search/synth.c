/* SPDX-License-Identifier: MIT */
/* DESIGN
 * A problem is a table of dimensions and one function over a point.  `away(i)`
 * is how far dimension i is from its optimum (0 ... 1, signed), `cost(i)` the
 * penalty of the option chosen for i, drawn for each instance and 0 for the
 * right one; all terms are made of these, so that the optimum has value 0.
 */
#include "synth.h"

#include "dims.h"
#include "numerics/elementary.h"
#include "numerics/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct synth {
    const struct dim *dims;
    double (*value)(const struct synth *s, const struct point *p);
    size_t n;
    struct point best;
    double penalty[DIMS_MAX][DIMS_OPTIONS_MAX];
    double weight[DIMS_MAX];
    struct random_stream pairs;
};

/* ---- terms ---- */

static double
away(const struct synth *s, const struct point *p, size_t i)
{
    return p->unit[i] - s->best.unit[i];
}

static double
bowl(const struct synth *s, const struct point *p, size_t i)
{
    double a = away(s, p, i);

    return s->weight[i] * a * a;
}

static double
cost(const struct synth *s, const struct point *p, size_t i)
{
    return s->penalty[i][p->option[i]];
}

/* A narrow valley along which two parameters may be traded, and a bowl that
 * leads along it. */
static double
valley(const struct synth *s, const struct point *p, size_t i, size_t k,
       double slope, double sharp)
{
    double a = away(s, p, i), b = away(s, p, k), across = a + slope * b;

    return 1 - num_exp(-sharp * across * across - (a * a + b * b));
}

/* Of two options together; 0 where both are right. */
static double
pair(const struct synth *s, const struct point *p, size_t i, size_t k)
{
    uint32_t draw = (uint32_t)((i * 24 + k) * 256) +
                    (uint32_t)(p->option[i] * 16 + p->option[k]);

    if (p->option[i] == s->best.option[i] && p->option[k] == s->best.option[k])
        return 0;
    return random_uniform(&s->pairs, draw);
}

/* ---- flat spaces ---- */

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

static double
network(const struct synth *s, const struct point *p)
{
    double y = 0.6 * valley(s, p, 0, 1, -0.5, 25);

    y += 0.4 * valley(s, p, 4, 5, 0.7, 6);
    y += 0.3 * fabs(away(s, p, 2) + 0.6 * away(s, p, 3)) + bowl(s, p, 3);
    return y + (0.5 + y) * (cost(s, p, 6) + cost(s, p, 7)) +
           0.2 * pair(s, p, 6, 7);
}

static const struct dim forest_dims[] = {
    {"trees", DIM_INTEGER, 10, 510, 0, {0}, 0, 0},
    {"depth", DIM_INTEGER, 2, 33, 0, {0}, 0, 0},
    {"leaf", DIM_INTEGER, 1, 51, 0, {0}, 0, 0},
    {"split", DIM_INTEGER, 2, 41, 0, {0}, 0, 0},
    {"features", DIM_GRID, 0.05, 1, 0.05, {0}, 0, 0},
    {"samples", DIM_GRID, 0.1, 1, 0.1, {0}, 0, 0},
    {"criterion", DIM_CHOICE, 0, 0, 0, {"gini", "entropy", "loss"}, 0, 0},
    {0},
};

static double
forest(const struct synth *s, const struct point *p)
{
    double trees = p->unit[0] - s->best.unit[0], y;

    y = trees < 0 ? 0.8 * trees * trees : 0.05 * trees;
    y += 0.8 * valley(s, p, 1, 2, 0.8, 10) + bowl(s, p, 3);
    y += 0.5 * valley(s, p, 4, 5, 0.4, 4);
    return y + 0.5 * cost(s, p, 6);
}

static const struct dim grid_dims[] = {
    {"a", DIM_GRID, -5, 5, 0.5, {0}, 0, 0},
    {"b", DIM_GRID, 0, 100, 5, {0}, 0, 0},
    {"c", DIM_GRID, 0, 1, 0.02, {0}, 0, 0},
    {"d", DIM_LOG_GRID, 1, 4096, 1, {0}, 0, 0},
    {"e", DIM_UNIFORM, -1, 1, 0, {0}, 0, 0},
    {"mode", DIM_CHOICE, 0, 0, 0, {"p", "q", "r", "s", "t"}, 0, 0},
    {0},
};

/* An ellipsoid whose axes lie askew, and shallow waves of one kind a mode. */
static double
grid(const struct synth *s, const struct point *p)
{
    double y = cost(s, p, 5), wave = 0;

    for (size_t i = 0; i < 5; i++) {
        double along = away(s, p, i) - 0.6 * away(s, p, (i + 1) % 5);

        y += num_pow(8, (double)i / 4) * along * along * s->weight[i];
        wave += 1 - cos(12 * away(s, p, i));
    }
    return y + 0.03 * wave;
}

static const struct dim codes_dims[] = {
    {"first", DIM_CHOICE, 0, 0, 0, {"a", "b", "c"}, 0, 0},
    {"second", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d"}, 0, 0},
    {"third", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d", "e"}, 0, 0},
    {"fourth",
     DIM_CHOICE,
     0,
     0,
     0,
     {"a", "b", "c", "d", "e", "f", "g", "h"},
     0,
     0},
    {"fifth", DIM_CHOICE, 0, 0, 0, {"no", "yes"}, 0, 0},
    {"x", DIM_UNIFORM, 0, 1, 0, {0}, 0, 0},
    {"y", DIM_LOG, 1e-3, 1, 0, {0}, 0, 0},
    {0},
};

static double
codes(const struct synth *s, const struct point *p)
{
    double y = bowl(s, p, 5) + bowl(s, p, 6);

    for (size_t i = 0; i < 5; i++) {
        y += cost(s, p, i);
        for (size_t k = 0; k < i; k++)
            y += 0.25 * pair(s, p, i, k);
    }
    return y;
}

/* ---- conditional spaces ---- */

static const struct dim kernels_dims[] = {
    {"kernel", DIM_CHOICE, 0, 0, 0, {"linear", "radial", "power"}, 0, 0},
    {"cost", DIM_LOG, 1e-3, 1e4, 0, {0}, 1, 0},
    {"cost", DIM_LOG, 1e-3, 1e4, 0, {0}, 1, 1},
    {"width", DIM_LOG, 1e-5, 1e2, 0, {0}, 1, 1},
    {"cost", DIM_LOG, 1e-3, 1e4, 0, {0}, 1, 2},
    {"degree", DIM_INTEGER, 2, 7, 0, {0}, 1, 2},
    {"offset", DIM_UNIFORM, 0, 10, 0, {0}, 1, 2},
    {"scaling", DIM_CHOICE, 0, 0, 0, {"none", "range", "variance"}, 0, 0},
    {0},
};

static double
kernels(const struct synth *s, const struct point *p)
{
    double y = 0;

    switch (p->option[0]) {
    case 0:
        y = 0.3 * fabs(away(s, p, 1));
        break;
    case 1:
        y = 0.6 * valley(s, p, 2, 3, 0.9, 40);
        break;
    case 2:
        y = 0.4 * valley(s, p, 4, 6, 0.5, 10) + 0.2 * fabs(away(s, p, 5));
        break;
    }
    return y + 0.4 * cost(s, p, 0) + (0.2 + y) * cost(s, p, 7);
}

static const struct dim boosting_dims[] = {
    {"rounds", DIM_LOG_GRID, 8, 2048, 1, {0}, 0, 0},
    {"booster", DIM_CHOICE, 0, 0, 0, {"line", "tree", "drop"}, 0, 0},
    {"rate", DIM_LOG, 1e-3, 1, 0, {0}, 2, 1},
    {"depth", DIM_GRID, 1, 15, 1, {0}, 2, 1},
    {"rows", DIM_UNIFORM, 0.1, 1, 0, {0}, 2, 1},
    {"columns", DIM_UNIFORM, 0.1, 1, 0, {0}, 2, 1},
    {"rate", DIM_LOG, 1e-3, 1, 0, {0}, 2, 2},
    {"depth", DIM_GRID, 1, 15, 1, {0}, 2, 2},
    {"drop", DIM_UNIFORM, 0, 1, 0, {0}, 2, 2},
    {"skip", DIM_UNIFORM, 0, 1, 0, {0}, 2, 2},
    {"lambda", DIM_LOG, 1e-4, 1e3, 0, {0}, 0, 0},
    {0},
};

/* The plain booster is better on average than the others, and never best
 * unless the instance says so. */
static double
boosting(const struct synth *s, const struct point *p)
{
    double y = bowl(s, p, 10) + 0.5 * cost(s, p, 1);

    if (p->option[1] == 0)
        return y + bowl(s, p, 0);
    if (p->option[1] == 1)
        return y + 0.8 * valley(s, p, 2, 0, 0.8, 20) + bowl(s, p, 3) +
               0.5 * valley(s, p, 4, 5, 0.5, 4);
    return y + 0.8 * valley(s, p, 6, 0, 0.8, 20) + bowl(s, p, 7) +
           0.6 * valley(s, p, 8, 9, -0.6, 8);
}

static const struct dim pipeline_dims[] = {
    {"reduce", DIM_CHOICE, 0, 0, 0, {"none", "project", "select"}, 0, 0},
    {"components", DIM_INTEGER, 2, 65, 0, {0}, 1, 1},
    {"threshold", DIM_LOG, 1e-4, 1, 0, {0}, 1, 2},
    {"model", DIM_CHOICE, 0, 0, 0, {"near", "trees", "layers"}, 0, 0},
    {"neighbours", DIM_INTEGER, 1, 51, 0, {0}, 4, 0},
    {"metric", DIM_CHOICE, 0, 0, 0, {"one", "two", "cosine"}, 4, 0},
    {"depth", DIM_INTEGER, 1, 31, 0, {0}, 4, 1},
    {"leaf", DIM_INTEGER, 1, 31, 0, {0}, 4, 1},
    {"hidden", DIM_CHOICE, 0, 0, 0, {"one", "two"}, 4, 2},
    {"units", DIM_LOG_GRID, 8, 512, 8, {0}, 9, 0},
    {"units", DIM_LOG_GRID, 8, 512, 8, {0}, 9, 1},
    {"second", DIM_LOG_GRID, 8, 512, 8, {0}, 9, 1},
    {"rate", DIM_LOG, 1e-5, 1, 0, {0}, 4, 2},
    {0},
};

static double
pipeline(const struct synth *s, const struct point *p)
{
    double y = 0.4 * (cost(s, p, 0) + cost(s, p, 3)) + 0.2 * pair(s, p, 0, 3);

    if (p->option[0] > 0)
        y += bowl(s, p, (size_t)p->option[0]);
    if (p->option[3] == 0)
        return y + bowl(s, p, 4) + 0.3 * cost(s, p, 5);
    if (p->option[3] == 1)
        return y + 0.7 * valley(s, p, 6, 7, 0.7, 15);
    y += 0.3 * cost(s, p, 8);
    if (p->option[8] == 0)
        return y + 0.8 * valley(s, p, 12, 9, 0.4, 20);
    return y + 0.8 * valley(s, p, 12, 10, 0.4, 20) + bowl(s, p, 11);
}

/* ---- what tuners may stumble at ---- */

#define TEN(p) \
    p "0", p "1", p "2", p "3", p "4", p "5", p "6", p "7", p "8", p "9"
#define FIFTY                                            \
    {                                                    \
        TEN("a"), TEN("b"), TEN("c"), TEN("d"), TEN("e") \
    }

static const struct dim zoo_dims[] = {
    {"model", DIM_CHOICE, 0, 0, 0, FIFTY, 0, 0},
    {"learning_rate", DIM_LOG, 1e-5, 1, 0, {0}, 0, 0},
    {"decay", DIM_LOG, 1e-6, 0.1, 0, {0}, 0, 0},
    {"dropout", DIM_UNIFORM, 0, 0.8, 0, {0}, 0, 0},
    {0},
};

static double
zoo(const struct synth *s, const struct point *p)
{
    return cost(s, p, 0) + 0.6 * valley(s, p, 1, 2, 0.7, 15) + bowl(s, p, 3);
}

static const struct dim codebook_dims[] = {
    {"first", DIM_CHOICE, 0, 0, 0, FIFTY, 0, 0},
    {"second", DIM_CHOICE, 0, 0, 0, FIFTY, 0, 0},
    {"x", DIM_UNIFORM, 0, 1, 0, {0}, 0, 0},
    {"y", DIM_LOG, 1e-3, 1, 0, {0}, 0, 0},
    {0},
};

/* Of many options some are nearly right. */
static double
codebook(const struct synth *s, const struct point *p)
{
    double first = cost(s, p, 0), second = cost(s, p, 1);

    return 2 * (first * first + second * second) + bowl(s, p, 2) +
           bowl(s, p, 3);
}

/* Six decades, in each way that users write them. */
#define COUNTS(kind, high, q)                                    \
    {                                                            \
        {"batch", kind, 1, high, q, {0}, 0, 0},                  \
            {"steps", kind, 1, high, q, {0}, 0, 0},              \
            {"units", kind, 1, high, q, {0}, 0, 0},              \
            {"dropout", DIM_UNIFORM, 0, 0.8, 0, {0}, 0, 0}, {0}, \
    }

static const struct dim randint_dims[] = COUNTS(DIM_INTEGER, 1000001, 0);
static const struct dim uniform_dims[] = COUNTS(DIM_UNIFORM, 1e6, 0);
static const struct dim quniform_dims[] = COUNTS(DIM_GRID, 1e6, 1);
static const struct dim qloguniform_dims[] = COUNTS(DIM_LOG_GRID, 1e6, 1);

static double
counts(const struct synth *s, const struct point *p)
{
    return 0.6 * valley(s, p, 0, 1, -0.5, 25) + bowl(s, p, 2) + bowl(s, p, 3);
}

static const struct dim stages_dims[] = {
    {"data", DIM_CHOICE, 0, 0, 0, {"raw", "made"}, 0, 0},
    {"scale", DIM_LOG, 1e-3, 1e3, 0, {0}, 1, 0},
    {"encode", DIM_CHOICE, 0, 0, 0, {"hash", "embed"}, 1, 1},
    {"bits", DIM_INTEGER, 4, 25, 0, {0}, 3, 0},
    {"embed", DIM_CHOICE, 0, 0, 0, {"one", "several"}, 3, 1},
    {"width", DIM_INTEGER, 1, 257, 0, {0}, 5, 0},
    {"mix", DIM_CHOICE, 0, 0, 0, {"sum", "attend"}, 5, 1},
    {"width", DIM_INTEGER, 1, 257, 0, {0}, 7, 0},
    {"heads", DIM_INTEGER, 1, 17, 0, {0}, 7, 1},
    {"dropout", DIM_UNIFORM, 0, 0.8, 0, {0}, 7, 1},
    {"lambda", DIM_LOG, 1e-4, 1e3, 0, {0}, 0, 0},
    {0},
};

/* A tree as wide as deep: forks, row by row, and then a number a leaf. */
#define FORK(name, i)                                                \
    {                                                                \
        name, DIM_CHOICE, 0, 0, 0, {"left", "right"}, ((i) + 1) / 2, \
            ((i) + 1) % 2                                            \
    }
#define LEAF(i)                                                       \
    {                                                                 \
        "x", DIM_UNIFORM, -1, 1, 0, {0}, ((i) + 1) / 2, ((i) + 1) % 2 \
    }

static const struct dim tree_dims[] = {
    FORK("a", 0),  FORK("b", 1),
    FORK("b", 2),  FORK("c", 3),
    FORK("c", 4),  FORK("c", 5),
    FORK("c", 6),  FORK("d", 7),
    FORK("d", 8),  FORK("d", 9),
    FORK("d", 10), FORK("d", 11),
    FORK("d", 12), FORK("d", 13),
    FORK("d", 14), LEAF(15),
    LEAF(16),      LEAF(17),
    LEAF(18),      LEAF(19),
    LEAF(20),      LEAF(21),
    LEAF(22),      LEAF(23),
    LEAF(24),      LEAF(25),
    LEAF(26),      LEAF(27),
    LEAF(28),      LEAF(29),
    LEAF(30),      {"y", DIM_UNIFORM, -1, 1, 0, {0}, 0, 0},
    {0},
};

/* The last dimension is there always, and traded with each number below. */
static double
nest(const struct synth *s, const struct point *p)
{
    double y = 0;

    for (size_t i = 0; i + 1 < s->n; i++) {
        if ((p->active >> i & 1) == 0)
            continue;
        if (s->dims[i].kind == DIM_CHOICE)
            y += 0.5 * cost(s, p, i);
        else
            y += 0.6 * valley(s, p, i, s->n - 1, 0.5, 10);
    }
    return y;
}

/* ---- instances ---- */

static const struct problem_row {
    const char *name, *family;
    const struct dim *dims;
    double (*value)(const struct synth *s, const struct point *p);
} rows[] = {
    {"network", "mixed", network_dims, network},
    {"forest", "mixed", forest_dims, forest},
    {"grid", "mixed", grid_dims, grid},
    {"codes", "mixed", codes_dims, codes},
    {"kernels", "conditional", kernels_dims, kernels},
    {"boosting", "conditional", boosting_dims, boosting},
    {"pipeline", "conditional", pipeline_dims, pipeline},
    {"zoo", "options", zoo_dims, zoo},
    {"codebook", "options", codebook_dims, codebook},
    {"randint", "decades", randint_dims, counts},
    {"uniform", "decades", uniform_dims, counts},
    {"quniform", "decades", quniform_dims, counts},
    {"qloguniform", "decades", qloguniform_dims, counts},
    {"stages", "nests", stages_dims, nest},
    {"tree", "nests", tree_dims, nest},
};

#define N_ROWS (sizeof rows / sizeof rows[0])

const char *
synth_name(size_t index)
{
    return index < N_ROWS ? rows[index].name : NULL;
}

const char *
synth_family(size_t index)
{
    return index < N_ROWS ? rows[index].family : NULL;
}

/* The optimum lies off the edges, where no rule of thumb finds it. */
static void
draw_dim(struct synth *s, const struct random_stream *r, size_t i)
{
    const struct dim *d = &s->dims[i];
    uint32_t draw = (uint32_t)i * 64;

    s->weight[i] = 0.3 + 0.7 * random_uniform(r, draw);
    s->best.active |= (uint64_t)1 << i;
    if (d->kind != DIM_CHOICE) {
        s->best.value[i] =
            dims_value(d, 0.15 + 0.7 * random_uniform(r, draw + 1));
        s->best.unit[i] = dims_unit(d, s->best.value[i]);
        return;
    }
    s->best.option[i] =
        (int)(random_uniform(r, draw + 2) * (double)dims_options(d));
    for (size_t k = 0; k < dims_options(d); k++)
        if ((int)k != s->best.option[i])
            s->penalty[i][k] =
                0.1 + 0.5 * random_uniform(r, draw + 3 + (uint32_t)k);
}

struct synth *
synth_new(const char *name, uint64_t instance)
{
    struct random_stream r;
    struct synth *s;
    size_t at = 0;

    while (at < N_ROWS && strcmp(rows[at].name, name) != 0)
        at++;
    s = at < N_ROWS ? calloc(1, sizeof *s) : NULL;
    if (s == NULL)
        return NULL;
    s->dims = rows[at].dims;
    s->value = rows[at].value;
    s->n = dims_count(s->dims);
    r = random_stream(instance, RANDOM_TEST, at, 0);
    s->pairs = random_stream(instance, RANDOM_TEST, at, 1);
    for (size_t i = 0; i < s->n; i++)
        draw_dim(s, &r, i);
    return s;
}

void
synth_free(struct synth *s)
{
    free(s);
}

const struct dim *
synth_dims(const struct synth *s)
{
    return s->dims;
}

const struct point *
synth_optimal(const struct synth *s)
{
    return &s->best;
}

double
synth_value(const struct synth *s, const struct point *p)
{
    return s->value(s, p);
}
