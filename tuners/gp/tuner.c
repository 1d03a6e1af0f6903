/* SPDX-License-Identifier: MIT */
#include "gp/tuner.h"

#include "cmaes/space.h"
#include "prior/space.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const struct tp_arg gp_args[GP_N_ARGS] = {
    [GP_ARG_MODE] =
        TP_MODE("minimize", "whether larger or smaller results are better"),
    [GP_ARG_SEED] = TP_SEED("seed of the random numbers"),
    [GP_ARG_STARTUP] = TP_INT("n_startup_jobs", 10, 2, 1e6,
                              "results before the model begins; before, the "
                              "prior is sampled"),
};

void *
gp_tuner_create(const struct tp_host *host)
{
    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->key()");
    return tp_new(host, sizeof(struct gp_tuner));
}

void
gp_tuner_destroy(void *vself)
{
    struct gp_tuner *self = vself;

    several_free(self->several);
    free(self);
}

int
gp_tuner_config(void *vself, const struct tp_value *values, size_t n)
{
    struct gp_tuner *self = vself;

    (void)n;
    self->maximizes = tp_maximizes(&values[GP_ARG_MODE]);
    self->options = (struct gp_options){
        .startup = (size_t)values[GP_ARG_STARTUP].integer,
        .growth = GP_GROWTH,
    };
    return TP_OK;
}

int
gp_tuner_objectives(void *vself, const struct tp_objectives *of)
{
    struct gp_tuner *self = vself;

    if (of->n > SEVERAL_COSTS_MAX)
        return tp_error(self->host, "%zu objectives, expected at most %d",
                        of->n, SEVERAL_COSTS_MAX);
    if (of->n > 1 || of->n_limits > 0 || self->by_weights)
        self->objectives = of;
    self->options.never_apart = of->n > 1;
    return TP_OK;
}

/* ---- the search space ---- */

static enum several_rule
rule(const struct gp_tuner *self)
{
    size_t n = self->objectives == NULL ? 1 : self->objectives->n;

    if (self->objectives == NULL && !self->by_weights)
        return SEVERAL_NONE;
    return n == 1 || n > GP_VALUES_MAX || self->by_weights ? SEVERAL_WEIGHTS
                                                           : SEVERAL_VOLUME;
}

static struct gp *
new_gp(const struct gp_tuner *self, const struct tp_space *s)
{
    const struct tp_host *host = self->host;
    const struct gp_services services = {prior_host_random(host), host->key,
                                         host->ctx};
    struct gp_options options = self->options;
    struct cmaes_dim *axes = calloc(s->n_dims + 1, sizeof *axes);
    struct prior prior = {.dims = NULL};
    struct gp *gp = NULL;

    if (rule(self) == SEVERAL_VOLUME)
        options.n_values = self->objectives->n;
    options.from_middle = rule(self) == SEVERAL_NONE;
    if (rule(self) != SEVERAL_NONE)
        options.growth = SEVERAL_GROWTH;
    if (axes != NULL && prior_of_space(&prior, s) == 0) {
        for (size_t i = 0; i < s->n_dims; i++)
            axes[i] = cmaes_dim_of(TP_DIM(s, i));
        gp = gp_new(&options, &services, &prior, axes);
    }
    if (gp == NULL) {
        prior_fini(&prior);
        free(axes);
    }
    return gp;
}

/* What was learnt of another space is let go. */
int
gp_tuner_space(void *vself, const struct tp_space *s)
{
    struct gp_tuner *self = vself;
    struct gp *gp = new_gp(self, s);
    struct several *several;

    if (gp == NULL)
        return tp_out_of_memory(self->host);
    several = several_new(gp, rule(self),
                          self->objectives == NULL ? 1 : self->objectives->n);
    if (several == NULL)
        return tp_out_of_memory(self->host);
    several_free(self->several);
    self->several = several;
    self->space = s;
    return TP_OK;
}

/* ---- questions ---- */

/* "accuracy 0.31, latency 0.69", of each objective a number. */
static void
explain_each(const struct gp_tuner *self, const char *what, const double *of)
{
    char line[400];
    size_t n = 0;

    for (size_t k = 0; k < self->objectives->n; k++) {
        int more =
            snprintf(line + n, sizeof line - n, "%s%s %.2g", k > 0 ? ", " : "",
                     TP_OBJECTIVE(self->objectives, k)->name, of[k]);

        if (more < 0 || (size_t)more >= sizeof line - n)
            break;
        n += (size_t)more;
    }
    tp_explain(self->host, "%s: %.*s", what, (int)n, line);
}

