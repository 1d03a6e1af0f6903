/* SPDX-License-Identifier: MIT */
/* The tuner `pbt`: pbt.h behind the plugin interface. */
#include "pbt/folder.h"
#include "pbt/pbt.h"
#include "pbt/state.h"
#include "pbt/words.h"
#include "prior/space.h"
#include "tunepipe/tuner.h"

#include <string.h>

struct shell {
    const struct tp_host *host;
    struct pbt *pbt;
    const struct tp_space *space;
    const char *root; /* of the folders; NULL: none are named */
    bool maximize;
};

enum {
    MODE,
    ROOT,
    SIZE,
    FACTOR,
    RESAMPLE,
    FRACTION,
    WAY,
    INTERVAL,
    BUDGET,
    SEED,
    N_ARGS
};

static const struct tp_arg args[N_ARGS] = {
    [MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
              "maximize|minimize", "whether larger results are better"},
    [ROOT] = {"all_checkpoint_dir", TP_ARG_STRING, 1, "null", 0, 0, NULL,
              "folder of load_checkpoint_dir and save_checkpoint_dir; null: "
              "the experiment's"},
    [SIZE] = {"population_size", TP_ARG_INT, 0, "10", 1, PBT_SIZE_MAX, NULL,
              "members; also the most trials at a time"},
    [FACTOR] = {"factor", TP_ARG_DOUBLE, 0, "0.2", 0, 1e6, NULL,
                "how far a copy's numbers go, in ranges or sigmas"},
    [RESAMPLE] = {"resample_probability", TP_ARG_DOUBLE, 0, "0.25", 0, 1, NULL,
                  "of a copy's parameter being drawn anew instead"},
    [FRACTION] = {"fraction", TP_ARG_DOUBLE, 0, "0.2", 0, 1, NULL,
                  "of the members: the best, that are copied, and the worst, "
                  "that copy"},
    [WAY] = {"mode", TP_ARG_STRING, 0, "\"rounds\"", 0, 0, "rounds|async",
             "rounds: all members wait for each other, as in NNI; async: "
             "nobody waits"},
    [INTERVAL] = {"interval", TP_ARG_INT, 0, "0", 0, 1e15, NULL,
                  "a turn, in intermediate results; 0: as long as the trial "
                  "runs (rounds)"},
    [BUDGET] = {"max_budget", TP_ARG_INT, 0, "0", 0, 1e15, NULL,
                "what a member gets in all, in intermediate results; 0: no "
                "end"},
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

    pbt_free(self->pbt);
    free(self);
}

static void
release(void *ctx, uint64_t id)
{
    const struct shell *self = ctx;

    if (TP_HAS(self->host, decide))
        self->host->decide(self->host->ctx, id, TP_RELEASE);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    struct pbt_settings set = {
        .size = (size_t)values[SIZE].integer,
        .factor = values[FACTOR].number,
        .resample = values[RESAMPLE].number,
        .fraction = values[FRACTION].number,
        .async = strcmp(values[WAY].text, "async") == 0,
        .interval = (uint64_t)values[INTERVAL].integer,
        .max_budget = (uint64_t)values[BUDGET].integer,
    };

    (void)n;
    if (set.async && set.interval == 0)
        return fail(self, "interval: is 0, expected the intermediate results "
                          "of a turn, at least 1, in mode async");
    if (set.max_budget > 0 && set.interval == 0)
        return fail(self, "max_budget is given without interval, which counts "
                          "in intermediate results too");
    self->root = values[ROOT].is_null ? NULL : values[ROOT].text;
    if (folder_wrong(self->root) != NULL)
        return fail(self, folder_wrong(self->root));
    self->maximize = strcmp(values[MODE].text, "maximize") == 0;
    self->pbt = pbt_new(&set, prior_host_random(self->host));
    if (self->pbt == NULL)
        return fail(self, "out of memory for that many members");
    self->pbt->release = release;
    self->pbt->release_ctx = self;
    return TP_OK;
}

