/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * What an advisor decides on a trial goes to the manager once for each
 * decision: a stop as KI, the others as DT.  A decision that is made before the
 * suggestion's trial_job_id is known waits until it is.  Where the manager
 * knows no extensions, a pause and an end with the latest value are sent as
 * nothing ("go on"), and a released checkpoint is not told either: the trial
 * ends by itself when it has used its budget. */

#include "dispatcher/advice.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "dispatcher/explainer.h"
#include "dispatcher/side.h"
#include "objectives/objectives.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)TRIAL_STOP == TP_STOP && (int)TRIAL_PAUSE == TP_PAUSE &&
                   (int)TRIAL_FINISH == TP_FINISH &&
                   (int)TRIAL_RELEASE == TP_RELEASE,
               "the same numbers on the wire's side and the plugin's");

#define DECIDED(decision) \
    (1u << (decision)) /* A bit for each enum trial_decision. */
#define DECIDED_END \
    (DECIDED(TRIAL_STOP) | DECIDED(TRIAL_PAUSE) | DECIDED(TRIAL_FINISH))
#define DECIDED_ALL (DECIDED_END | DECIDED(TRIAL_RELEASE))

/* A suggestion on whose trial the tuner may still decide. */
struct advised {
    uint64_t id;
    char *job; /* trial_job_id; NULL: no job is known to run it */
    /* DECIDED() of each decision that was made on the trial. */
    unsigned decided;
    unsigned waiting; /* those decisions that are sent once its job is known */
    bool ended;
    uint64_t attempt; /* of the trial's intermediate results ... */
    uint64_t next;    /* ... whose steps below this one the tuner has seen */
    size_t n_dims;
    double x[]; /* the point that was given out */
};

static void
advised_free(struct advised *o)
{
    free(o->job);
    free(o);
}

/* NULL: the tuner may not decide on a suggestion of that id. */
static struct advised *
find_suggestion(const struct advice *a, uint64_t id)
{
    return map_get(&a->advised, &id, sizeof id);
}

/* Copies x; NULL: out of memory, or the suggestion is there already. */
static struct advised *
add_suggestion(struct advice *a, uint64_t id, const double *x, size_t n_dims)
{
    struct advised *o;

    if (find_suggestion(a, id) != NULL)
        return NULL;
    o = calloc(1, sizeof *o + n_dims * sizeof *x);
    if (o == NULL || map_put(&a->advised, &id, sizeof id, o) != 0) {
        free(o);
        return NULL;
    }
    o->id = id;
    o->n_dims = n_dims;
    memcpy(o->x, x, n_dims * sizeof *x);
    return o;
}

static void
drop_suggestion(struct advice *a, struct advised *o)
{
    map_remove(&a->advised, &o->id, sizeof o->id);
    advised_free(o);
}

/* Notes which job runs the suggestion.  -1: out of memory. */
static int
set_job(struct advised *o, const char *job)
{
    o->job = strdup(job);
    return o->job == NULL ? -1 : 0;
}

/* All suggestions in the order of ids, an array to be freed; NULL: out of
 * memory. */
static struct advised **
sorted_suggestions(const struct advice *a, size_t *n)
{
    return map_by_number(&a->advised, offsetof(struct advised, id), n);
}

void
advice_init(struct advice *a, struct tuner *tuner, struct side *side)
{
    *a = (struct advice){.tuner = tuner, .side = side};
}

void
advice_fini(struct advice *a)
{
    struct advised *o;
    size_t at = 0;

    while ((o = map_next(&a->advised, &at)) != NULL)
        advised_free(o);
    map_fini(&a->advised);
}

/* ---- decisions ---- */

static void
send_decision(struct advice *a, const struct advised *o,
              enum trial_decision decision)
{
    if (decision != TRIAL_STOP && !a->side->policy->extensions)
        return; /* a checkpoint's release, which this manager does not know */
    side_emit(a->side, (struct emission){.code = decision == TRIAL_STOP
                                                     ? CMD_KILL_TRIAL
                                                     : CMD_DECIDE_TRIAL,
                                         .job = o->job,
                                         .decision = decision});
}

/* Forgets a suggestion whose trial has ended and whose checkpoint is released:
 * nothing more can be decided on it. */
static void
forget_if_over(struct advice *a, struct advised *o)
{
    if (o->ended && (o->decided & DECIDED(TRIAL_RELEASE)))
        drop_suggestion(a, o);
}

