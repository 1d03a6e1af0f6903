/* SPDX-License-Identifier: MIT */
/* The tuner `cmaes`: cmaes.h behind the plugin interface. */
#include "cmaes/cmaes.h"
#include "cmaes/save.h"
#include "cmaes/space.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cmaes_tuner {
    const struct tp_host *host;
    struct cmaes *search; /* NULL before space() */
    struct cmaes_options options;
    bool maximizes;
};

static const struct tp_arg args[] = {
    TP_MODE("minimize", "whether larger or smaller results are better"),
    TP_SEED("seed of the random numbers"),
    TP_INT("population", 0, 0, 10000,
           "results between two moves of the distribution; 0: 4 + 3 "
           "ln(parameters)"),
    TP_DOUBLE("sigma", 0.3, 1e-6, 10,
              "the first standard deviation, in ranges of a parameter"),
    TP_ONE_OF("restarts", "ipop", "none|ipop|bipop",
              "what follows when the search has converged: nothing, twice the "
              "population, or that and small ones in turn"),
    TP_BOOL("surrogate", true,
            "choose each point among several by a model of the results"),
};
enum { MODE, SEED, POPULATION, SIGMA, RESTARTS, SURROGATE, N_ARGS };

static void *
create(const struct tp_host *host)
{
    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->key()");
    return tp_new(host, sizeof(struct cmaes_tuner));
}

static void
destroy(void *vself)
{
    struct cmaes_tuner *self = vself;

    cmaes_free(self->search);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    static const char *const names[] = {"none", "ipop", "bipop"};
    struct cmaes_tuner *self = vself;

    (void)n;
    self->maximizes = tp_maximizes(&values[MODE]);
    self->options.population = (size_t)values[POPULATION].integer;
    if (self->options.population == 1)
        return tp_error(self->host,
                        "population is 1, expected 0 or at least 2");
    self->options.sigma = values[SIGMA].number;
    self->options.surrogate = values[SURROGATE].integer != 0;
    for (int i = 0; i < 3; i++)
        if (strcmp(values[RESTARTS].text, names[i]) == 0)
            self->options.restarts = (enum cmaes_restarts)i;
    return TP_OK;
}

/* What was learnt of another space is let go. */
static int
space(void *vself, const struct tp_space *s)
{
    struct cmaes_tuner *self = vself;
    const struct tp_host *host = self->host;
    const struct cmaes_services services = {host->ctx, host->bits, host->key};
    struct cmaes_dim *dims = calloc(s->n_dims + 1, sizeof *dims);
    struct cmaes *search = NULL;

    if (dims != NULL) {
        for (size_t i = 0; i < s->n_dims; i++)
            dims[i] = cmaes_dim_of(TP_DIM(s, i));
        search = cmaes_new(dims, s->n_dims, &self->options, &services);
    }
    free(dims);
    if (search == NULL)
        return tp_out_of_memory(self->host);
    cmaes_free(self->search);
    self->search = search;
    return TP_OK;
}

static void
explain(const struct cmaes_tuner *self)
{
    const struct tp_host *host = self->host;
    struct cmaes_story s;

    if (!tp_explains(host))
        return;
    s = cmaes_story(self->search);
    if (isnan(s.gain))
        tp_explain(host,
                   "drawn from the distribution of generation %llu, "
                   "whose step is %.3g of the range",
                   (unsigned long long)s.generation, s.sigma);
    else
        tp_explain(host,
                   "the model of %zu results expects most of it among the "
                   "points it was shown (logarithm of the improvement, in "
                   "standard deviations of the results: %.3g)",
                   s.modelled, s.gain);
    tp_explain(host,
               "%zu of %zu results have come for generation %llu, after "
               "%llu restarts",
               s.arrived, s.population, (unsigned long long)s.generation + 1,
               (unsigned long long)s.restart);
    if (s.repeated > 0)
        tp_explain(host, "%llu before it were left out: they had been tried",
                   (unsigned long long)s.repeated);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct cmaes_tuner *self = vself;

    if (cmaes_ask(self->search, id, out->x) != 0)
        return tp_out_of_memory(self->host);
    explain(self);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct cmaes_tuner *self = vself;
    double value = self->maximizes ? -result->value : result->value;
    enum cmaes_class class =
        result->how == TP_RESULT_STOPPED ? CMAES_CENSORED : CMAES_FINAL;

    return tp_ok_or_memory(
        self->host, cmaes_tell(self->search, id == TP_NO_ID ? CMAES_NO_ID : id,
                               x, class, value));
}

/* One that succeeded may still have its result to come. */
static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct cmaes_tuner *self = vself;

    (void)x;
    if (how == TP_ENDED_SUCCEEDED)
        return TP_OK;
    if (cmaes_lost(self->search, id,
                   how == TP_ENDED_FAILED || how == TP_ENDED_STOPPED) != 0)
        return tp_out_of_memory(self->host);
    return TP_OK;
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct cmaes_tuner *self = vself;

    return tp_ok_or_memory(self->host,
                           cmaes_score(self->search, points, n, out));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct cmaes_tuner *self = vself;

    cmaes_save(self->search, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct cmaes_tuner *self = vself;

    return tp_ok_unless(self->host, cmaes_load(self->search, source));
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "cmaes",
    .doc = "moves a normal distribution, and a model, to better results",
    .version = 1,
    .flags = TP_TUNER_DEDUP,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = save,
    .load = load,
    .score = score,
};
TP_REGISTER_TUNER(tuner)
