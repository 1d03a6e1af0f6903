/* SPDX-License-Identifier: MIT */
/* The tuner `smac`: smac.h behind the plugin interface. */
#include "smac/smac.h"

#include "tpe/carry.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

#define MOST_POINTS 1000
#define CANDIDATES 500
#define MIN_SPLIT 3
#define COLUMNS 0.5
#define BY_SPACE (-1.0) /* of random_fraction */
#define RANDOM_FLAT 0.1
#define RANDOM_NESTED 0.3

struct smac_tuner {
    const struct tp_host *host;
    struct smac_options options;
    struct smac *smac; /* NULL before space() */
    struct carrier carrier;
};

enum { MODE, CONFIG_DEDUP, STARTUP, RANDOM, TREES, SEED, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger results are better"),
    [CONFIG_DEDUP] =
        TP_BOOL("config_dedup", false,
                "NNI's, and not looked at: nothing is suggested twice unless "
                "the filter dedup allows it"),
    [STARTUP] = TP_INT("n_startup_jobs", 10, 1, 1e6,
                       "results before the forest begins; before, the prior "
                       "is sampled"),
    [RANDOM] = TP_DOUBLE_OR_NULL("random_fraction", 0, 1,
                                 "share of the forest's suggestions in whose "
                                 "place the prior is sampled; null: 0.1, or "
                                 "0.3 where parameters hang on choices"),
    [TREES] = TP_INT("trees", 10, 1, 1000, "trees of the forest"),
    [SEED] = TP_SEED("seed of the random numbers"),
};

static void *
create(const struct tp_host *host)
{
    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->value() and key()");
    return tp_new(host, sizeof(struct smac_tuner));
}

static void
destroy(void *vself)
{
    struct smac_tuner *self = vself;

    smac_free(self->smac);
    tpe_carrier_fini(&self->carrier);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct smac_tuner *self = vself;

    (void)n;
    self->options = (struct smac_options){
        .maximize = tp_maximizes(&values[MODE]),
        .startup = (size_t)values[STARTUP].integer,
        .candidates = CANDIDATES,
        .most = MOST_POINTS,
        .random = tp_number_or(&values[RANDOM], BY_SPACE),
        .forest = {.trees = (size_t)values[TREES].integer,
                   .min_split = MIN_SPLIT,
                   .columns = COLUMNS},
    };
    return TP_OK;
}

static struct smac *
smac_for(const struct smac_tuner *self, const struct tp_space *s)
{
    struct axis *axes = tpe_axes_of(s);
    struct smac_options options = self->options;
    struct smac *made = NULL;
    bool is_nested = false;

    for (size_t i = 0; i < s->n_dims; i++)
        is_nested = is_nested || TP_DIM(s, i)->parent != TP_NO_PARENT;
    if (options.random < 0)
        options.random = is_nested ? RANDOM_NESTED : RANDOM_FLAT;
    if (axes != NULL)
        made = smac_new(&options, axes, s->n_dims);
    free(axes);
    return made;
}

/* What is known of parameters that the new space has, too, stays known. */
static int
space(void *vself, const struct tp_space *s)
{
    struct smac_tuner *self = vself;
    struct smac *new_ = smac_for(self, s);

    if (new_ == NULL ||
        tpe_carrier_move(&self->carrier, self->host, s, new_->axes,
                         &new_->points, smac_copy, new_) != 0) {
        smac_free(new_);
        return tp_out_of_memory(self->host);
    }
    smac_free(self->smac);
    self->smac = new_;
    return TP_OK;
}

static void
explain(const struct smac_tuner *self, const struct smac_reason *why)
{
    const struct tp_host *host = self->host;

    switch (why->how) {
    case SMAC_STARTS:
        tp_explain(host,
                   "a sample of the prior: %zu results of the %zu that the "
                   "model begins with",
                   tpe_points_ranked(&self->smac->points),
                   self->options.startup);
        break;
    case SMAC_RANDOM:
        tp_explain(host, "a sample of the prior, as a share of %g is",
                   self->smac->options.random);
        break;
    case SMAC_SEARCHED:
        tp_explain(host,
                   "the largest expected improvement that %s found: %.4g +- "
                   "%.4g where the best result is %.4g (logarithms of scaled "
                   "results; %zu points, running trials among them)",
                   why->is_local ? "local search" : "sampling", why->mean,
                   why->sd, why->best, why->n_points);
        break;
    }
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct smac_tuner *self = vself;
    const struct tp_host *host = self->host;
    struct smac_reason why;

    if (smac_ask(self->smac, host->bits, host->ctx, id, out->x, &why) != 0)
        return tp_out_of_memory(host);
    if (!tpe_axis_is_point(self->smac->axes, self->smac->n_dims, out->x))
        tp_sample(host, id, out->x); /* a range too wide for coordinates */
    explain(self, &why);
    return tp_ok_or_memory(host, smac_open(self->smac, id, out->x));
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct smac_tuner *self = vself;

    return tp_ok_or_memory(self->host, smac_score(self->smac, points, n, out));
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct smac_tuner *self = vself;

    if (tpe_carrier_tell(&self->carrier, id, x) != 0 ||
        smac_tell(self->smac, id, x, result->how == TP_RESULT_STOPPED,
                  result->value, result->step) != 0)
        return tp_out_of_memory(self->host);
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct smac_tuner *self = vself;

    return tp_ok_or_memory(self->host,
                           tpe_carrier_ended(&self->carrier, id, x, how));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct smac_tuner *self = vself;

    smac_save(self->smac, sink);
    return TP_OK;
}

/* A point of this space, or one whose parameters are not tried any more. */
static int
load(void *vself, const struct tp_source *source)
{
    struct smac_tuner *self = vself;
    const char *why = smac_load(self->smac, source);

    if (why == NULL && tpe_carrier_load(&self->carrier) != 0)
        why = "out of memory";
    return tp_ok_unless(self->host, why);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "smac",
    .doc = "a random forest of what is known, and local search in it (SMAC)",
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
