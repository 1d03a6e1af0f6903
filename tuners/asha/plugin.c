/* SPDX-License-Identifier: MIT */
/* The tuner `asha`: asha.h behind the plugin interface. */
#include "asha/asha.h"
#include "parts/searcher.h"
#include "parts/budgets.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <math.h>
#include <stdlib.h>

/* The table of the plugin auto, under another name. */
const struct tp_tuner *asha_part_auto(void);

#define BUDGET_MAX 1e15

struct shell {
    const struct tp_host *host;
    struct asha *asha;
    struct searcher searcher;
    bool maximize;
    const struct tp_objectives *objectives; /* NULL: results are one value */
    double costs[ASHA_COSTS_MAX];           /* of what is told */
};

enum {
    MODE,
    MIN_BUDGET,
    MAX_BUDGET,
    ETA,
    BRACKETS,
    TYPE,
    SEARCHER,
    CONFIGURATIONS,
    SEED,
    N_ARGS
};

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger results are better"),
    [MIN_BUDGET] = TP_INT("min_budget", 1, 1, BUDGET_MAX,
                          "the first rung, in intermediate results"),
    [MAX_BUDGET] = TP_INT("max_budget", 27, 1, BUDGET_MAX,
                          "the most a trial gets, in intermediate results"),
    [ETA] = TP_INT("eta", 3, 2, 1000,
                   "one in so many goes on from a rung to the next"),
    [BRACKETS] = TP_INT("brackets", 1, 1, ASHA_LEVELS_MAX,
                        "ladders of rungs, each begins one rung higher"),
    [TYPE] =
        TP_ONE_OF("type", "stopping", "stopping|promotion",
                  "trials are stopped at rungs, or paused there and promoted"),
    [SEARCHER] = TP_ONE_OF(
        "searcher", "tpe", "tpe|auto|random",
        "where new configurations come from: a tuner that is told all "
        "results, or samples"),
    [CONFIGURATIONS] = TP_INT("configurations", 0, 0, BUDGET_MAX,
                              "points that are tried; 0: any number"),
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

    asha_free(self->asha);
    searcher_fini(&self->searcher);
    free(self);
}

/* What the table of arguments cannot say. */
static int
check(const struct tp_host *host, const struct asha_options *o)
{
    uint64_t levels[ASHA_LEVELS_MAX];
    size_t n;

    if (o->max_budget < o->min_budget)
        return tp_error(host,
                        "min_budget: is %llu, expected at most "
                        "max_budget, which is %llu",
                        (unsigned long long)o->min_budget,
                        (unsigned long long)o->max_budget);
    n = asha_levels(o, levels);
    if (o->brackets <= n)
        return TP_OK;
    return tp_error(host,
                    "brackets: is %zu, expected at most %zu, one for "
                    "each rung from %llu to %llu by %llu",
                    o->brackets, n, (unsigned long long)o->min_budget,
                    (unsigned long long)o->max_budget,
                    (unsigned long long)o->eta);
}

static const struct tp_tuner *
model_of(const struct tp_value *searcher)
{
    if (tp_is(searcher, "random"))
        return NULL;
    return tp_is(searcher, "auto") ? asha_part_auto() : searcher_tpe();
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    struct asha_options o = {
        .min_budget = (uint64_t)values[MIN_BUDGET].integer,
        .max_budget = (uint64_t)values[MAX_BUDGET].integer,
        .eta = (uint64_t)values[ETA].integer,
        .brackets = (size_t)values[BRACKETS].integer,
        .promotes = tp_is(&values[TYPE], "promotion"),
        .configs = (uint64_t)values[CONFIGURATIONS].integer,
    };

    (void)n;
    if (check(self->host, &o) != TP_OK)
        return TP_ERR;
    self->maximize = tp_maximizes(&values[MODE]);
    self->asha = asha_new(&o);
    if (self->asha == NULL)
        return tp_out_of_memory(self->host);
    return searcher_init(&self->searcher, self->host,
                         model_of(&values[SEARCHER]), values[MODE].text);
}

/* One without limits is `value`. */
static int
objectives(void *vself, const struct tp_objectives *of)
{
    struct shell *self = vself;

    if (of->n == 1 && of->n_limits == 0)
        return TP_OK;
    if (of->n > ASHA_COSTS_MAX)
        return tp_error(self->host, "%zu objectives, expected at most %d",
                        of->n, ASHA_COSTS_MAX);
    self->objectives = of;
    self->asha->n_costs = of->n;
    return searcher_objectives(&self->searcher, of);
}

