/* SPDX-License-Identifier: MIT */
/* The tuner `random`: every trial is a sample of the prior (Bergstra and
 * Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012).
 * The host samples, so there is no algorithm file beside this shell, and
 * nothing to remember: what a trial gets depends on seed and id alone. */
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct random_tuner {
    const struct tp_host *host;
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

    if (self == NULL)
        host->error(host->ctx, "out of memory");
    else
        self->host = host;
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

    self->host->sample(self->host->ctx, id, out->x);
    if (TP_HAS(self->host, explain))
        self->host->explain(self->host->ctx,
                            "draw %llu of the prior, whatever the results are",
                            (unsigned long long)id);
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

/* There is nothing that it knows: see above. */
static int
save(void *vself, const struct tp_sink *sink)
{
    (void)vself;
    (void)sink;
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    (void)vself;
    (void)source;
    return TP_OK;
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
