/* SPDX-License-Identifier: MIT */
/* The tuner `random`: every trial is a sample of the prior (Bergstra and
 * Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012).
 * The host samples, so there is no algorithm file beside this shell.  What a
 * trial gets depends on seed and id alone, and on how often it was asked for:
 * a filter that asks again wants another sample. */
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct random_tuner {
    const struct tp_host *host;
    uint64_t last_id, again; /* TP_NO_ID: none; asked again so often */
};

/* optimize_mode is what NNI's configurations give to every tuner. */
static const struct tp_arg args[] = {
    {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL,
     "seed of the random numbers; null: the experiment's"},
    {"optimize_mode", TP_ARG_STRING, 1, "null", 0, 0, "maximize|minimize",
     "accepted and not looked at"},
};

static void *
create(const struct tp_host *host)
{
    struct random_tuner *self = calloc(1, sizeof *self);

    if (self == NULL) {
        host->error(host->ctx, "out of memory");
        return NULL;
    }
    self->host = host;
    self->last_id = TP_NO_ID;
    return self;
}

static void
destroy(void *vself)
{
    free(vself);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct random_tuner *self = vself;

    self->again = id == self->last_id ? self->again + 1 : 0;
    self->last_id = id;
    self->host->sample(self->host->ctx, id ^ (self->again << 40), out->x);
    if (TP_HAS(self->host, explain))
        self->host->explain(self->host->ctx,
                            "draw %llu of the prior%s, whatever the results "
                            "are",
                            (unsigned long long)id,
                            self->again > 0 ? ", another one" : "");
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    (void)vself;
    (void)id;
    (void)x;
    (void)result;
    return TP_OK;
}

/* Nothing, as long as nothing was asked for. */
static int
save(void *vself, const struct tp_sink *sink)
{
    const struct random_tuner *self = vself;

    if (self->last_id == TP_NO_ID)
        return TP_OK;
    sink->u64(sink->ctx, self->last_id);
    sink->u64(sink->ctx, self->again);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct random_tuner *self = vself;

    if (source->left(source->ctx) == 0)
        return TP_OK;
    if (source->u64(source->ctx, &self->last_id) == TP_OK &&
        source->u64(source->ctx, &self->again) == TP_OK &&
        self->last_id != TP_NO_ID)
        return TP_OK;
    self->host->error(self->host->ctx, "what was asked for last is damaged");
    return TP_ERR;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "random",
    .doc = "samples the prior, whatever the results are",
    .version = 1,
    .flags = TP_TUNER_DEDUP,
    .args = args,
    .n_args = sizeof args / sizeof args[0],
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = destroy,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