/* Whether a decision changes nothing: it was made before, the trial has ended,
 * or is to be stopped, which a pause behind that does not undo. */
static bool
is_moot(const struct advised *o, enum trial_decision decision)
{
    if (o->decided & DECIDED(decision))
        return true;
    if (decision == TRIAL_RELEASE)
        return false;
    return o->ended || (o->decided & DECIDED(TRIAL_STOP)) != 0;
}

/* The decision as the manager can be told it: one that knows no extensions
 * knows neither a pause nor an end with the latest value. */
static enum trial_decision
decision_for_manager(const struct advice *a, enum trial_decision decision)
{
    bool pauses = decision == TRIAL_PAUSE || decision == TRIAL_FINISH;

    return pauses && !a->side->policy->extensions ? TRIAL_GO : decision;
}

static void
decide(struct advice *a, struct advised *o, enum trial_decision decision)
{
    decision = decision_for_manager(a, decision);
    if (decision == TRIAL_GO || is_moot(o, decision))
        return;
    o->decided |= DECIDED(decision);
    if (o->job != NULL)
        send_decision(a, o, decision);
    else if (!o->ended)
        o->waiting |= DECIDED(decision);
    forget_if_over(a, o);
}

void
advice_decide(struct advice *a, uint64_t id, enum trial_decision decision)
{
    struct advised *o = find_suggestion(a, id);

    if (o != NULL)
        decide(a, o, decision);
}

enum trial_decision
advice_decision(const struct advice *a, uint64_t id)
{
    static const enum trial_decision order[] = {TRIAL_STOP, TRIAL_FINISH,
                                                TRIAL_PAUSE};
    const struct advised *o = find_suggestion(a, id);

    for (size_t i = 0; o != NULL && i < sizeof order / sizeof *order; i++)
        if (o->decided & DECIDED(order[i]))
            return order[i];
    return TRIAL_GO;
}

/* ---- the life of a suggestion ---- */

int
advice_know(struct advice *a, uint64_t id, const double *x, size_t n_dims)
{
    return tuner_advises(a->tuner) && add_suggestion(a, id, x, n_dims) == NULL
               ? -1
               : 0;
}

const double *
advice_point(const struct advice *a, uint64_t id)
{
    const struct advised *o = find_suggestion(a, id);

    return o == NULL ? NULL : o->x;
}

const char *
advice_job(const struct advice *a, uint64_t id)
{
    const struct advised *o = find_suggestion(a, id);

    return o == NULL ? NULL : o->job;
}

int
advice_name(struct advice *a, uint64_t id, const char *job, bool over)
{
    struct advised *o = find_suggestion(a, id);
    unsigned waiting;

    if (o == NULL || o->job != NULL)
        return 0;
    if (set_job(o, job) != 0)
        return -1;
    waiting = over ? o->waiting & DECIDED(TRIAL_RELEASE) : o->waiting;
    o->waiting = 0;
    for (int decision = TRIAL_STOP; decision <= TRIAL_RELEASE; decision++)
        if (waiting & DECIDED(decision))
            send_decision(a, o, (enum trial_decision)decision);
    return 0;
}

/* A trial that ended as paused although the tuner has decided meanwhile to stop
 * it leaves a checkpoint that no trial will go on from: it is released. */
void
advice_end(struct advice *a, uint64_t id, bool paused)
{
    struct advised *o = find_suggestion(a, id);

    if (o == NULL || o->ended)
        return;
    o->ended = true;
    o->waiting = 0;
    if (paused && (o->decided & DECIDED(TRIAL_STOP)))
        decide(a, o, TRIAL_RELEASE);
    else
        forget_if_over(a, o);
}

int
advice_release_all(struct advice *a)
{
    size_t n;
    struct advised **all = sorted_suggestions(a, &n);
    int rc = all == NULL ? -1 : 0;

    for (size_t i = 0; i < n; i++) {
        if (all[i]->job != NULL && !(all[i]->decided & DECIDED(TRIAL_RELEASE)))
            send_decision(a, all[i], TRIAL_RELEASE);
        drop_suggestion(a, all[i]);
    }
    free(all);
    return rc;
}

/* ---- intermediate results ---- */

/* Whether the tuner is to see that step of a trial.  It sees the steps of an
 * attempt in rising order, none twice, and no step of an attempt once a later
 * attempt has reported. */