static void
explain_model(const struct gp_tuner *self)
{
    const struct tp_host *host = self->host;
    const struct gp_story *s = &self->several->gp->story;
    bool by_weights = self->several->rule == SEVERAL_WEIGHTS;

    if (self->several->rule == SEVERAL_VOLUME) {
        tp_explain(host,
                   "the models of %zu results, one for each objective, in "
                   "standard deviations of the results, less being better:",
                   s->n_modelled);
        explain_each(self, "expected there", s->mean);
        explain_each(self, "give or take", s->deviation);
        explain_each(self, "noise", s->noise);
        tp_explain(host, "logarithm of the hypervolume to expect: %.4g",
                   s->gain);
        return;
    }
    if (by_weights && self->objectives != NULL)
        explain_each(self, "this trial's weights", self->several->weights);
    tp_explain(host,
               "the model of %zu results expects %.3g +- %.3g there, the best "
               "being %.3g, in standard deviations of the %sresults; their "
               "noise is %.3g",
               s->n_modelled, s->mean[0], s->deviation[0], s->best,
               by_weights ? "weighted " : "", s->noise[0]);
    tp_explain(host, "logarithm of the improvement to expect: %.4g", s->gain);
}

static void
explain_warps(const struct gp_tuner *self)
{
    for (size_t i = 0; i < self->space->n_dims; i++)
        if (gp_is_warped(self->several->gp, i))
            tp_explain(self->host,
                       "%s goes by its logarithm, as the results are likelier "
                       "so: a log distribution would have it so from the start",
                       TP_DIM(self->space, i)->name);
}

static void
explain(const struct gp_tuner *self)
{
    const struct tp_host *host = self->host;
    const struct gp *gp = self->several->gp;

    if (!tp_explains(host))
        return;
    if (gp->story.is_apart) {
        tp_explain(host,
                   "a draw of the prior, as one of %d trials is after %d "
                   "results without progress",
                   GP_APART, GP_STALL);
        return;
    }
    if (gp->story.is_middle) {
        tp_explain(host, "the middle of the search space, as the first trial");
        return;
    }
    if (gp->story.n_modelled == 0) {
        tp_explain(host,
                   "a draw of the prior: %zu results of the %zu that the "
                   "model begins with",
                   gp->results.n, self->options.startup);
        return;
    }
    explain_model(self);
    explain_warps(self);
    if (!isnan(gp->story.feasible))
        tp_explain(host, "that it does not fail is likely by %.3g",
                   gp->story.feasible);
}

int
gp_tuner_ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct gp_tuner *self = vself;

    if (several_ask(self->several, id, out->x) != 0)
        return tp_out_of_memory(self->host);
    explain(self);
    return TP_OK;
}

int
gp_tuner_score(void *vself, const double *const *points, size_t n, double *out)
{
    struct gp_tuner *self = vself;

    return tp_ok_or_memory(self->host,
                           several_score(self->several, points, n, out));
}

/* ---- results ---- */

/* Less is better of each.  NULL: the trial told of too few. */
static const double *
costs_of(const struct gp_tuner *self, const struct tp_result *result,
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

int
gp_tuner_tell(void *vself, uint64_t id, const double *x,
              const struct tp_result *result)
{
    struct gp_tuner *self = vself;
    double costs[SEVERAL_COSTS_MAX];
    enum gp_class class =
        result->how == TP_RESULT_STOPPED ? GP_STOPPED : GP_FINAL;
    double violation = self->objectives == NULL ? 0 : result->violation;

    return tp_ok_or_memory(
        self->host,
        several_tell(self->several, id == TP_NO_ID ? GP_NO_ID : id, x, class,
                     costs_of(self, result, costs), violation));
}

int
gp_tuner_ended(void *vself, uint64_t id, const double *x, int how)
{
    struct gp_tuner *self = vself;
    bool counts = how == TP_ENDED_FAILED || how == TP_ENDED_STOPPED;

    return tp_ok_or_memory(
        self->host,
        several_lost(self->several, id, x, counts,
                     how == TP_ENDED_FAILED ? GP_FAILED : GP_STOPPED));
}

/* ---- saving ---- */

int
gp_tuner_save(void *vself, const struct tp_sink *sink)
{
    const struct gp_tuner *self = vself;

    several_save(self->several, sink);
    return TP_OK;
}

int
gp_tuner_load(void *vself, const struct tp_source *source)
{
    struct gp_tuner *self = vself;

    return tp_ok_unless(self->host, several_load(self->several, source));
}
