/* SPDX-License-Identifier: MIT */
/* The tuner `bohb`: bands.h with configurations of model.h and of the tuner tpe
 * by turns, behind the plugin interface. */
#include "bands/shell.h"
#include "bands/bands.h"
#include "bohb/model.h"
#include "parts/budgets.h"
#include "parts/searcher.h"
#include "prior/space.h"
#include "tunepipe/shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shell {
    const struct tp_host *host;
    struct bands *bands;
    struct model *model;
    struct searcher tpe;
    char label[BANDS_LABEL_SIZE];
};

enum {
    MODE,
    MIN_BUDGET,
    MAX_BUDGET,
    ETA,
    MIN_POINTS,
    TOP_PERCENT,
    NUM_SAMPLES,
    RANDOM_FRACTION,
    BANDWIDTH_FACTOR,
    MIN_BANDWIDTH,
    CONFIG_SPACE,
    EXEC,
    BRACKETS,
    SEED,
    N_ARGS
};

#define COUNT_MAX 1000000

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger results are better"),
    [MIN_BUDGET] = TP_INT("min_budget", 1, 1, BANDS_BUDGET_MAX,
                          "the least budget, in intermediate results"),
    [MAX_BUDGET] = TP_INT("max_budget", 3, 1, BANDS_BUDGET_MAX,
                          "the greatest budget, in intermediate results"),
    [ETA] = TP_INT("eta", 3, BANDS_ETA_MIN, BANDS_ETA_MAX,
                   "one of so many goes on to the next round"),
    [MIN_POINTS] =
        TP_INT_OR_NULL("min_points_in_model", 1, COUNT_MAX,
                       "good results, at least; null, and at least: parameters "
                       "+ 1"),
    [TOP_PERCENT] = TP_INT("top_n_percent", 15, 1, 99,
                           "percentage of the results that is good"),
    [NUM_SAMPLES] = TP_INT("num_samples", 64, 1, COUNT_MAX,
                           "draws from the model, the best of which is tried"),
    [RANDOM_FRACTION] =
        TP_DOUBLE("random_fraction", 0.1, 0, 1,
                  "share of configurations drawn from the prior (NNI: 1/3)"),
    [BANDWIDTH_FACTOR] =
        TP_DOUBLE("bandwidth_factor", 3, 1e-6, 9999,
                  "draws are so many times as wide as the model's "
                  "kernels"),
    [MIN_BANDWIDTH] =
        TP_DOUBLE("min_bandwidth", 0.001, 1e-6, 9999,
                  "least width of a kernel, in units of the range"),
    [CONFIG_SPACE] = TP_STRING_OR_NULL("config_space",
                                       "refused: the search space tells all"),
    [EXEC] =
        TP_ONE_OF("exec_mode", "serial", "serial|parallelism",
                  "whether a bracket begins before the one before it is over"),
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
    model_free(self->model);
    searcher_fini(&self->tpe);
    free(self);
}

/* What the table of arguments cannot say. */
static int
check(const struct shell *self, const struct tp_value *values)
{
    const struct tp_host *host = self->host;

    if (!values[CONFIG_SPACE].is_null)
        return tp_error(host,
                        "config_space: is \"%.200s\", expected null: files of "
                        "ConfigSpace are not read, the search space tells all",
                        values[CONFIG_SPACE].text);
    if (values[MIN_BUDGET].integer > values[MAX_BUDGET].integer)
        return tp_error(host,
                        "min_budget: is %" PRId64 ", expected at most "
                        "max_budget, which is %" PRId64,
                        values[MIN_BUDGET].integer, values[MAX_BUDGET].integer);
    return TP_OK;
}

static struct bands_options
bands_options(const struct shell *self, const struct tp_value *values)
{
    return (struct bands_options){
        .table = bands_table((uint64_t)values[MIN_BUDGET].integer,
                             (uint64_t)values[MAX_BUDGET].integer,
                             (uint64_t)values[ETA].integer),
        .order = tp_is(&values[EXEC], "parallelism") ? BANDS_PARALLEL
                                                     : BANDS_FINISHED,
        .maximize = tp_maximizes(&values[MODE]),
        .limit = (uint64_t)values[BRACKETS].integer,
        .release = bands_release,
        .ctx = (void *)(uintptr_t)self->host,
    };
}