static bool
admit_step(const struct advice *a, struct advised *o, const struct metric *m,
           uint64_t step)
{
    if (m->attempt > o->attempt) {
        if (a->side->policy->nni && m->attempt / 2 > o->attempt / 2)
            o->decided &= ~DECIDED_END; /* an earlier manager got the KI, and
                                           runs the trial again */
        o->attempt = m->attempt;
        o->next = 0;
    }
    if (m->attempt < o->attempt || step < o->next)
        return false;
    o->next = step + 1;
    return true;
}

int
advice_report(struct advice *a, uint64_t id, const double *x,
              const struct command *cmd, struct err *err)
{
    const struct metric *m = &cmd->metric;
    struct advised *o = find_suggestion(a, id);
    struct tp_metric metric = {
        ._struct_size = sizeof metric,
        .value = m->value,
        .step = m->base + m->sequence,
        .attempt = m->attempt,
        .values = m->values,
        .n_values = m->values != NULL ? a->side->policy->objectives->n : 0,
        .violation = m->violation};
    struct judgement j = {
        .cause = cmd->arrival, .job = m->job, .step = metric.step};
    struct tp_verdict verdict;

    if (o == NULL || !admit_step(a, o, m, metric.step) ||
        (o->decided & DECIDED_END))
        return 0;
    if (a->explainer != NULL)
        a->explainer->begin(a->explainer->listener.ctx);
    if (tuner_metric(a->tuner, id, x, &metric, &verdict, err) != 0)
        return -1;
    j.decision = decision_for_manager(a, (enum trial_decision)verdict.decision);
    j.value = verdict.value;
    j.threshold = verdict.threshold;
    j.rule = verdict.rule;
    side_judge(a->side, a->explainer, &j);
    decide(a, o, j.decision);
    return 1;
}

/* ---- packed ---- */

void
advice_save(const struct advice *a, struct buf *out)
{
    struct advised **all;
    size_t n;

    if (!tuner_advises(a->tuner))
        return;
    all = sorted_suggestions(a, &n);
    pack_u64(out, n);
    for (size_t i = 0; i < n; i++) {
        const struct advised *o = all[i];

        pack_u64(out, o->id);
        pack_u64(out, o->n_dims);
        pack_f64s(out, o->x, o->n_dims);
        pack_text(out, o->job);
        pack_u64(out, o->decided);
        pack_u64(out, o->waiting);
        pack_u64(out, o->ended);
        pack_u64(out, o->attempt);
        pack_u64(out, o->next);
    }
    out->failed = out->failed || all == NULL;
    free(all);
}

static struct advised *
load_point(struct advice *a, struct unpack *in)
{
    uint64_t id = unpack_u64(in);
    size_t n_dims = unpack_count(in, sizeof(double));
    double *x = malloc(n_dims * sizeof *x + 1);
    struct advised *o = NULL;

    if (x != NULL) {
        unpack_f64s(in, x, n_dims);
        o = in->failed ? NULL : add_suggestion(a, id, x, n_dims);
    }
    free(x);
    return o;
}

/* Whether a loaded suggestion fits the search space and has an id below
 * next_id. */
static bool
fits_space(const struct advised *o, const struct space *space, uint64_t next_id)
{
    return o->id < next_id && o->n_dims == space_dims(space)->n_dims &&
           space_has_indices(space, o->x);
}

static void
load_one(struct advice *a, const struct space *space, uint64_t next_id,
         struct unpack *in)
{
    struct advised *o = load_point(a, in);
    const char *job = unpack_text(in);
    uint64_t decided, waiting;

    if (o == NULL || !fits_space(o, space, next_id) ||
        (job != NULL && set_job(o, job) != 0)) {
        unpack_fail(in);
        return;
    }
    decided = unpack_u64(in);
    waiting = unpack_u64(in);
    o->ended = unpack_bool(in);
    o->attempt = unpack_u64(in);
    o->next = unpack_u64(in);
    if ((decided & ~(uint64_t)DECIDED_ALL) != 0 || (waiting & ~decided) != 0)
        unpack_fail(in);
    o->decided = (unsigned)decided;
    o->waiting = (unsigned)waiting;
}

int
advice_load(struct advice *a, const struct space *space, uint64_t next_id,
            struct unpack *in, struct err *err)
{
    size_t n =
        tuner_advises(a->tuner) ? unpack_count(in, 8 * sizeof(uint64_t)) : 0;

    for (size_t i = 0; i < n && !in->failed; i++)
        load_one(a, space, next_id, in);
    return in->failed ? err_set(err, ERR_LOG,
                                "what an advisor may speak of: damaged, or "
                                "out of memory")
                      : 0;
}
