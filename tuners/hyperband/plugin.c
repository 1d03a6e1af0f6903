/* SPDX-License-Identifier: MIT */
/* The tuner `hyperband`: bands.h behind the plugin interface, with
 * configurations drawn from the prior. */
#include "bands/bands.h"
#include "bands/shell.h"
#include "parts/budgets.h"
#include "prior/space.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HYPERBAND_COSTS_MAX 8

struct shell {
    const struct tp_host *host;
    struct bands *bands;
    struct prior prior;
    char label[2 * BANDS_LABEL_SIZE];
    const struct tp_objectives *objectives; /* NULL: results are one value */
    double costs[HYPERBAND_COSTS_MAX];      /* of what is told */
};

enum { MODE, BUDGET, ETA, EXEC, BRACKETS, SEED, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger results are better"),
    [BUDGET] = TP_INT("R", 60, 1, BANDS_BUDGET_MAX,
                      "the greatest budget, in intermediate results"),
    [ETA] = TP_INT("eta", 3, BANDS_ETA_MIN, BANDS_ETA_MAX,
                   "one of so many goes on to the next round"),
    [EXEC] =
        TP_ONE_OF("exec_mode", "parallelism", "parallelism|serial",
                  "whether a bracket begins before the last round of the one "
                  "before it"),
    [BRACKETS] = TP_INT("brackets", 0, 0, BANDS_BUDGET_MAX,
                        "how many are run; 0: no end"),
    [SEED] = TP_SEED("seed of the random numbers"),
};

static void *
create(const struct tp_host *host)
{
    if (!TP_HAS(host, decide))
        return tp_too_old(host, "host->decide()");
    return tp_new(host, sizeof(struct shell));
}

static void
destroy(void *vself)
{
    struct shell *self = vself;

    bands_free(self->bands);
    prior_fini(&self->prior);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    struct bands_options options = {
        .table = bands_table(1, (uint64_t)values[BUDGET].integer,
                             (uint64_t)values[ETA].integer),
        .order =
            tp_is(&values[EXEC], "parallelism") ? BANDS_PARALLEL : BANDS_BEGUN,
        .maximize = tp_maximizes(&values[MODE]),
        .limit = (uint64_t)values[BRACKETS].integer,
        .release = bands_release,
        .ctx = (void *)(uintptr_t)self->host,
    };

    (void)n;
    bands_warn(self->host, &options.table, "R");
    self->bands = bands_new(&options);
    return self->bands != NULL ? TP_OK : tp_out_of_memory(self->host);
}

/* One without limits is `value`. */
static int
objectives(void *vself, const struct tp_objectives *of)
{
    struct shell *self = vself;

    if (of->n == 1 && of->n_limits == 0)
        return TP_OK;
    if (of->n > HYPERBAND_COSTS_MAX)
        return tp_error(self->host, "%zu objectives, expected at most %d",
                        of->n, HYPERBAND_COSTS_MAX);
    self->objectives = of;
    self->bands->n_costs = of->n;
    return TP_OK;
}

static int
space(void *vself, const struct tp_space *s)
{
    struct shell *self = vself;
    struct prior prior;

    if (!budgets_fit(self->host, s))
        return TP_ERR;
    if (prior_of_space(&prior, s) != 0 ||
        bands_space(self->bands, s->n_dims) != 0) {
        prior_fini(&prior);
        return tp_out_of_memory(self->host);
    }
    prior_fini(&self->prior);
    self->prior = prior;
    return TP_OK;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct shell *self = vself;
    struct prior_random random = prior_host_random(self->host);
    struct bands_job job;
    char name[BANDS_LABEL_SIZE];
    int rc = bands_ask(self->bands, id, &job);

    if (rc == BANDS_ERROR)
        return tp_out_of_memory(self->host);
    if (rc != BANDS_JOB)
        return rc == BANDS_LATER ? TP_LATER : TP_DONE;
    if (job.slot->from == BANDS_NO_ID)
        prior_fill(&self->prior, job.x, &random, id, (uint32_t)job.again);
    memcpy(out->x, job.x, self->prior.n_dims * sizeof *out->x);
    bands_name(&job, name);
    snprintf(self->label, sizeof self->label, "%s_%u_%" PRIu64, name,
             job.bracket->round, job.slot->n);
    out->label = self->label;
    bands_suggest(&job, out);
    bands_explain(&job, self->host);
    return TP_OK;
}

/* Less is better of each. */
static void
lend(struct shell *self, const double *values, double violation)
{
    for (size_t k = 0; values != NULL && k < self->objectives->n; k++)
        self->costs[k] = TP_OBJECTIVE(self->objectives, k)->maximize
                             ? -values[k]
                             : values[k];
    bands_lend(self->bands, values == NULL ? NULL : self->costs, violation);
}

static int
metric(void *vself, uint64_t id, const double *x, const struct tp_metric *m,
       struct tp_verdict *out)
{
    struct shell *self = vself;
    struct bands_job job;

    if (self->objectives != NULL)
        lend(self, m->values, m->violation);
    if (bands_metric(self->bands, id, x, m->value, m->step) &&
        bands_find(self->bands, id, &job))
        bands_verdict(&job, self->host, m->value, out);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;

    if (self->objectives != NULL)
        lend(self, result->values, result->violation);
    if (id != TP_NO_ID)
        bands_final(self->bands, id, x, result->value);
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct shell *self = vself;

    (void)how;
    return tp_ok_or_memory(self->host, bands_ended(self->bands, id, x));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct shell *self = vself;

    bands_save(self->bands, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct shell *self = vself;

    return tp_ok_unless(self->host,
                        bands_load(self->bands, &self->prior, source));
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "hyperband",
    .doc = "many trials with little budget, of which the best go on",
    .version = 1,
    .flags = TP_TUNER_UNITS,
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
    .metric = metric,
    .objectives = objectives,
};
TP_REGISTER_TUNER(tuner)
