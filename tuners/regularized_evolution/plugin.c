/* SPDX-License-Identifier: MIT */
/* The tuner `regularized_evolution`: aging.h behind the plugin interface. */
#include "regularized_evolution/aging.h"
#include "regularized_evolution/state.h"
#include "prior/space.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>
#include <string.h>

struct shell {
    const struct tp_host *host;
    struct aging *population;
    const struct tp_space *space;
    bool maximize;
};

enum { MODE, SIZE, SAMPLE, SEED, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
              "maximize|minimize", "whether larger results are better"},
    [SIZE] = {"population_size", TP_ARG_INT, 0, "100", 1, AGING_SIZE_MAX, NULL,
              "members; the oldest leaves"},
    [SAMPLE] = {"sample_size", TP_ARG_INT, 0, "25", 1, AGING_SIZE_MAX, NULL,
                "members drawn, the best of which becomes the parent"},
    [SEED] = {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL,
              "seed of the random numbers; null: the experiment's"},
};

static int
fail(const struct shell *self, const char *why)
{
    self->host->error(self->host->ctx, "%s", why);
    return TP_ERR;
}

static void *
create(const struct tp_host *host)
{
    struct shell *self = calloc(1, sizeof *self);

    if (self == NULL)
        host->error(host->ctx, "out of memory");
    else
        self->host = host;
    return self;
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
    self->maximize = strcmp(values[MODE].text, "maximize") == 0;
    self->population =
        aging_new((size_t)values[SIZE].integer, (size_t)values[SAMPLE].integer,
                  prior_host_random(self->host));
    return self->population != NULL ? TP_OK : fail(self, "out of memory");
}

static int
space(void *vself, const struct tp_space *s)
{
    struct shell *self = vself;
    struct prior prior;

    if (prior_of_space(&prior, s) != 0)
        return fail(self, "out of memory");
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

    if (!TP_HAS(host, explain) || !host->explain(host->ctx, NULL))
        return;
    if (!o->mutated) {
        host->explain(host->ctx, "a draw of the prior: one of the first "
                                 "population_size");
        return;
    }
    if (o->parent == AGING_NO_ID)
        host->explain(host->ctx,
                      "a child of an imported point, of value %.9g, the best "
                      "of its sample",
                      as_reported(self, o->parent_value));
    else
        host->explain(host->ctx,
                      "a child of trial %llu, of value %.9g, the best of its "
                      "sample",
                      (unsigned long long)o->parent,
                      as_reported(self, o->parent_value));
    if (o->dim < self->space->n_dims)
        host->explain(host->ctx, "%s was changed",
                      TP_DIM(self->space, o->dim)->name);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct shell *self = vself;
    struct aging_origin origin;

    int rc = aging_ask(self->population, id, out->x, &origin);

    if (rc == AGING_ERROR)
        return fail(self, "out of memory");
    if (rc == AGING_LATER)
        return TP_LATER;
    explain(self, &origin);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;

    if (aging_tell(self->population, id == TP_NO_ID ? AGING_NO_ID : id, x,
                   as_reported(self, result->value)) != 0)
        return fail(self, "out of memory");
    return TP_OK;
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
    const char *wrong = aging_load(self->population, source);

    return wrong == NULL ? TP_OK : fail(self, wrong);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "regularized_evolution",
    .doc = "changes one parameter of the best of a sample; the oldest leave",
    .version = 1,
    .args = args,
    .n_args = N_ARGS,
    .arg_size = sizeof args[0],
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
