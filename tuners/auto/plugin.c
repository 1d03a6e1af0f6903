/* SPDX-License-Identifier: MIT */
/* The tuner `auto`: several tuners that share their results.
 *
 * DESIGN: The parts are objects of other tuners' plugins, which are called
 * through their tables.  plan.h says which of them suggests the next trial.
 * That one is told of the trial as its own; the others are told of the result
 * as of an imported one, so that each knows all there is to know, whenever its
 * turn comes.  Where results have several costs, or limits, nsga2 stands in the
 * place of cmaes; where they have two or three costs, parego is one part more,
 * with which gp takes turns. */
#include "auto/owners.h"
#include "auto/parts.h"
#include "auto/plan.h"
#include "gp/gp.h"
#include "parts/defaults.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>

enum { PAREGO = PLAN_N, PARTS_MOST };

struct auto_tuner {
    const struct tp_host *host;
    const struct tp_tuner *tables[PARTS_MOST];
    void *parts[PARTS_MOST];
    struct defaults defaults[PARTS_MOST];
    size_t n_parts; /* PLAN_N, or with parego */
    struct owners owners;
    struct plan plan;
    bool maximizes;
    bool is_several; /* there are several objectives, or limits on results */
};

enum { MODE, SEED, N_ARGS };

static const struct tp_arg args[] = {
    TP_MODE("minimize", "whether larger or smaller results are better"),
    TP_SEED("seed of the random numbers"),
};

static void
destroy(void *vself)
{
    struct auto_tuner *self = vself;

    for (size_t i = 0; i < PARTS_MOST; i++)
        if (self->parts[i] != NULL)
            self->tables[i]->destroy(self->parts[i]);
    owners_fini(&self->owners);
    free(self);
}

static void *
create(const struct tp_host *host)
{
    struct auto_tuner *self = tp_new(host, sizeof *self);

    if (self != NULL)
        owners_init(&self->owners);
    return self;
}

/* That place is taken by a new tuner. */
static int
place(struct auto_tuner *self, size_t part, const struct tp_tuner *t)
{
    struct defaults *d = &self->defaults[part];

    if (self->parts[part] != NULL)
        self->tables[part]->destroy(self->parts[part]);
    self->tables[part] = t;
    self->parts[part] = t->create(self->host);
    if (self->parts[part] == NULL)
        return TP_ERR;
    if (defaults_fill(d, t->args, t->n_args,
                      self->maximizes ? "maximize" : "minimize") != 0)
        return tp_error(self->host, "a part's arguments have no defaults");
    return t->config(self->parts[part], d->values, t->n_args);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct auto_tuner *self = vself;

    (void)n;
    self->maximizes = tp_maximizes(&values[MODE]);
    self->n_parts = PLAN_N;
    if (place(self, PLAN_CMAES, parts_cmaes()) != TP_OK ||
        place(self, PLAN_TPE, parts_tpe()) != TP_OK)
        return TP_ERR;
    return place(self, PLAN_GP, parts_gp());
}

static int
objectives(void *vself, const struct tp_objectives *of)
{
    struct auto_tuner *self = vself;

    if (of->n == 1 && of->n_limits == 0)
        return TP_OK;
    self->is_several = true;
    if (place(self, PLAN_CMAES, parts_nsga2()) != TP_OK)
        return TP_ERR;
    if (of->n > 1 && of->n <= GP_VALUES_MAX) {
        self->n_parts = PARTS_MOST;
        if (place(self, PAREGO, parts_parego()) != TP_OK)
            return TP_ERR;
    }
    for (size_t i = 0; i < self->n_parts; i++)
        if (self->tables[i]->objectives(self->parts[i], of) != TP_OK)
            return TP_ERR;
    return TP_OK;
}

/* Which suggests all where there are several objectives, PAREGO: gp has every
 * other trial.  UINT64_MAX is what advisors plan, parts/searcher.c: of trials
 * that are stopped early nsga2 learns nothing. */
static size_t
sole(const struct auto_tuner *self)
{
    if (self->plan.trials == UINT64_MAX)
        return PLAN_TPE;
    if (self->plan.trials >= PLAN_MANY)
        return PLAN_CMAES;
    return self->n_parts == PARTS_MOST ? PAREGO : PLAN_GP;
}

