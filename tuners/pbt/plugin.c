/* SPDX-License-Identifier: MIT */
/* The tuner `pbt`: pbt.h behind the plugin interface. */
#include "pbt/folder.h"
#include "pbt/pbt.h"
#include "prior/space.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VALUE_MAX 80 /* bytes of a value, for explanations */

typedef unsigned long long ull;

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
    [MODE] = TP_MODE("maximize", "whether larger results are better"),
    [ROOT] = TP_STRING_OR_NULL(
        "all_checkpoint_dir",
        "folder of load_checkpoint_dir and save_checkpoint_dir; null: "
        "the experiment's"),
    [SIZE] = TP_INT("population_size", 10, 1, PBT_SIZE_MAX,
                    "members; also the most trials at a time"),
    [FACTOR] = TP_DOUBLE("factor", 0.2, 0, 1e6,
                         "how far a copy's numbers go, in ranges or sigmas"),
    [RESAMPLE] = TP_DOUBLE("resample_probability", 0.25, 0, 1,
                           "of a copy's parameter being drawn anew instead"),
    [FRACTION] =
        TP_DOUBLE("fraction", 0.2, 0, 1,
                  "of the members: the best, that are copied, and the worst, "
                  "that copy"),
    [WAY] =
        TP_ONE_OF("mode", "rounds", "rounds|async",
                  "rounds: all members wait for each other, as in NNI; async: "
                  "nobody waits"),
    [INTERVAL] =
        TP_INT("interval", 0, 0, 1e15,
               "a turn, in intermediate results; 0: as long as the trial "
               "runs (rounds)"),
    [BUDGET] =
        TP_INT("max_budget", 0, 0, 1e15,
               "what a member gets in all, in intermediate results; 0: no "
               "end"),
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

    pbt_free(self->pbt);
    free(self);
}

static void
release(void *ctx, uint64_t id)
{
    const struct shell *self = ctx;

    tp_decide(self->host, id, TP_RELEASE);
}

static int
too_many(const struct shell *self, size_t size)
{
    return tp_error(self->host,
                    "population_size: is %zu, for which there is no memory, "
                    "expected fewer members",
                    size);
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
        .async = tp_is(&values[WAY], "async"),
        .interval = (uint64_t)values[INTERVAL].integer,
        .max_budget = (uint64_t)values[BUDGET].integer,
    };

    (void)n;
    if (set.async && set.interval == 0)
        return tp_error(self->host,
                        "interval: is 0, expected the intermediate results of "
                        "a turn, at least 1, in mode async");
    if (set.max_budget > 0 && set.interval == 0)
        return tp_error(self->host,
                        "max_budget: is %" PRIu64 " beside an interval of 0, "
                        "expected 0, or an interval of at least 1: both count "
                        "intermediate results",
                        set.max_budget);
    self->root = tp_text_or_null(&values[ROOT]);
    if (folder_check(self->host, self->root) != TP_OK)
        return TP_ERR;
    self->maximize = tp_maximizes(&values[MODE]);
    self->pbt = pbt_new(&set, prior_host_random(self->host));
    if (self->pbt == NULL)
        return too_many(self, set.size);
    self->pbt->release = release;
    self->pbt->release_ctx = self;
    return TP_OK;
}

static double
value_of(void *ctx, size_t dim, double x)
{
    const struct tp_host *host = ctx;

    return tp_value_of(host, dim, x);
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
        return tp_out_of_memory(self->host);
    }
    for (size_t i = 0; i < s->n_dims; i++)
        mine.q[i] = TP_DIM(s, i)->q;
    if (pbt_space(self->pbt, &mine) != 0) {
        explore_space_fini(&mine);
        return too_many(self, self->pbt->set.size);
    }
    self->space = s;
    return TP_OK;
}

