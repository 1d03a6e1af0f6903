/* SPDX-License-Identifier: MIT */
/* DESIGN
 * A name is that of a BBOB function, of a synthetic problem or of one with
 * several costs.  The first two may end in _SPOILER: what then happens to the
 * value of a trial on its way to the tuner.
 */
#include "problem.h"

#include "bbob.h"
#include "core/buf.h"
#include "core/err.h"
#include "dims.h"
#include "multi.h"
#include "numerics/elementary.h"
#include "numerics/random.h"
#include "synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spoiler;

struct problem {
    struct bbob *bbob; /* or NULL, and a synth or a multi */
    struct dim bbob_dims[BBOB_DIMS_MAX + 1];
    char names[BBOB_DIMS_MAX][16];
    struct synth *synth;
    struct multi *multi;
    const struct dim *dims;
    struct point best;
    const struct spoiler *spoiler; /* or NULL */
    uint64_t seed;
};

/* ---- spoilers ---- */

/* `r` is the trial's own; `excess` is value - optimum. */
struct spoiler {
    const char *name;
    void (*spoil)(const struct problem *p, const struct random_stream *r,
                  const struct point *at, double excess, struct outcome *out);
    double alpha, beta;
};

/* The three noise models of the BBOB suite, and how strong they are there
 * (Hansen, Finck, Ros, Auger, INRIA RR-6869, 2009). */
static void
observe(const struct problem *p, double excess, double noisy,
        struct outcome *out)
{
    if (excess >= 1e-8)
        out->observed = problem_optimum(p) + noisy + 1.01e-8;
}

static void
gauss(const struct problem *p, const struct random_stream *r,
      const struct point *at, double excess, struct outcome *out)
{
    (void)at;
    observe(p, excess, excess * num_exp(p->spoiler->beta * random_normal(r, 0)),
            out);
}

/* Alpha is what is added to 1 / dimensions, times beta. */
static void
uniform(const struct problem *p, const struct random_stream *r,
        const struct point *at, double excess, struct outcome *out)
{
    double beta = p->spoiler->beta;
    double alpha = beta * (0.49 + 1 / (double)dims_count(p->dims));
    double high = num_pow(1e9 / (excess + 1e-99), alpha * random_open(r, 0));

    (void)at;
    observe(p, excess,
            excess * num_pow(random_open(r, 1), beta) * fmax(1, high), out);
}

static void
cauchy(const struct problem *p, const struct random_stream *r,
       const struct point *at, double excess, struct outcome *out)
{
    double far = random_normal(r, 0) / (fabs(random_normal(r, 1)) + 1e-199);

    (void)at;
    far = random_uniform(r, 2) < p->spoiler->beta ? far : 0;
    observe(p, excess, excess + p->spoiler->alpha * fmax(0, 1000 + far), out);
}

/* An error rate of 5 % at the optimum, observed on 100 to 500 examples. */
static void
binomial(const struct problem *p, const struct random_stream *r,
         const struct point *at, double excess, struct outcome *out)
{
    struct random_stream set = random_stream(p->seed, RANDOM_TEST, 0, 12);
    uint32_t n = 100 + (uint32_t)(401 * random_uniform(&set, 0)), wrong = 0;
    double rate = 1 - 0.95 * num_exp(-excess);

    (void)at;
    for (uint32_t i = 0; i < n; i++)
        wrong += random_uniform(r, i) < rate;
    out->observed = wrong / (double)n;
}

/* Half the space fails: all beyond a plane through the optimum. */
static void
edge(const struct problem *p, const struct random_stream *r,
     const struct point *at, double excess, struct outcome *out)
{
    struct random_stream plane = random_stream(p->seed, RANDOM_TEST, 0, 13);
    double beyond = 0;

    (void)r;
    (void)excess;
    for (size_t i = 0; i < dims_count(p->dims); i++)
        if ((at->active >> i & 1) != 0 && p->dims[i].kind != DIM_CHOICE)
            beyond += random_normal(&plane, (uint32_t)i) *
                      (at->unit[i] - p->best.unit[i]);
    out->failed = beyond > 0;
}

static void
chance(const struct problem *p, const struct random_stream *r,
       const struct point *at, double excess, struct outcome *out)
{
    (void)p;
    (void)at;
    (void)excess;
    out->failed = random_uniform(r, 0) < 0.1;
}