/* Whose trial the next one is. */
static size_t
next(struct auto_tuner *self, uint64_t id)
{
    uint64_t turn;

    if (!self->is_several)
        return plan_next(&self->plan, id);
    turn = self->plan.asked++;
    return sole(self) == PAREGO && turn % 2 == 0 ? PLAN_GP : sole(self);
}

static void
announce(const struct auto_tuner *self, const char *why)
{
    const struct tp_host *host = self->host;
    const struct plan *p = &self->plan;
    const char *but = plan_begins(p) ? " but 0, which is gp's" : "";

    if (self->is_several && sole(self) == PAREGO)
        tp_log(host, TP_LOG_INFO,
               "%sthere are several objectives: gp and parego suggest trials "
               "by turns",
               why);
    else if (self->is_several)
        tp_log(host, TP_LOG_INFO,
               "%sthere are several objectives, or limits: %s suggests all "
               "trials",
               why, self->tables[sole(self)]->name);
    else if (plan_models(p))
        tp_log(host, TP_LOG_INFO,
               "%scmaes suggests all trials up to %d%s; then gp most, cmaes "
               "and tpe the others, up to %d trials",
               why, (int)p->alone, but, PLAN_MODELLED);
    else if (p->kind == PLAN_MIXED)
        tp_log(host, TP_LOG_INFO,
               "%scmaes suggests the first %d trials; then tpe, too: one of "
               "three, or all others while it has the best result",
               why, (int)p->alone);
    else
        tp_log(host, TP_LOG_INFO,
               "%sall parameters are continuous: cmaes suggests all trials%s",
               why, but);
}

static int
space(void *vself, const struct tp_space *s)
{
    struct auto_tuner *self = vself;

    for (size_t i = 0; i < self->n_parts; i++)
        if (self->tables[i]->space(self->parts[i], s) != TP_OK)
            return TP_ERR;
    plan_begin(&self->plan, s);
    owners_close_all(&self->owners);
    announce(self, "");
    return TP_OK;
}

static void
explain(const struct auto_tuner *self, size_t part)
{
    const struct tp_host *host = self->host;
    struct plan plan = self->plan, *p = &plan;
    const char *name = self->tables[part]->name;

    if (self->is_several) {
        tp_explain(host, "by %s, as there are several objectives, or limits%s",
                   name,
                   sole(self) == PAREGO ? ": it has every other trial" : "");
        return;
    }
    p->asked--; /* as it was when that part was chosen */
    if (p->asked == 0 && part == PLAN_GP)
        tp_explain(host, "by %s, as the first trial is", name);
    else if (!plan_models(p) && p->kind != PLAN_MIXED)
        tp_explain(host, "by %s, since all parameters are continuous%s", name,
                   p->kind == PLAN_SMOOTH ? " and no trial has failed" : "");
    else if (p->asked < p->alone)
        tp_explain(host, "by %s, as those up to trial %d are", name,
                   (int)p->alone);
    else
        tp_explain(
            host, "by %s: after %llu results %s suggests %u of %u trials", name,
            (unsigned long long)p->results, self->tables[plan_lead(p)]->name,
            plan_round(p) - 1, plan_round(p));
}

/* Asked again, the same part answers. */
static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct auto_tuner *self = vself;
    int owner = owners_of(&self->owners, id);
    int rc;

    if (owner < 0) {
        owner = (int)next(self, id);
        if (owners_add(&self->owners, id, (size_t)owner) != 0)
            return tp_out_of_memory(self->host);
    }
    explain(self, (size_t)owner);
    rc = self->tables[owner]->ask(self->parts[owner], id, out);
    if (owner == PLAN_GP && !self->is_several)
        plan_noise(&self->plan, parts_gp_noise(self->parts[owner]));
    return rc;
}

static void
count(struct auto_tuner *self, int owner, double value)
{
    const struct tp_host *host = self->host;
    struct plan *p = &self->plan;
    enum plan_part before = plan_lead(p);
    bool modelled = plan_models(p);

    if (self->is_several)
        return;
    plan_result(p, owner, self->maximizes ? -value : value);
    if (plan_models(p) && !modelled)
        announce(self, "a trial has failed: ");
    else if (!modelled && plan_lead(p) != before)
        tp_log(host, TP_LOG_INFO,
               "%s has the best of %llu results, %.6g: it "
               "suggests %u of %u trials",
               self->tables[plan_lead(p)]->name, (unsigned long long)p->results,
               value, plan_round(p) - 1, plan_round(p));
}

