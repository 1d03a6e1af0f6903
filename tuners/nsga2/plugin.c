/* SPDX-License-Identifier: MIT */
/* The tuner `nsga2`: nsga2.h behind the plugin interface. */
#include "cmaes/space.h"
#include "nsga2/nsga2.h"
#include "prior/space.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct nsga2_tuner {
    const struct tp_host *host;
    struct nsga2 *nsga2; /* NULL before space() */
    struct nsga2_options options;
    bool maximizes;                         /* where there are no objectives */
    const struct tp_objectives *objectives; /* NULL: there are none */
};

enum {
    MODE,
    SEED,
    POPULATION,
    CROSSOVER,
    CROSSOVER_INDEX,
    MUTATION_INDEX,
    N_ARGS
};

static const struct tp_arg args[N_ARGS] = {
    [MODE] =
        TP_MODE("minimize", "whether larger or smaller results are better, "
                            "where there are no objectives"),
    [SEED] = TP_SEED("seed of the random numbers"),
    [POPULATION] = TP_INT("population_size", 20, 2, 10000,
                          "results that may be parents; as many are sampled "
                          "before there are children"),
    [CROSSOVER] = TP_DOUBLE("crossover_probability", 0.9, 0, 1,
                            "that a child has two parents"),
    [CROSSOVER_INDEX] =
        TP_DOUBLE("crossover_index", 5, 0, 1000,
                  "greater: children are nearer to their parents"),
    [MUTATION_INDEX] = TP_DOUBLE("mutation_index", 5, 0, 1000,
                                 "greater: parameters change less"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct nsga2_tuner));
}

static void
destroy(void *vself)
{
    struct nsga2_tuner *self = vself;

    nsga2_free(self->nsga2);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct nsga2_tuner *self = vself;

    (void)n;
    self->maximizes = tp_maximizes(&values[MODE]);
    self->options = (struct nsga2_options){
        .population = (size_t)values[POPULATION].integer,
        .crossover = values[CROSSOVER].number,
        .crossover_index = values[CROSSOVER_INDEX].number,
        .mutation_index = values[MUTATION_INDEX].number,
    };
    return TP_OK;
}

static int
objectives(void *vself, const struct tp_objectives *of)
{
    struct nsga2_tuner *self = vself;

    if (of->n > NSGA2_COSTS_MAX)
        return tp_error(self->host, "%zu objectives, expected at most %d",
                        of->n, NSGA2_COSTS_MAX);
    self->objectives = of;
    return TP_OK;
}

static size_t
n_costs(const struct nsga2_tuner *self)
{
    return self->objectives == NULL ? 1 : self->objectives->n;
}

/* What was learnt of another space is let go. */
static int
space(void *vself, const struct tp_space *s)
{
    struct nsga2_tuner *self = vself;
    const struct tp_host *host = self->host;
    const struct prior_random random = prior_host_random(host);
    struct cmaes_dim *axes = calloc(s->n_dims + 1, sizeof *axes);
    struct prior prior = {.dims = NULL};
    struct nsga2 *nsga2 = NULL;

    if (axes != NULL && prior_of_space(&prior, s) == 0) {
        for (size_t i = 0; i < s->n_dims; i++)
            axes[i] = cmaes_dim_of(TP_DIM(s, i));
        nsga2 = nsga2_new(&self->options, &random, &prior, axes, n_costs(self));
    }
    if (nsga2 == NULL) {
        prior_fini(&prior);
        free(axes);
        return tp_out_of_memory(host);
    }
    nsga2_free(self->nsga2);
    self->nsga2 = nsga2;
    return TP_OK;
}

#define NAME_MAX_BYTES 32 /* of a trial */

static const char *
name_of(uint64_t id, char text[NAME_MAX_BYTES])
{
    if (id == NSGA2_NO_ID)
        return "an imported result";
    snprintf(text, NAME_MAX_BYTES, "trial %" PRIu64, id);
    return text;
}

static void
explain(const struct nsga2_tuner *self)
{
    const struct tp_host *host = self->host;
    const struct nsga2_story *s = &self->nsga2->story;

    if (!s->is_child)
        tp_explain(host,
                   "a draw of the prior: %zu results of the %zu that may be "
                   "parents",
                   self->nsga2->n, self->options.population);
    else if (s->places[0] == s->places[1])
        tp_explain(host, "%zu parameters changed of %s, place %zu of %zu",
                   s->n_changed,
                   name_of(s->parents[0], (char[NAME_MAX_BYTES]){""}),
                   s->places[0] + 1, self->nsga2->n);
    else
        tp_explain(host,
                   "a child of %s and %s, places %zu and %zu of %zu by front "
                   "and crowding; %zu parameters changed",
                   name_of(s->parents[0], (char[NAME_MAX_BYTES]){""}),
                   name_of(s->parents[1], (char[NAME_MAX_BYTES]){""}),
                   s->places[0] + 1, s->places[1] + 1, self->nsga2->n,
                   s->n_changed);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct nsga2_tuner *self = vself;

    nsga2_ask(self->nsga2, id, out->x);
    explain(self);
    return TP_OK;
}

/* Less is better of each.  NULL: the trial told of too few. */
static const double *
costs_of(const struct nsga2_tuner *self, const struct tp_result *result,
         double *costs)
{
    if (self->objectives == NULL) {
        costs[0] = self->maximizes ? -result->value : result->value;
        return costs;
    }
    if (result->values == NULL)
        return NULL;
    for (size_t k = 0; k < self->objectives->n; k++)
        costs[k] = TP_OBJECTIVE(self->objectives, k)->maximize
                       ? -result->values[k]
                       : result->values[k];
    return costs;
}

/* What was stopped early, or failed, is no parent. */
static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct nsga2_tuner *self = vself;
    double room[NSGA2_COSTS_MAX];
    const double *costs = costs_of(self, result, room);
    double violation = self->objectives == NULL ? 0 : result->violation;

    if (result->how == TP_RESULT_STOPPED || costs == NULL)
        return TP_OK;
    return tp_ok_or_memory(
        self->host, nsga2_tell(self->nsga2, id == TP_NO_ID ? NSGA2_NO_ID : id,
                               x, costs, violation));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct nsga2_tuner *self = vself;

    nsga2_save(self->nsga2, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct nsga2_tuner *self = vself;

    return tp_ok_unless(self->host, nsga2_load(self->nsga2, source));
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "nsga2",
    .doc = "children of the results that few others dominate (NSGA-II)",
    .version = 1,
    .flags = TP_TUNER_DEDUP,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
    .objectives = objectives,
};
TP_REGISTER_TUNER(tuner)