/* An element by what it says, anything else as a number. */
static void
value_text(const struct shell *self, size_t dim, double x, char out[VALUE_MAX])
{
    const struct tp_host *host = self->host;
    struct tp_element e;
    double value = tp_value_of(host, dim, x);

    if (isnan(x)) {
        snprintf(out, VALUE_MAX, "nothing");
        return;
    }
    if (TP_DIM(self->space, dim)->kind == TP_CHOICE &&
        tp_element_of(host, dim, (uint64_t)x, &e) == TP_OK) {
        if (e.kind == TP_ELEMENT_TEXT) {
            snprintf(out, VALUE_MAX, "%.40s", e.text);
            return;
        }
        if (e.kind == TP_ELEMENT_TRUTH) {
            snprintf(out, VALUE_MAX, "%s", e.number != 0 ? "true" : "false");
            return;
        }
        if (e.kind == TP_ELEMENT_NUMBER)
            value = e.number;
    }
    snprintf(out, VALUE_MAX, "%.9g", value);
}

static void
explain_exploring(const struct shell *self, const struct pbt_answer *a)
{
    char from[VALUE_MAX], to[VALUE_MAX];

    for (size_t i = 0; i < self->space->n_dims; i++) {
        if (a->base[i] == a->x[i] || (isnan(a->base[i]) && isnan(a->x[i])))
            continue;
        value_text(self, i, a->base[i], from);
        value_text(self, i, a->x[i], to);
        tp_explain(self->host, "%s %s -> %s", TP_DIM(self->space, i)->name,
                   from, to);
    }
}

static void
explain_ask(const struct shell *self, const struct pbt_answer *a)
{
    const char *turn = self->pbt->set.async ? "turn" : "round";
    ull size = self->pbt->set.size;

    if (!tp_explains(self->host))
        return;
    switch (a->kind) {
    case PBT_FRESH:
        tp_explain(self->host, "%s %llu: member %llu begins at %s", turn,
                   (ull)a->turn, (ull)a->member,
                   a->imported ? "an imported point" : "a draw of the prior");
        return;
    case PBT_ON:
        tp_explain(self->host,
                   "%s %llu: member %llu (rank %llu of %llu) goes on", turn,
                   (ull)a->turn, (ull)a->member, (ull)a->rank + 1, size);
        return;
    case PBT_COPY:
        tp_explain(self->host,
                   "%s %llu: member %llu (rank %llu of %llu) copies "
                   "member %llu (rank %llu)",
                   turn, (ull)a->turn, (ull)a->member, (ull)a->rank + 1, size,
                   (ull)a->donor, (ull)a->donor_rank + 1);
        explain_exploring(self, a);
        return;
    }
}

static void
explain_judgement(const struct shell *self, uint64_t used,
                  const struct pbt_judgement *j)
{
    static const char *const what[] = {
        [PBT_GO] = "it goes on",
        [PBT_STOP] = "it is stopped, and its member becomes a copy",
        [PBT_PAUSE] = "it makes place for a member that has had less",
        [PBT_FINISH] = "it has had its budget",
    };

    if (!tp_explains(self->host) || (!j->ranked && j->verdict == PBT_GO))
        return;
    if (j->ranked)
        tp_explain(self->host,
                   "after %llu results: rank %llu of %llu, cut at %llu: %s",
                   (ull)used, (ull)j->rank + 1, (ull)self->pbt->set.size,
                   (ull)j->cut, what[j->verdict]);
    else
        tp_explain(self->host, "after %llu results: %s", (ull)used,
                   j->verdict == PBT_PAUSE ? "its round is over"
                                           : what[j->verdict]);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    static const int hows[] = {
        [PBT_FRESH] = TP_ANEW, [PBT_ON] = TP_PROMOTED, [PBT_COPY] = TP_CLONED};
    struct shell *self = vself;
    struct pbt_answer a = {.x = out->x};

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
    explain_ask(self, &a);
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
    struct pbt_judgement j = pbt_metric(
        self->pbt, id, x, goodness(self, metric->value), metric->step + 1);

    out->decision = decisions[j.verdict];
    if (j.ranked && j.verdict == PBT_STOP) {
        out->value = metric->value;
        out->threshold = goodness(self, j.limit);
        out->rule = "among the worst of the population";
    }
    explain_judgement(self, metric->step + 1, &j);
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

    return tp_ok_unless(self->host, pbt_load(self->pbt, source));
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "pbt",
    .doc = "a population that trains; the worst become copies of the best, "
           "with other parameters",
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
    .metric = metric,
};
TP_REGISTER_TUNER(tuner)
