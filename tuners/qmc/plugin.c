/* SPDX-License-Identifier: MIT */
/* The tuner `qmc`: qmc.h behind the plugin interface. */
#include "qmc/qmc.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct qmc_tuner {
    const struct tp_host *host;
    struct qmc *sequence; /* NULL before space() */
    uint64_t next;        /* index */
};

/* optimize_mode is what NNI's configurations give to every tuner. */
static const struct tp_arg args[] = {
    TP_SEED("seed of the scrambling"),
    TP_MODE_IGNORED,
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct qmc_tuner));
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
        sequence = qmc_new(dims, s->n_dims, tp_bits(host, 0, 0, 0));
    }
    free(dims);
    if (sequence == NULL)
        return tp_out_of_memory(self->host);
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
    tp_explain(self->host,
               "point %llu of a scrambled Sobol sequence of %u "
               "dimensions, whatever the results are",
               (unsigned long long)self->next,
               (unsigned)qmc_dimensions(self->sequence));
    self->next++;
    return TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct qmc_tuner *self = vself;

    tp_put_u64(sink, self->next);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct qmc_tuner *self = vself;

    if (tp_get_u64(source, &self->next) != TP_OK)
        return tp_error(self->host, "the number of the next point is damaged");
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "qmc",
    .doc = "fills the search space evenly, whatever the results are",
    .version = 1,
    .flags = TP_TUNER_DEDUP,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .space = space,
    .ask = ask,
    .tell = tp_tell_nothing,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
