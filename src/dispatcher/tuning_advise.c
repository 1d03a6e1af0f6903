/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * What an advisor says of a trial goes to the manager once for each decision:
 * stop as KI, the others as DT.  One that is made before the trial's job is
 * known waits until it is.  Where the manager knows no extensions a pause and
 * an end with the latest value are "go on", and a release stays with us: the
 * trial ends by itself when it has used its budget. */
#include "core/err.h"
#include "core/log.h"
#include "core/number.h"
#include "dispatcher/explainer.h"
#include "dispatcher/tuning_state.h"
#include "plugin/loader.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)TRIAL_STOP == TP_STOP && (int)TRIAL_PAUSE == TP_PAUSE &&
                   (int)TRIAL_FINISH == TP_FINISH &&
                   (int)TRIAL_RELEASE == TP_RELEASE,
               "the same numbers on the wire's side and the plugin's");

#define SAID_END                                          \
    (ORIGIN_SAID(TRIAL_STOP) | ORIGIN_SAID(TRIAL_PAUSE) | \
     ORIGIN_SAID(TRIAL_FINISH))

bool
tuning_advised(const struct tuning *t)
{
    return tuner_advises(t->tuner);
}

bool
tuning_is_bare(const struct tuning *t)
{
    return (tuner_plugin(t->tuner)->tuner.flags & TP_TUNER_UNITS) != 0 &&
           !t->policy->extensions;
}

/* ---- decisions ---- */

static void
emit_decision(struct tuning *t, const struct origin *o,
              enum trial_decision decision)
{
    if (decision != TRIAL_STOP && !t->policy->extensions)
        return; /* it was a release */
    tuning_emit(t, (struct emission){.code = decision == TRIAL_STOP
                                                 ? CMD_KILL_TRIAL
                                                 : CMD_DECIDE_TRIAL,
                                     .job = o->job,
                                     .decision = decision});
}

/* Nothing more is to be said of it. */
static void
settle(struct tuning *t, struct origin *o)
{
    if (o->ended && (o->said & ORIGIN_SAID(TRIAL_RELEASE)))
        origins_remove(&t->origins, o);
}

/* A trial that is to be stopped is not to be paused. */
static bool
is_moot(const struct origin *o, enum trial_decision decision)
{
    if (o->said & ORIGIN_SAID(decision))
        return true;
    if (decision == TRIAL_RELEASE)
        return false;
    return o->ended || (o->said & ORIGIN_SAID(TRIAL_STOP)) != 0;
}

/* What comes of it where the manager knows less. */
static enum trial_decision
known_decision(const struct tuning *t, enum trial_decision decision)
{
    bool pauses = decision == TRIAL_PAUSE || decision == TRIAL_FINISH;

    return pauses && !t->policy->extensions ? TRIAL_GO : decision;
}

static void
decide(struct tuning *t, struct origin *o, enum trial_decision decision)
{
    decision = known_decision(t, decision);
    if (decision == TRIAL_GO || is_moot(o, decision))
        return;
    o->said |= ORIGIN_SAID(decision);
    if (o->job != NULL)
        emit_decision(t, o, decision);
    else if (!o->ended)
        o->waiting |= ORIGIN_SAID(decision);
    settle(t, o);
}

void
tuning_decide(struct tuning *t)
{
    uint64_t id;
    int decision;

    while (tuner_next_decision(t->tuner, &id, &decision)) {
        struct origin *o = origins_find(&t->origins, id);

        if (o != NULL && !t->fatal)
            decide(t, o, (enum trial_decision)decision);
    }
}

/* ---- the life of an origin ---- */

void
tuning_know(struct tuning *t, uint64_t id)
{
    if (tuning_advised(t) && origins_add(&t->origins, id, t->x,
                                         space_dims(t->space)->n_dims) == NULL)
        tuning_out_of_memory(t);
}

/* A filter may have moved it when it was given out first. */
void
tuning_inherit(struct tuning *t, const struct tuner_terms *terms)
{
    const struct origin *o = terms->from_how == TP_PROMOTED
                                 ? origins_find(&t->origins, terms->from)
                                 : NULL;

    if (o != NULL)
        memcpy(t->x, o->x, o->n_dims * sizeof *o->x);
}

void
tuning_write_origin(const struct tuning *t, const struct tuner_terms *terms,
                    struct parameter_record *record)
{
    const struct origin *o = origins_find(&t->origins, terms->from);

    if (terms->from_how == TP_ANEW || !t->policy->extensions)
        return;
    record->resume_from = o == NULL ? NULL : o->job;
    record->resume_how = terms->from_how == TP_PROMOTED ? "promoted" : "cloned";
    if (record->resume_from == NULL)
        log_warning(t->log,
                    "command %" PRIu64 " (%s): suggestion %" PRIu64
                    " is to go on from %" PRIu64 ", of whose trial nothing is "
                    "known, or any more: it starts anew",
                    t->arrival, t->code, record->id, terms->from);
}

bool
tuning_origins_fit(const struct tuning *t)
{
    const struct origin *o;
    size_t at = 0;

    while ((o = map_next(&t->origins.by_id, &at)) != NULL)
        if (o->n_dims != space_dims(t->space)->n_dims ||
            !space_has_indices(t->space, o->x))
            return false;
    return origins_end(&t->origins) <= t->next_id;
}