/* Of n in a rung n / eta are promoted. */
static void
announce(const struct shell *self)
{
    const struct tp_host *host = self->host;
    const struct asha_options *o = &self->asha->options;
    uint64_t left = o->configs;

    for (size_t k = 1; k < self->asha->n_levels; k++)
        left /= o->eta;
    if (o->promotes && o->configs > 0 && left == 0)
        tp_log(host, TP_LOG_WARNING,
               "of %llu configurations none may get to max_budget, on the last "
               "of %zu rungs: one in %llu is promoted from each",
               (unsigned long long)o->configs, self->asha->n_levels,
               (unsigned long long)o->eta);
}

static int
space(void *vself, const struct tp_space *s)
{
    struct shell *self = vself;

    if (!budgets_fit(self->host, s))
        return TP_ERR;
    if (searcher_space(&self->searcher, s) != TP_OK)
        return TP_ERR;
    if (asha_space(self->asha, s->n_dims) != 0)
        return tp_out_of_memory(self->host);
    announce(self);
    return TP_OK;
}

static double
as_loss(const struct shell *self, double value)
{
    return self->maximize ? -value : value;
}

/* Bracket and rung are counted from 1 for people. */
static void
explain_ask(const struct shell *self, const struct asha_suggestion *s, int rc)
{
    const struct tp_host *host = self->host;
    const struct asha *a = self->asha;
    const struct rung *below;
    size_t n_rungs = a->brackets[s->bracket].n_rungs;

    if (!tp_explains(host))
        return;
    if (rc == ASHA_NEW) {
        tp_explain(host,
                   "a new configuration in bracket %zu of %zu: no other waits "
                   "to be promoted; first rung of %zu: at budget %llu",
                   s->bracket + 1, a->options.brackets, n_rungs,
                   (unsigned long long)asha_level(a, s->bracket, s->rung));
        return;
    }
    below = asha_rung(a, s->bracket, s->rung - 1);
    if (self->objectives != NULL)
        tp_explain(host,
                   "bracket %zu of %zu: suggestion %llu, place %.0f of %zu by "
                   "front and crowding, was the best that waited in rung %zu "
                   "of %zu, and in the top %zu",
                   s->bracket + 1, a->options.brackets,
                   (unsigned long long)s->from, s->loss + 1, below->n, s->rung,
                   n_rungs, asha_rung_top(below));
    else
        tp_explain(
            host,
            "bracket %zu of %zu: suggestion %llu, with %.9g, was the best "
            "that waited in rung %zu of %zu, and in the top %zu of %zu",
            s->bracket + 1, a->options.brackets, (unsigned long long)s->from,
            as_loss(self, s->loss), s->rung, n_rungs, asha_rung_top(below),
            below->n);
    tp_explain(host, "it goes on to rung %zu: to budget %llu", s->rung + 1,
               (unsigned long long)s->budget);
}

static void
explain_entry(const struct shell *self, const struct asha_judgement *j)
{
    const struct tp_host *host = self->host;
    const struct asha *a = self->asha;
    struct rung *r = asha_rung(a, j->bracket, j->rung);

    if (!j->is_recorded || !tp_explains(host))
        return;
    tp_explain(host,
               "bracket %zu of %zu, rung %zu of %zu (budget %llu): rank "
               "%zu of %zu",
               j->bracket + 1, a->options.brackets, j->rung + 1,
               a->brackets[j->bracket].n_rungs,
               (unsigned long long)asha_level(a, j->bracket, j->rung),
               asha_rung_rank(r, j->entry), r->n);
    if (asha_rung_top(r) > 0 && self->objectives != NULL)
        tp_explain(host,
                   "the best %zu by front and crowding are its top (1/%llu)",
                   asha_rung_top(r), (unsigned long long)r->eta);
    else if (asha_rung_top(r) > 0)
        tp_explain(host,
                   "the best %zu are its top (1/%llu); the cut is at %.9g",
                   asha_rung_top(r), (unsigned long long)r->eta,
                   as_loss(self, j->cut));
    else
        tp_explain(host, "it has no top yet: that takes %llu results",
                   (unsigned long long)r->eta);
}

/* Those that nobody goes on from. */
static void
release(struct shell *self)
{
    uint64_t id;

    while (asha_released(self->asha, &id))
        tp_decide(self->host, id, TP_RELEASE);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct shell *self = vself;
    struct asha_suggestion s;
    int rc = asha_ask(self->asha, id, out->x, &s);

    release(self);
    if (rc < 0)
        return tp_out_of_memory(self->host);
    if (rc == ASHA_LATER || rc == ASHA_DONE)
        return rc == ASHA_LATER ? TP_LATER : TP_DONE;
    explain_ask(self, &s, rc);
    if (rc == ASHA_NEW && searcher_ask(&self->searcher, id, out) != TP_OK)
        return TP_ERR;
    if (TP_HAS(out, budget))
        out->budget = (double)s.budget;
    if (rc == ASHA_PROMOTED && TP_HAS(out, from_how)) {
        out->from = s.from;
        out->from_how = TP_PROMOTED;
    }
    return TP_OK;
}