static struct model_options
model_options(const struct tp_value *values)
{
    return (struct model_options){
        .maximize = tp_maximizes(&values[MODE]),
        .min_points = (size_t)tp_integer_or(&values[MIN_POINTS], 0),
        .top_percent = (size_t)values[TOP_PERCENT].integer,
        .num_samples = (size_t)values[NUM_SAMPLES].integer,
        .random_fraction = values[RANDOM_FRACTION].number,
        .bandwidth_factor = values[BANDWIDTH_FACTOR].number,
        .min_bandwidth = values[MIN_BANDWIDTH].number,
    };
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    struct bands_options bands = bands_options(self, values);
    struct model_options model = model_options(values);

    (void)n;
    if (check(self, values) != TP_OK)
        return TP_ERR;
    bands_warn(self->host, &bands.table, "max_budget");
    self->bands = bands_new(&bands);
    self->model = model_new(&model, bands.table.s_max + 1);
    if (self->bands == NULL || self->model == NULL)
        return tp_out_of_memory(self->host);
    return searcher_init(&self->tpe, self->host, searcher_tpe(),
                         values[MODE].text);
}

static int
space(void *vself, const struct tp_space *s)
{
    struct shell *self = vself;
    struct prior prior = {.dims = NULL};
    struct axis *axes;

    if (!budgets_fit(self->host, s))
        return TP_ERR;
    axes = calloc(s->n_dims + 1, sizeof *axes);
    if (axes == NULL || prior_of_space(&prior, s) != 0 ||
        bands_space(self->bands, s->n_dims) != 0) {
        prior_fini(&prior);
        free(axes);
        return tp_out_of_memory(self->host);
    }
    for (size_t i = 0; i < s->n_dims; i++)
        axes[i] = tpe_axis_of(TP_DIM(s, i));
    if (model_space(self->model, &prior, axes) != 0)
        return tp_out_of_memory(self->host);
    return searcher_space(&self->tpe, s);
}

/* To tpe a configuration is one trial, whatever trials it is in; apart from the
 * trials' ids, with which the draws of model.h are made. */
static uint64_t
tpe_id(const struct bands_job *job)
{
    return job->slot->n | (uint64_t)1 << 62;
}

/* The budget of the job's round, counted from the least. */
static size_t
level_of(const struct shell *self, const struct bands_job *job)
{
    return self->bands->options.table.s_max -
           (job->bracket->s - job->bracket->round);
}

static void
explain(const struct shell *self, const struct model_origin *o, bool by_tpe)
{
    const struct tp_host *host = self->host;

    if (o->is_modelled)
        tp_explain(host,
                   "draw %zu from the model of %zu results of budget "
                   "%" PRIu64 ", %zu of them good: log density %.4g above "
                   "that of the %zu worst",
                   o->candidate + 1, o->n_results,
                   bands_table_budget(&self->bands->options.table,
                                      self->bands->options.table.s_max,
                                      (unsigned)o->level),
                   o->n_good, o->score, o->n_others);
    else if (o->is_fraction)
        tp_explain(host, "a draw of the prior, as random_fraction wants");
    else if (by_tpe)
        tp_explain(host, "by tpe, as every other configuration is");
    else
        tp_explain(host,
                   "by tpe: no budget has the %zu results that the model of "
                   "one begins with, %zu at most",
                   o->needed, o->n_results);
}

/* A configuration that has not been tried. */
static int
suggest(struct shell *self, uint64_t id, const struct bands_job *job,
        struct tp_suggestion *out)
{
    struct prior_random random = prior_host_random(self->host);
    bool by_tpe = job->slot->n % 2 == 1;
    struct model_origin origin;