static const struct spoiler spoilers[] = {
    {"gauss_moderate", gauss, 0, 0.01},
    {"gauss_severe", gauss, 0, 1},
    {"uniform_moderate", uniform, 0, 0.01},
    {"uniform_severe", uniform, 0, 1},
    {"cauchy_moderate", cauchy, 0.01, 0.05},
    {"cauchy_severe", cauchy, 1, 0.2},
    {"binomial", binomial, 0, 0},
    {"edge", edge, 0, 0},
    {"chance", chance, 0, 0},
};

#define N_SPOILERS (sizeof spoilers / sizeof spoilers[0])

/* Cuts it off; NULL: the name has none. */
static const struct spoiler *
cut_spoiler(char *name)
{
    for (size_t i = 0; i < N_SPOILERS; i++) {
        size_t len = strlen(name), tail = strlen(spoilers[i].name);

        if (len > tail + 1 && name[len - tail - 1] == '_' &&
            strcmp(name + len - tail, spoilers[i].name) == 0) {
            name[len - tail - 1] = '\0';
            return &spoilers[i];
        }
    }
    return NULL;
}

/* ---- the list ---- */

static const int bbob_dims[] = {2, 5, 10, 20, 40};

#define N_BBOB_DIMS (sizeof bbob_dims / sizeof bbob_dims[0])
#define N_BBOB 12 /* for each: the odd numbers from 1 to 23 */

/* Each of the bases with each of the spoilers. */
static const struct {
    const char *family, *bases[9], *spoilers[4];
} spoiled[] = {
    {"noisy",
     {"bbob_f1_d5", "bbob_f9_d5"},
     {"gauss_moderate", "uniform_moderate", "cauchy_moderate"}},
    {"noisy",
     {"bbob_f1_d5", "bbob_f9_d5", "bbob_f17_d5", "bbob_f21_d5"},
     {"gauss_severe", "uniform_severe", "cauchy_severe"}},
    {"binomial", {"network", "forest", "grid", "codes"}, {"binomial"}},
    {"crashes",
     {"bbob_f1_d5", "bbob_f9_d5", "bbob_f17_d5", "bbob_f21_d5", "network",
      "grid", "kernels", "pipeline"},
     {"edge"}},
    {"crashes", {"bbob_f9_d5", "network", "kernels"}, {"chance"}},
};

static int
list_spoiled(size_t index, char *name, char *family)
{
    for (size_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; i++)
        for (size_t b = 0; spoiled[i].bases[b] != NULL; b++)
            for (size_t s = 0; spoiled[i].spoilers[s] != NULL; s++) {
                if (index-- > 0)
                    continue;
                snprintf(name, PROBLEM_NAME_MAX, "%s_%s", spoiled[i].bases[b],
                         spoiled[i].spoilers[s]);
                snprintf(family, PROBLEM_NAME_MAX, "%s", spoiled[i].family);
                return 0;
            }
    return -1;
}

int
problem_list(size_t index, char name[PROBLEM_NAME_MAX],
             char family[PROBLEM_NAME_MAX])
{
    if (index < N_BBOB * N_BBOB_DIMS) {
        int d = bbob_dims[index / N_BBOB];

        snprintf(name, PROBLEM_NAME_MAX, "bbob_f%d_d%d",
                 (int)(index % N_BBOB) * 2 + 1, d);
        snprintf(family, PROBLEM_NAME_MAX, "bbob_d%d", d);
        return 0;
    }
    index -= N_BBOB * N_BBOB_DIMS;
    for (size_t at = 0; synth_name(at) != NULL; at++) {
        if (index-- > 0)
            continue;
        snprintf(name, PROBLEM_NAME_MAX, "%s", synth_name(at));
        snprintf(family, PROBLEM_NAME_MAX, "%s", synth_family(at));
        return 0;
    }
    return list_spoiled(index, name, family);
}

/* ---- instances ---- */

static void
make_bbob(struct problem *p, const char *name)
{
    int number, d, end = 0;

    if (sscanf(name, "bbob_f%d_d%d%n", &number, &d, &end) != 2 ||
        name[end] != '\0' || d < 2 || d > BBOB_DIMS_MAX)
        return;
    p->bbob = bbob_new(number, (size_t)d, p->seed + 1);
    if (p->bbob == NULL)
        return;
    for (int i = 0; i < d; i++) {
        double x = bbob_optimal(p->bbob)[i];

        snprintf(p->names[i], sizeof p->names[i], "x%d", i);
        p->bbob_dims[i] =
            (struct dim){.name = p->names[i], .low = -5, .high = 5};
        p->best.value[i] = x;
        p->best.unit[i] = dims_unit(&p->bbob_dims[i], x);
    }
    p->dims = p->bbob_dims;
}