void
tuning_name(struct tuning *t, uint64_t id, const char *job, bool over)
{
    struct origin *o = origins_find(&t->origins, id);
    unsigned waiting;

    if (o == NULL || o->job != NULL)
        return;
    if (origin_set_job(o, job) != 0) {
        tuning_out_of_memory(t);
        return;
    }
    waiting = over ? o->waiting & ORIGIN_SAID(TRIAL_RELEASE) : o->waiting;
    o->waiting = 0;
    for (int decision = TRIAL_STOP; decision <= TRIAL_RELEASE; decision++)
        if (waiting & ORIGIN_SAID(decision))
            emit_decision(t, o, (enum trial_decision)decision);
}

/* One that it wanted stopped after it had wanted it paused: nobody knows of
 * its checkpoint. */
void
tuning_over(struct tuning *t, uint64_t id, bool paused)
{
    struct origin *o = origins_find(&t->origins, id);

    if (o == NULL || o->ended)
        return;
    o->ended = true;
    o->waiting = 0;
    if (paused && (o->said & ORIGIN_SAID(TRIAL_STOP)))
        decide(t, o, TRIAL_RELEASE);
    else
        settle(t, o);
}

void
tuning_release_all(struct tuning *t)
{
    size_t n;
    struct origin **sorted = origins_sorted(&t->origins, &n);

    if (sorted == NULL)
        tuning_out_of_memory(t);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i]->job != NULL &&
            !(sorted[i]->said & ORIGIN_SAID(TRIAL_RELEASE)))
            emit_decision(t, sorted[i], TRIAL_RELEASE);
        origins_remove(&t->origins, sorted[i]);
    }
    free(sorted);
}

/* ---- intermediate results ---- */

static const char *const past[] = {
    [TRIAL_GO] = "goes on",       [TRIAL_STOP] = "stopped",
    [TRIAL_PAUSE] = "paused",     [TRIAL_FINISH] = "finished",
    [TRIAL_RELEASE] = "released",
};

static void
say_why(const struct tuning *t, const struct metric *m, uint64_t step,
        const struct tp_verdict *v)
{
    char value[NUMBER_TEXT_MAX], threshold[NUMBER_TEXT_MAX];

    number_format(v->value, value);
    number_format(v->threshold, threshold);
    log_info(t->log, "trial '%.64s' %s at step %" PRIu64 ": %s (%s, limit %s)",
             m->job, past[v->decision], step,
             v->rule != NULL ? v->rule : "the tuner's word", value, threshold);
}

static void
explain(const struct tuning *t, const struct metric *m, uint64_t step,
        const struct tp_verdict *v)
{
    struct judgement j = {
        .cause = t->arrival,
        .job = m->job,
        .step = step,
        .decision = (enum trial_decision)v->decision,
        .value = v->value,
        .threshold = v->threshold,
        .rule = v->rule,
    };

    if (t->explainer != NULL)
        t->explainer->judged(t->explainer->listener.ctx, &j);
}

/* Of one attempt the tuner sees the steps in their order. */
static bool
take_step(const struct tuning *t, struct origin *o, const struct metric *m,
          uint64_t step)
{
    if (m->attempt > o->attempt) {
        if (t->policy->nni && m->attempt / 2 > o->attempt / 2)
            o->said &= ~SAID_END; /* its KI went to the manager before */
        o->attempt = m->attempt;
        o->next = 0;
    }
    if (m->attempt < o->attempt || step < o->next)
        return false;
    o->next = step + 1;
    return true;
}

static void
show(struct tuning *t, const struct trial *trial, const struct metric *m,
     struct origin *o)
{
    struct tp_metric metric = {._struct_size = sizeof metric,
                               .value = m->value,
                               .step = m->base + m->sequence,
                               .attempt = m->attempt};
    struct tp_verdict verdict;
    struct err err;

    if (!take_step(t, o, m, metric.step) || (o->said & SAID_END))
        return;
    if (t->explainer != NULL)
        t->explainer->begin(t->explainer->listener.ctx);
    t->news = true;
    if (tuner_metric(t->tuner, o->id, trial->x, &metric, &verdict, &err) != 0) {
        tuning_plugin_failed(t, &err);
        return;
    }
    verdict.decision =
        (int)known_decision(t, (enum trial_decision)verdict.decision);
    explain(t, m, metric.step, &verdict);
    if (verdict.decision != TP_GO)
        say_why(t, m, metric.step, &verdict);
    decide(t, o, (enum trial_decision)verdict.decision);
}

void
tuning_report(struct tuning *t, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    struct trial *trial = trials_find(t->trials, &m->parameter);
    struct origin *o;

    if (!m->has_value || trial == NULL || trial->ended || trial->foreign)
        return; /* the user's own, or of another search space */
    tuning_ran(t, m->job, trial);
    o = origins_find(&t->origins, tuning_id(t, trial));
    if (o != NULL && !t->fatal)
        show(t, trial, m, o);
}

static enum trial_decision
decision_of(const struct origin *o)
{
    static const enum trial_decision order[] = {TRIAL_STOP, TRIAL_FINISH,
                                                TRIAL_PAUSE};

    for (size_t i = 0; o != NULL && i < sizeof order / sizeof *order; i++)
        if (o->said & ORIGIN_SAID(order[i]))
            return order[i];
    return TRIAL_GO;
}

void
tuning_acknowledge(struct tuning *t, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    const struct trial *trial = trials_find(t->trials, &m->parameter);
    const struct origin *o =
        trial == NULL ? NULL : origins_find(&t->origins, tuning_id(t, trial));

    tuning_emit(t, (struct emission){.code = CMD_ACKNOWLEDGE,
                                     .job = m->job,
                                     .number = m->sequence,
                                     .decision = decision_of(o)});
}