    model_ask(self->model, &random, id, job->again, by_tpe, out->x, &origin);
    explain(self, &origin, by_tpe);
    if (origin.is_modelled || origin.is_fraction)
        return TP_OK;
    return searcher_ask(&self->tpe, tpe_id(job), out);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct shell *self = vself;
    size_t bytes = self->model->prior.n_dims * sizeof *out->x;
    struct bands_job job;
    int rc = bands_ask(self->bands, id, &job);

    if (rc == BANDS_ERROR)
        return tp_out_of_memory(self->host);
    if (rc != BANDS_JOB)
        return rc == BANDS_LATER ? TP_LATER : TP_DONE;
    snprintf(self->label, sizeof self->label, "%u_%u_%" PRIu64, job.bracket->s,
             job.bracket->round, job.slot->n);
    out->label = self->label;
    bands_suggest(&job, out);
    bands_explain(&job, self->host);
    if (job.slot->from != BANDS_NO_ID) {
        memcpy(out->x, job.x, bytes);
        return TP_OK;
    }
    if (suggest(self, id, &job, out) != TP_OK)
        return TP_ERR;
    memcpy(job.x, out->x, bytes);
    return TP_OK;
}

/* One that used less than max_budget is to tpe a trial that was stopped there:
 * those that got further come first. */
static int
learn(struct shell *self, const struct bands_job *job, const double *x,
      double value, bool again)
{
    int how = bands_is_last(job) ? TP_RESULT_FINAL : TP_RESULT_STOPPED;

    if (model_learn(self->model, level_of(self, job), job->slot->n, x, value,
                    again) != 0)
        return tp_out_of_memory(self->host);
    return searcher_tell(&self->tpe, tpe_id(job), x, how, value,
                         job->budget - 1);
}

static int
metric(void *vself, uint64_t id, const double *x, const struct tp_metric *m,
       struct tp_verdict *out)
{
    struct shell *self = vself;
    struct bands_job job;
    bool is_new;

    if (!bands_find(self->bands, id, &job))
        return TP_OK;
    is_new = (job.slot->flags & BANDS_USED) == 0;
    if (!bands_metric(self->bands, id, x, m->value, m->step))
        return TP_OK;
    bands_verdict(&job, self->host, m->value, out);
    return is_new ? learn(self, &job, x, m->value, false) : TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;
    struct bands_job job;

    if (id == TP_NO_ID) {
        if (model_learn(self->model, self->model->n_levels - 1, MODEL_NO_N, x,
                        result->value, false) != 0)
            return tp_out_of_memory(self->host);
        return searcher_tell(&self->tpe, id, x, TP_RESULT_IMPORTED,
                             result->value, 0);
    }
    if (!bands_find(self->bands, id, &job))
        return TP_OK;
    bands_final(self->bands, id, x, result->value);
    return learn(self, &job, x, result->value, true);
}

/* A trial that failed before it had used its budget is as bad as any. */
static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct shell *self = vself;
    struct bands_job job;
    int rc = TP_OK;

    if (bands_find(self->bands, id, &job)) {
        if (how == TP_ENDED_FAILED &&
            (job.slot->flags & (BANDS_USED | BANDS_FINAL)) == 0)
            rc = learn(self, &job, x, (double)NAN, false);
        else
            rc = searcher_ended(&self->tpe, tpe_id(&job), x, how);
    }
    if (bands_ended(self->bands, id, x) != 0)
        return tp_out_of_memory(self->host);
    return rc;
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct shell *self = vself;

    return tp_ok_or_memory(self->host,
                           model_score(self->model, points, n, out));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct shell *self = vself;

    bands_save(self->bands, sink);
    model_save(self->model, sink);
    return searcher_save(&self->tpe, sink);
}

static int
load(void *vself, const struct tp_source *source)
{
    struct shell *self = vself;
    const char *wrong = bands_load(self->bands, &self->model->prior, source);

    if (wrong == NULL)
        wrong = model_load(self->model, source);
    if (wrong != NULL)
        return tp_ok_unless(self->host, wrong);
    return searcher_load(&self->tpe, source);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "bohb",
    .doc = "hyperband, whose configurations models of good results suggest",
    .version = 2,
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
    .score = score,
    .metric = metric,
};
TP_REGISTER_TUNER(tuner)