static void
make_synth(struct problem *p, const char *name)
{
    p->synth = synth_new(name, p->seed);
    if (p->synth == NULL)
        return;
    p->dims = synth_dims(p->synth);
    p->best = *synth_optimal(p->synth);
}

static void
make_multi(struct problem *p, const char *name)
{
    p->multi = multi_new(name, p->seed);
    if (p->multi != NULL)
        p->dims = multi_dims(p->multi);
}

struct problem *
problem_new(const char *name, uint64_t seed, struct err *err)
{
    struct problem *p = calloc(1, sizeof *p);
    char base[PROBLEM_NAME_MAX];

    if (p == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    p->seed = seed;
    snprintf(base, sizeof base, "%s", name);
    p->spoiler = cut_spoiler(base);
    make_bbob(p, base);
    if (p->bbob == NULL)
        make_synth(p, base);
    if (p->dims == NULL && p->spoiler == NULL)
        make_multi(p, base);
    if (p->dims == NULL) {
        err_set(err, ERR_INPUT, "'%s' is no problem", name);
        problem_free(p);
        return NULL;
    }
    return p;
}

void
problem_free(struct problem *p)
{
    if (p == NULL)
        return;
    bbob_free(p->bbob);
    synth_free(p->synth);
    multi_free(p->multi);
    free(p);
}

void
problem_write_space(const struct problem *p, struct buf *out)
{
    dims_write_space(p->dims, out);
}

int
problem_run(const struct problem *p, uint64_t trial, struct jval parameters,
            struct outcome *out, struct err *err)
{
    struct random_stream r = random_stream(p->seed, RANDOM_TEST, trial, 11);
    struct point at;

    if (dims_read(p->dims, parameters, &at, err) != 0)
        return -1;
    *out = (struct outcome){.failed = false};
    if (p->multi != NULL)
        multi_values(p->multi, &at, out->costs, &out->beyond);
    else
        out->value = p->synth != NULL ? synth_value(p->synth, &at)
                                      : bbob_value(p->bbob, at.value);
    out->observed = out->value;
    if (p->spoiler != NULL)
        p->spoiler->spoil(p, &r, &at, out->value - problem_optimum(p), out);
    return 0;
}

double
problem_optimum(const struct problem *p)
{
    return p->bbob != NULL ? bbob_optimum(p->bbob) : 0;
}

size_t
problem_n_costs(const struct problem *p)
{
    return p->multi != NULL ? multi_n_costs(p->multi) : 1;
}

const double *
problem_reference(const struct problem *p)
{
    return p->multi != NULL ? multi_reference(p->multi) : NULL;
}

double
problem_ideal(const struct problem *p)
{
    return p->multi != NULL ? multi_ideal(p->multi) : 0;
}

void
problem_write_objectives(const struct problem *p, struct buf *out)
{
    buf_add_text(out, "{\"objectives\": [");
    for (size_t i = 0; i < problem_n_costs(p); i++) {
        buf_printf(out,
                   "%s{\"name\": \"f%zu\", \"direction\": \"minimize\", "
                   "\"reference\": ",
                   i > 0 ? ", " : "", i);
        json_write_double(out, problem_reference(p)[i]);
        buf_add_text(out, "}");
    }
    buf_add_text(out, "]");
    if (multi_is_limited(p->multi))
        buf_add_text(out, ", \"resultConstraints\": [\"beyond <= 0\"]");
    buf_add_text(out, "}");
}

void
problem_write_costs(const struct problem *p, const struct outcome *of,
                    struct buf *out)
{
    for (size_t i = 0; i < problem_n_costs(p); i++) {
        buf_printf(out, "%s\"f%zu\": ", i > 0 ? ", " : "{", i);
        json_write_double(out, of->costs[i]);
    }
    buf_add_text(out, ", \"beyond\": ");
    json_write_double(out, of->beyond);
    buf_add_text(out, "}");
}

void
problem_write_optimum(const struct problem *p, struct buf *out)
{
    dims_write_point(p->dims, &p->best, out);
}
