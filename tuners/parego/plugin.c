/* SPDX-License-Identifier: MIT */
/* The tuner `parego`: parego.h behind the plugin interface. */
#include "cmaes/space.h"
#include "parego/parego.h"
#include "prior/space.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct parego_tuner {
    const struct tp_host *host;
    struct parego *parego; /* NULL before space() */
    struct gp_options options;
    bool maximizes;                         /* where there are no objectives */
    const struct tp_objectives *objectives; /* NULL: there are none */
};

enum { MODE, SEED, STARTUP, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] =
        TP_MODE("minimize", "whether larger or smaller results are better"),
    [SEED] = TP_SEED("seed of the random numbers"),
    [STARTUP] = TP_INT("n_startup_jobs", 10, 2, 1e6,
                       "results before the model begins; before, the prior is "
                       "sampled"),
};

static void *
create(const struct tp_host *host)
{
    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->key()");
    return tp_new(host, sizeof(struct parego_tuner));
}

static void
destroy(void *vself)
{
    struct parego_tuner *self = vself;

    parego_free(self->parego);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct parego_tuner *self = vself;

    (void)n;
    self->maximizes = tp_maximizes(&values[MODE]);
    self->options = (struct gp_options){
        .startup = (size_t)values[STARTUP].integer,
        .growth = PAREGO_GROWTH,
    };
    return TP_OK;
}

static int
objectives(void *vself, const struct tp_objectives *of)
{
    struct parego_tuner *self = vself;

    if (of->n > PAREGO_COSTS_MAX)
        return tp_error(self->host, "%zu objectives, expected at most %d",
                        of->n, PAREGO_COSTS_MAX);
    self->objectives = of;
    self->options.never_apart = of->n > 1;
    return TP_OK;
}

static size_t
n_costs(const struct parego_tuner *self)
{
    return self->objectives == NULL ? 1 : self->objectives->n;
}

/* What was learnt of another space is let go. */
static int
space(void *vself, const struct tp_space *s)
{
    struct parego_tuner *self = vself;
    const struct tp_host *host = self->host;
    const struct gp_services services = {prior_host_random(host), host->key,
                                         host->ctx};
    struct cmaes_dim *axes = calloc(s->n_dims + 1, sizeof *axes);
    struct prior prior = {.dims = NULL};
    struct parego *parego;
    struct gp *gp = NULL;

    if (axes != NULL && prior_of_space(&prior, s) == 0) {
        for (size_t i = 0; i < s->n_dims; i++)
            axes[i] = cmaes_dim_of(TP_DIM(s, i));
        gp = gp_new(&self->options, &services, &prior, axes);
    }
    if (gp == NULL) {
        prior_fini(&prior);
        free(axes);
        return tp_out_of_memory(host);
    }
    parego = parego_new(gp, n_costs(self));
    if (parego == NULL)
        return tp_out_of_memory(host);
    parego_free(self->parego);
    self->parego = parego;
    return TP_OK;
}

/* "accuracy 0.31, latency 0.69": the weights of the last trial. */
static void
explain_weights(const struct parego_tuner *self)
{
    char line[400];
    size_t n = 0;

    for (size_t k = 0; k < self->objectives->n; k++) {
        int more = snprintf(
            line + n, sizeof line - n, "%s%s %.2g", k > 0 ? ", " : "",
            TP_OBJECTIVE(self->objectives, k)->name, self->parego->weights[k]);

        if (more < 0 || (size_t)more >= sizeof line - n)
            break;
        n += (size_t)more;
    }
    tp_explain(self->host, "this trial's weights: %.*s", (int)n, line);
}

static void
explain(const struct parego_tuner *self)
{
    const struct tp_host *host = self->host;
    const struct gp_story *s = &self->parego->gp->story;

    if (s->n_modelled == 0) {
        tp_explain(host,
                   "a draw of the prior: %zu results of the %zu that the "
                   "model begins with",
                   self->parego->n, self->options.startup);
        return;
    }
    if (self->objectives != NULL && tp_explains(host))
        explain_weights(self);
    tp_explain(host,
               "the model of %zu results expects %.3g +- %.3g there, the best "
               "being %.3g, in standard deviations of the weighted results; "
               "their noise is %.3g",
               s->n_modelled, s->mean, s->deviation, s->best, s->noise);
    tp_explain(host, "logarithm of the improvement to expect: %.4g", s->gain);
    if (!isnan(s->feasible))
        tp_explain(host, "that it does not fail is likely by %.3g",
                   s->feasible);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct parego_tuner *self = vself;

    if (parego_ask(self->parego, id, out->x) != 0)
        return tp_out_of_memory(self->host);
    explain(self);
    return TP_OK;
}

/* Less is better of each.  NULL: the trial told of too few. */
static const double *
costs_of(const struct parego_tuner *self, const struct tp_result *result,
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

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct parego_tuner *self = vself;
    double costs[PAREGO_COSTS_MAX];
    enum gp_class class =
        result->how == TP_RESULT_STOPPED ? GP_STOPPED : GP_FINAL;

    double violation = self->objectives == NULL ? 0 : result->violation;

    return tp_ok_or_memory(
        self->host,
        parego_tell(self->parego, id == TP_NO_ID ? GP_NO_ID : id, x, class,
                    costs_of(self, result, costs), violation));
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct parego_tuner *self = vself;
    bool counts = how == TP_ENDED_FAILED || how == TP_ENDED_STOPPED;

    return tp_ok_or_memory(
        self->host,
        parego_lost(self->parego, id, x, counts,
                    how == TP_ENDED_FAILED ? GP_FAILED : GP_STOPPED));
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct parego_tuner *self = vself;

    return tp_ok_or_memory(self->host,
                           parego_score(self->parego, points, n, out));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct parego_tuner *self = vself;

    parego_save(self->parego, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct parego_tuner *self = vself;

    return tp_ok_unless(self->host, parego_load(self->parego, source));
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "parego",
    .doc = "models several objectives as one, weighted anew for each trial "
           "(ParEGO)",
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
    .objectives = objectives,
};
TP_REGISTER_TUNER(tuner)
