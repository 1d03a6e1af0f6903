/* SPDX-License-Identifier: MIT */
/* The tuner `hyperband`: bands.h behind the plugin interface, with
 * configurations drawn from the prior. */
#include "bands/bands.h"
#include "bands/shell.h"
#include "bands/state.h"
#include "parts/budgets.h"
#include "prior/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shell {
    const struct tp_host *host;
    struct bands *bands;
    struct prior prior;
    char label[2 * BANDS_LABEL_SIZE];
};

enum { MODE, BUDGET, ETA, EXEC, BRACKETS, SEED, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
              "maximize|minimize", "whether larger results are better"},
    [BUDGET] = {"R", TP_ARG_INT, 0, "60", 1, BANDS_BUDGET_MAX, NULL,
                "the greatest budget, in intermediate results"},
    [ETA] = {"eta", TP_ARG_INT, 0, "3", BANDS_ETA_MIN, BANDS_ETA_MAX, NULL,
             "one of so many goes on to the next round"},
    [EXEC] = {"exec_mode", TP_ARG_STRING, 0, "\"parallelism\"", 0, 0,
              "parallelism|serial",
              "whether a bracket begins before the last round of the one "
              "before it"},
    [BRACKETS] = {"brackets", TP_ARG_INT, 0, "0", 0, BANDS_BUDGET_MAX, NULL,
                  "how many are run; 0: no end"},
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
    struct shell *self;

    if (!bands_host_is_fit(host))
        return NULL;
    self = calloc(1, sizeof *self);
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
        .order = values[EXEC].text[0] == 'p' ? BANDS_PARALLEL : BANDS_BEGUN,
        .maximize = strcmp(values[MODE].text, "maximize") == 0,
        .limit = (uint64_t)values[BRACKETS].integer,
        .release = bands_release,
        .ctx = (void *)(uintptr_t)self->host,
    };

    (void)n;
    bands_warn(self->host, &options.table, "R");
    self->bands = bands_new(&options);
    return self->bands != NULL ? TP_OK : fail(self, "out of memory");
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
        return fail(self, "out of memory");
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
        return fail(self, "out of memory");
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

static int
metric(void *vself, uint64_t id, const double *x, const struct tp_metric *m,
       struct tp_verdict *out)
{
    struct shell *self = vself;
    struct bands_job job;

    if (bands_metric(self->bands, id, x, m->value, m->step) &&
        bands_find(self->bands, id, &job))
        bands_verdict(&job, self->host, m->value, out);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;

    if (id != TP_NO_ID)
        bands_final(self->bands, id, x, result->value);
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct shell *self = vself;

    (void)how;
    if (bands_ended(self->bands, id, x) != 0)
        return fail(self, "out of memory");
    return TP_OK;
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
    const char *wrong = bands_load(self->bands, &self->prior, source);

    return wrong == NULL ? TP_OK : fail(self, wrong);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "hyperband",
    .doc = "many trials with little budget, of which the best go on",
    .version = 1,
    .flags = TP_TUNER_UNITS,
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
    .metric = metric,
};
TP_REGISTER_TUNER(tuner)
