/* SPDX-License-Identifier: MIT */
/* The tuner `gp`: gp.h behind the plugin interface. */
#include "cmaes/space.h"
#include "gp/gp.h"
#include "prior/space.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <math.h>
#include <stdlib.h>

struct gp_tuner {
    const struct tp_host *host;
    struct gp *gp; /* NULL before space() */
    struct gp_options options;
    bool maximizes;
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
    return tp_new(host, sizeof(struct gp_tuner));
}

static void
destroy(void *vself)
{
    struct gp_tuner *self = vself;

    gp_free(self->gp);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct gp_tuner *self = vself;

    (void)n;
    self->maximizes = tp_maximizes(&values[MODE]);
    self->options = (struct gp_options){
        .startup = (size_t)values[STARTUP].integer,
        .growth = GP_GROWTH,
    };
    return TP_OK;
}

/* What was learnt of another space is let go. */
static int
space(void *vself, const struct tp_space *s)
{
    struct gp_tuner *self = vself;
    const struct tp_host *host = self->host;
    const struct gp_services services = {prior_host_random(host), host->key,
                                         host->ctx};
    struct cmaes_dim *axes = calloc(s->n_dims + 1, sizeof *axes);
    struct prior prior = {.dims = NULL};
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
    gp_free(self->gp);
    self->gp = gp;
    return TP_OK;
}

static void
explain(const struct gp_tuner *self)
{
    const struct tp_host *host = self->host;
    const struct gp_story *s = &self->gp->story;

    if (s->is_apart) {
        tp_explain(host,
                   "a draw of the prior, as one of %d trials is after %d "
                   "results without progress",
                   GP_APART, GP_STALL);
        return;
    }
    if (s->n_modelled == 0) {
        tp_explain(host,
                   "a draw of the prior: %zu results of the %zu that the "
                   "model begins with",
                   self->gp->results.n, self->options.startup);
        return;
    }
    tp_explain(host,
               "the model of %zu results expects %.3g +- %.3g there, the best "
               "being %.3g, in standard deviations of the results; their noise "
               "is %.3g",
               s->n_modelled, s->mean, s->deviation, s->best, s->noise);
    tp_explain(host, "logarithm of the improvement to expect: %.4g", s->gain);
    if (!isnan(s->feasible))
        tp_explain(host, "that it does not fail is likely by %.3g",
                   s->feasible);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct gp_tuner *self = vself;

    if (gp_ask(self->gp, id, out->x) != 0)
        return tp_out_of_memory(self->host);
    explain(self);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct gp_tuner *self = vself;
    double value = self->maximizes ? -result->value : result->value;
    enum gp_class class =
        result->how == TP_RESULT_STOPPED ? GP_STOPPED : GP_FINAL;

    return tp_ok_or_memory(
        self->host,
        gp_tell(self->gp, id == TP_NO_ID ? GP_NO_ID : id, x, class, value));
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct gp_tuner *self = vself;
    bool counts = how == TP_ENDED_FAILED || how == TP_ENDED_STOPPED;

    return tp_ok_or_memory(
        self->host, gp_lost(self->gp, id, x, counts,
                            how == TP_ENDED_FAILED ? GP_FAILED : GP_STOPPED));
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct gp_tuner *self = vself;

    return tp_ok_or_memory(self->host, gp_score(self->gp, points, n, out));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct gp_tuner *self = vself;

    gp_save(self->gp, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct gp_tuner *self = vself;

    return tp_ok_unless(self->host, gp_load(self->gp, source));
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "gp",
    .doc = "models all results, and tries where most improvement is expected "
           "(Gaussian process)",
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
