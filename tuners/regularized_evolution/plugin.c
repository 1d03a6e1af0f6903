/* SPDX-License-Identifier: MIT */
/* The tuner `regularized_evolution`: aging.h behind the plugin interface. */
#include "regularized_evolution/aging.h"
#include "prior/space.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct shell {
    const struct tp_host *host;
    struct aging *population;
    const struct tp_space *space;
    bool maximize;
};

enum { MODE, SIZE, SAMPLE, SEED, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger results are better"),
    [SIZE] = TP_INT("population_size", 100, 1, AGING_SIZE_MAX,
                    "members; the oldest leaves"),
    [SAMPLE] = TP_INT("sample_size", 25, 1, AGING_SIZE_MAX,
                      "members drawn, the best of which becomes the parent"),
    [SEED] = TP_SEED("seed of the random numbers"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct shell));
}

static void
destroy(void *vself)
{
    struct shell *self = vself;

    aging_free(self->population);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;

    (void)n;
    self->maximize = tp_maximizes(&values[MODE]);
    self->population =
        aging_new((size_t)values[SIZE].integer, (size_t)values[SAMPLE].integer,
                  prior_host_random(self->host));
    return self->population != NULL ? TP_OK : tp_out_of_memory(self->host);
}

static int
space(void *vself, const struct tp_space *s)
{
    struct shell *self = vself;
    struct prior prior;

    if (prior_of_space(&prior, s) != 0)
        return tp_out_of_memory(self->host);
    aging_space(self->population, &prior);
    self->space = s;
    return TP_OK;
}

static double
as_reported(const struct shell *self, double value)
{
    return self->maximize ? value : -value;
}

static void
explain(const struct shell *self, const struct aging_origin *o)
{
    const struct tp_host *host = self->host;

    if (!o->mutated) {
        tp_explain(host, "a draw of the prior: one of the first "
                         "population_size");
        return;
    }
    if (o->parent == AGING_NO_ID)
        tp_explain(host,
                   "a child of an imported point, of value %.9g, the "
                   "best of its sample",
                   as_reported(self, o->parent_value));
    else
        tp_explain(host,
                   "a child of trial %llu, of value %.9g, the best of "
                   "its sample",
                   (unsigned long long)o->parent,
                   as_reported(self, o->parent_value));
    if (o->dim < self->space->n_dims)
        tp_explain(host, "%s was changed", TP_DIM(self->space, o->dim)->name);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct shell *self = vself;
    struct aging_origin origin;

    int rc = aging_ask(self->population, id, out->x, &origin);

    if (rc == AGING_ERROR)
        return tp_out_of_memory(self->host);
    if (rc == AGING_LATER)
        return TP_LATER;
    explain(self, &origin);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;

    return tp_ok_or_memory(self->host,
                           aging_tell(self->population,
                                      id == TP_NO_ID ? AGING_NO_ID : id, x,
                                      as_reported(self, result->value)));
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct shell *self = vself;

    (void)x;
    (void)how;
    aging_ended(self->population, id);
    return TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    struct shell *self = vself;

    aging_save(self->population, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct shell *self = vself;

    return tp_ok_unless(self->host, aging_load(self->population, source));
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "regularized_evolution",
    .doc = "changes one parameter of the best of a sample; the oldest leave",
    .version = 1,
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
};
TP_REGISTER_TUNER(tuner)