static double
value_of(void *ctx, size_t dim, double x)
{
    const struct tp_host *host = ctx;

    return host->value(host->ctx, dim, x);
}

static int
space(void *vself, const struct tp_space *s)
{
    struct shell *self = vself;
    struct explore_space mine = {
        .q = calloc(s->n_dims > 0 ? s->n_dims : 1, sizeof *mine.q),
        .value = value_of,
        .value_ctx = (void *)(uintptr_t)self->host,
    };

    if (mine.q == NULL || prior_of_space(&mine.prior, s) != 0) {
        explore_space_fini(&mine);
        return fail(self, "out of memory");
    }
    for (size_t i = 0; i < s->n_dims; i++)
        mine.q[i] = TP_DIM(s, i)->q;
    if (pbt_space(self->pbt, &mine) != 0) {
        explore_space_fini(&mine);
        return fail(self, "out of memory for that many members");
    }
    self->space = s;
    return TP_OK;
}

static struct words
words_of(const struct shell *self)
{
    return (struct words){self->host, self->space, self->pbt};
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    static const int hows[] = {
        [PBT_FRESH] = TP_ANEW, [PBT_ON] = TP_PROMOTED, [PBT_COPY] = TP_CLONED};
    struct shell *self = vself;
    struct pbt_answer a = {.x = out->x};
    struct words words = words_of(self);

    switch (pbt_ask(self->pbt, id, &a)) {
    case PBT_LATER:
        return TP_LATER;
    case PBT_OVER:
        return TP_DONE;
    case PBT_POINT:
        break;
    }
    out->budget = (double)a.budget;
    if (a.from != PBT_NO_ID) {
        out->from = a.from;
        out->from_how = hows[a.kind];
    }
    folder_both(self->host, self->root,
                (const uint64_t[2]){a.load.member, a.load.turn},
                (const uint64_t[2]){a.save.member, a.save.turn});
    words_asked(&words, &a);
    return TP_OK;
}

static double
goodness(const struct shell *self, double value)
{
    return self->maximize ? value : -value;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;
    double good = goodness(self, result->value);

    if (id == TP_NO_ID)
        pbt_import(self->pbt, x, good);
    else
        pbt_tell(self->pbt, id, x, good);
    return TP_OK;
}

static int
metric(void *vself, uint64_t id, const double *x,
       const struct tp_metric *metric, struct tp_verdict *out)
{
    static const int decisions[] = {[PBT_GO] = TP_GO,
                                    [PBT_STOP] = TP_STOP,
                                    [PBT_PAUSE] = TP_PAUSE,
                                    [PBT_FINISH] = TP_FINISH};
    struct shell *self = vself;
    struct words words = words_of(self);
    struct pbt_judgement j = pbt_metric(
        self->pbt, id, x, goodness(self, metric->value), metric->step + 1);

    out->decision = decisions[j.verdict];
    if (j.ranked && j.verdict == PBT_STOP) {
        out->value = metric->value;
        out->threshold = goodness(self, j.limit);
        out->rule = "among the worst of the population";
    }
    words_judged(&words, metric->step + 1, &j);
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct shell *self = vself;
    enum pbt_end end = how == TP_ENDED_SUCCEEDED ? PBT_END_WELL
                       : how == TP_ENDED_PAUSED  ? PBT_END_PAUSED
                                                 : PBT_END_BADLY;

    pbt_ended(self->pbt, id, x, end);
    return TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    struct shell *self = vself;

    pbt_save(self->pbt, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct shell *self = vself;
    const char *wrong = pbt_load(self->pbt, source);

    return wrong == NULL ? TP_OK : fail(self, wrong);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "pbt",
    .doc = "a population that trains; the worst become copies of the best, "
           "with other parameters",
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
    .metric = metric,
};
TP_REGISTER_TUNER(tuner)
