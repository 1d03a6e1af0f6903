/* SPDX-License-Identifier: MIT */
/* The tuner `random`: every trial is a sample of the prior (Bergstra and
 * Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012).
 * The host samples, so there is no algorithm file beside this shell.  What a
 * trial gets depends on seed and id alone, and on how often it was asked for:
 * a filter that asks again wants another sample. */
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct random_tuner {
    const struct tp_host *host;
    uint64_t last_id, again; /* TP_NO_ID: none; asked again so often */
};

/* optimize_mode is what NNI's configurations give to every tuner. */
static const struct tp_arg args[] = {
    TP_SEED("seed of the random numbers"),
    TP_MODE_IGNORED,
};

static void *
create(const struct tp_host *host)
{
    struct random_tuner *self = tp_new(host, sizeof *self);

    if (self != NULL)
        self->last_id = TP_NO_ID;
    return self;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct random_tuner *self = vself;

    self->again = id == self->last_id ? self->again + 1 : 0;
    self->last_id = id;
    tp_sample(self->host, id ^ (self->again << 40), out->x);
    tp_explain(self->host, "draw %llu of the prior%s, whatever the results are",
               (unsigned long long)id, self->again > 0 ? ", another one" : "");
    return TP_OK;
}

/* Nothing, as long as nothing was asked for. */
static int
save(void *vself, const struct tp_sink *sink)
{
    const struct random_tuner *self = vself;

    if (self->last_id == TP_NO_ID)
        return TP_OK;
    tp_put_u64(sink, self->last_id);
    tp_put_u64(sink, self->again);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct random_tuner *self = vself;

    if (tp_left(source) == 0)
        return TP_OK;
    if (tp_get_u64(source, &self->last_id) == TP_OK &&
        tp_get_u64(source, &self->again) == TP_OK && self->last_id != TP_NO_ID)
        return TP_OK;
    return tp_error(self->host, "what was asked for last is damaged");
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "random",
    .doc = "samples the prior, whatever the results are",
    .version = 1,
    .flags = TP_TUNER_DEDUP,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .ask = ask,
    .tell = tp_tell_nothing,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