/* A configuration that used less than max_budget is to the model one that was
 * stopped there: those that got further come first. */
static int
tell_model(struct shell *self, uint64_t id, const double *x,
           struct tp_result result, int verdict, const struct asha_judgement *j)
{
    result.how = TP_RESULT_FINAL;
    result.step = 0;
    if (verdict != ASHA_FINISH) {
        result.how = TP_RESULT_STOPPED;
        result.step = asha_level(self->asha, j->bracket, j->rung) - 1;
    }
    return searcher_tell_result(&self->searcher, asha_first(self->asha, id), x,
                                &result);
}

/* Less is better of each. */
static void
lend(struct shell *self, const double *values, double violation)
{
    if (self->objectives == NULL)
        return;
    for (size_t k = 0; values != NULL && k < self->objectives->n; k++)
        self->costs[k] = TP_OBJECTIVE(self->objectives, k)->maximize
                             ? -values[k]
                             : values[k];
    asha_lend(self->asha, values == NULL ? NULL : self->costs, violation);
}

/* A result from elsewhere says where to look, and enters no rung: nobody knows
 * what it took.  What comes after the trial's end, or after it was stopped, is
 * not used. */
static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;
    struct tp_result copy = {._struct_size = sizeof copy,
                             .how = TP_RESULT_IMPORTED,
                             .value = result->value};
    struct asha_judgement j;
    int rc;

    if (self->objectives != NULL) {
        copy.values = result->values;
        copy.n_values = result->n_values;
        copy.violation = result->violation;
        lend(self, result->values, result->violation);
    }
    if (id == TP_NO_ID)
        return searcher_tell_result(&self->searcher, id, x, &copy);
    rc = asha_final(self->asha, id, x, as_loss(self, result->value), &j);
    if (rc < 0)
        return tp_out_of_memory(self->host);
    if (rc == ASHA_GO || rc == ASHA_STOP)
        return TP_OK;
    return tell_model(self, id, x, copy, rc, &j);
}

static int
metric(void *vself, uint64_t id, const double *x, const struct tp_metric *m,
       struct tp_verdict *out)
{
    static const struct {
        int decision;
        const char *rule;
    } says[] = {
        [ASHA_GO] = {TP_GO, "in the top of its rung"},
        [ASHA_STOP] = {TP_STOP, "below the top of its rung"},
        [ASHA_PAUSE] = {TP_PAUSE, "has used its budget"},
        [ASHA_FINISH] = {TP_FINISH, "has used max_budget"},
    };
    struct shell *self = vself;
    struct tp_result told = {._struct_size = sizeof told, .value = m->value};
    struct asha_judgement j;
    int rc;

    if (self->objectives != NULL) {
        told.values = m->values;
        told.n_values = m->n_values;
        told.violation = m->violation;
        lend(self, m->values, m->violation);
    }
    rc = asha_report(self->asha, id, x, m->step + 1, as_loss(self, m->value),
                     &j);
    if (rc < 0)
        return tp_out_of_memory(self->host);
    out->decision = says[rc].decision;
    if (!j.is_recorded)
        return TP_OK;
    explain_entry(self, &j);
    out->rule = says[rc].rule;
    if (self->objectives == NULL) {
        out->value = m->value;
        out->threshold = as_loss(self, j.cut);
    }
    return tell_model(self, id, x, told, rc, &j);
}

/* What was cancelled or failed is out, even behind its rung: its checkpoint
 * may be half a one. */
static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    bool is_whole = how == TP_ENDED_SUCCEEDED || how == TP_ENDED_PAUSED;
    struct shell *self = vself;
    uint64_t first = asha_first(self->asha, id);
    int rc = asha_ended(self->asha, id, is_whole);

    release(self);
    if (rc != 0)
        return tp_out_of_memory(self->host);
    return searcher_ended(&self->searcher, first != ASHA_NO_ID ? first : id, x,
                          how);
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct shell *self = vself;

    asha_save(self->asha, sink);
    return searcher_save(&self->searcher, sink);
}

static int
load(void *vself, const struct tp_source *source)
{
    struct shell *self = vself;
    const char *wrong = asha_load(self->asha, source);

    if (wrong != NULL)
        return tp_error(self->host, "%s", wrong);
    return searcher_load(&self->searcher, source);
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct shell *self = vself;

    return searcher_score(&self->searcher, points, n, out);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "asha",
    .doc = "asynchronous successive halving: the best 1/eta of a rung go on",
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
    .score = score,
    .metric = metric,
    .objectives = objectives,
};
TP_REGISTER_TUNER(tuner)
