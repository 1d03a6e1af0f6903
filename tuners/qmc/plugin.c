/* SPDX-License-Identifier: MIT */
/* The tuner `qmc`: qmc.h behind the plugin interface. */
#include "qmc/qmc.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct qmc_tuner {
    const struct tp_host *host;
    struct qmc *sequence; /* NULL before space() */
    uint64_t next;        /* index */
};

/* optimize_mode is what NNI's configurations give to every tuner. */
static const struct tp_arg args[] = {
    {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL,
     "seed of the scrambling; null: the experiment's"},
    {"optimize_mode", TP_ARG_STRING, 1, "null", 0, 0, "maximize|minimize",
     "accepted and not looked at"},
};

static int
fail(const struct qmc_tuner *self, const char *why)
{
    self->host->error(self->host->ctx, "%s", why);
    return TP_ERR;
}

static void *
create(const struct tp_host *host)
{
    struct qmc_tuner *self = calloc(1, sizeof *self);

    if (self == NULL)
        host->error(host->ctx, "out of memory");
    else
        self->host = host;
    return self;
}

static void
destroy(void *vself)
{
    struct qmc_tuner *self = vself;

    qmc_free(self->sequence);
    free(self);
}

static struct qmc_dim
dim_of(const struct tp_dim *d)
{
    return (struct qmc_dim){
        .n_choices = d->flags & TP_DIM_INDEX ? d->n_choices : 0,
        .is_normal = (d->flags & TP_DIM_NORMAL) != 0,
        .low = d->low,
        .high = d->high,
        .mu = d->mu,
        .sigma = d->sigma,
        .parent = d->parent == TP_NO_PARENT ? QMC_NO_PARENT : d->parent,
        .parent_choice = d->parent_choice,
    };
}

/* A sequence of its own for each space, from its first point. */
static int
space(void *vself, const struct tp_space *s)
{
    struct qmc_tuner *self = vself;
    const struct tp_host *host = self->host;
    struct qmc_dim *dims = calloc(s->n_dims + 1, sizeof *dims);
    struct qmc *sequence = NULL;

    if (dims != NULL) {
        for (size_t i = 0; i < s->n_dims; i++)
            dims[i] = dim_of(TP_DIM(s, i));
        sequence = qmc_new(dims, s->n_dims, host->bits(host->ctx, 0, 0, 0));
    }
    free(dims);
    if (sequence == NULL)
        return fail(self, "out of memory");
    qmc_free(self->sequence);
    self->sequence = sequence;
    self->next = 0;
    return TP_OK;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct qmc_tuner *self = vself;

    (void)id;
    qmc_point(self->sequence, self->next, out->x);
    if (TP_HAS(self->host, explain))
        self->host->explain(self->host->ctx,
                            "point %llu of a scrambled Sobol sequence of %u "
                            "dimensions, whatever the results are",
                            (unsigned long long)self->next,
                            (unsigned)qmc_dimensions(self->sequence));
    self->next++;
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

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct qmc_tuner *self = vself;

    sink->u64(sink->ctx, self->next);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct qmc_tuner *self = vself;

    if (source->u64(source->ctx, &self->next) != TP_OK)
        return fail(self, "the number of the next point is damaged");
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "qmc",
    .doc = "fills the search space evenly, whatever the results are",
    .version = 1,
    .flags = TP_TUNER_DEDUP,
    .args = args,
    .n_args = sizeof args / sizeof args[0],
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = destroy,
    .space = space,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