/* Whether that part, which did not suggest the trial, is told of it: gp, as
 * long as it will be asked. */
static bool
learns(const struct auto_tuner *self, int part)
{
    return self->is_several || part != PLAN_GP || plan_teaches(&self->plan);
}

/* `owner` is told of its trial, the others of one from elsewhere. */
static int
tell_all(struct auto_tuner *self, int owner, uint64_t id, const double *x,
         const struct tp_result *result)
{
    int rc = TP_OK;

    for (int i = 0; i < (int)self->n_parts; i++)
        if ((i == owner || learns(self, i)) &&
            self->tables[i]->tell(self->parts[i], i == owner ? id : TP_NO_ID, x,
                                  result) != TP_OK)
            rc = TP_ERR;
    return rc;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct auto_tuner *self = vself;
    int owner = id == TP_NO_ID ? -1 : owners_of(&self->owners, id);

    if (owner >= 0)
        owners_close(&self->owners, id);
    if (result->how != TP_RESULT_STOPPED)
        count(self, owner, result->value);
    return tell_all(self, owner, id, x, result);
}

/* Where trials fail the others should know, too, unless there was a result
 * before; what was cancelled is none of theirs. */
static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    const struct tp_result failed = {
        ._struct_size = sizeof failed,
        .how = TP_RESULT_IMPORTED,
        .value = NAN,
    };
    struct auto_tuner *self = vself;
    int owner = owners_of(&self->owners, id);
    int rc = TP_OK;

    if (owner < 0)
        return TP_OK;
    if (owners_close(&self->owners, id) && how == TP_ENDED_FAILED) {
        count(self, owner, NAN);
        for (int i = 0; i < (int)self->n_parts; i++)
            if (i != owner && learns(self, i) &&
                self->tables[i]->tell(self->parts[i], TP_NO_ID, x, &failed) !=
                    TP_OK)
                rc = TP_ERR;
    }
    if (self->tables[owner]->ended != NULL &&
        self->tables[owner]->ended(self->parts[owner], id, x, how) != TP_OK)
        rc = TP_ERR;
    return rc;
}

static int
plan(void *vself, const struct tp_plan *plan)
{
    struct auto_tuner *self = vself;
    bool modelled = plan_models(&self->plan);
    bool begun = plan_begins(&self->plan);
    size_t sole_before = sole(self);

    self->plan.trials = plan->trials;
    if (self->is_several ? sole(self) != sole_before
                         : plan_models(&self->plan) != modelled ||
                               plan_begins(&self->plan) != begun)
        announce(self, "");
    return TP_OK;
}

/* As the one that leads has it. */
static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct auto_tuner *self = vself;
    size_t lead =
        self->is_several ? sole(self) : (size_t)plan_lead(&self->plan);

    if (self->tables[lead]->score == NULL) /* nsga2 has no opinion */
        lead = PLAN_GP;
    return self->tables[lead]->score(self->parts[lead], points, n, out);
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct auto_tuner *self = vself;

    plan_save(&self->plan, sink);
    owners_save(&self->owners, sink);
    for (size_t i = 0; i < self->n_parts; i++)
        if (self->tables[i]->save(self->parts[i], sink) != TP_OK)
            return TP_ERR;
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct auto_tuner *self = vself;

    if (plan_load(&self->plan, source) != 0 ||
        owners_load(&self->owners, source, self->n_parts) != 0)
        return tp_error(self->host,
                        "what was saved is damaged, or out of memory");
    for (size_t i = 0; i < self->n_parts; i++)
        if (self->tables[i]->load(self->parts[i], source) != TP_OK)
            return TP_ERR;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "auto",
    .doc = "chooses among the other tuners, by search space and results",
    .version = 4,
    .flags = TP_TUNER_DEDUP,
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
    .plan = plan,
    .objectives = objectives,
};
TP_REGISTER_TUNER(tuner)
