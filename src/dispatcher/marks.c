/* SPDX-License-Identifier: MIT */
#include "dispatcher/marks.h"

#include "core/idset.h"
#include "core/map.h"
#include "core/pack.h"
#include "dispatcher/view.h"
#include "json.h"
#include "objectives/objectives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD_MAX 65536 /* how far a sequence may be ahead of a missing one */
#define ENDED_JOBS_MAX \
    65536 /* ended jobs kept that had no parameter id of their own */

/* A trial that has reported and not ended. */
struct living {
    struct parameter_id parameter;
    uint64_t attempt;
    uint64_t next; /* all sequences below it have been reported */
    /* Sequences reported beyond a missing one, modulo AHEAD_MAX. */
    struct idset ahead;
    size_t n_ahead;
    bool killed; /* our KI for the trial was written */
    bool has_marks;
    struct mark latest, lowest, highest;
    double *values; /* of the objectives: those of `latest`, then those of the
                       best, which is `lowest` and `highest`; NULL: none yet */
};

struct marks {
    const struct objectives *objectives; /* NULL: none */
    struct map living;                   /* job -> struct living */
    struct idset ended;    /* parameter ids that ended after reporting */
    struct map ended_jobs; /* job -> m: jobs that ended without such an id */
    uint64_t issued;       /* one more than the highest id given out */
    bool shared; /* several jobs may have one parameter id: every job that ended
                    is in ended_jobs */
};

static void
living_free(struct living *l)
{
    if (l == NULL)
        return;
    parameter_clear(&l->parameter);
    idset_fini(&l->ahead);
    free(l->values);
    free(l);
}

struct marks *
marks_new(void)
{
    return calloc(1, sizeof(struct marks));
}

void
marks_free(struct marks *m)
{
    struct living *l;
    size_t at = 0;

    if (m == NULL)
        return;
    while ((l = map_next(&m->living, &at)) != NULL)
        living_free(l);
    map_fini(&m->living);
    map_fini(&m->ended_jobs);
    idset_fini(&m->ended);
    free(m);
}

void
marks_share(struct marks *m)
{
    m->shared = true;
}

void
marks_judge(struct marks *m, const struct objectives *o)
{
    m->objectives = o;
}

static struct living *
add_living(struct marks *m, const struct metric *metric)
{
    struct living *l = calloc(1, sizeof *l);

    if (l == NULL || parameter_copy(&l->parameter, &metric->parameter) != 0 ||
        map_put(&m->living, metric->job, strlen(metric->job), l) != 0) {
        living_free(l);
        return NULL;
    }
    l->attempt = metric->attempt;
    return l;
}

static bool
has_ended(const struct marks *m, const char *job)
{
    return map_get(&m->ended_jobs, job, strlen(job)) != NULL;
}

/* Whether the suggestion has ended, whichever job ran it. */
static bool
suggestion_ended(const struct marks *m, const struct parameter_id *id)
{
    return id->kind == PARAMETER_NUMBER && idset_has(&m->ended, id->number);
}

/* The living trial that a metric is from, added on its first one.  When jobs
 * share suggestions, a job lives, too, that runs what another one has run to
 * its end; nothing that it reports counts. */
static enum marks_verdict
find_or_add_living(struct marks *m, const struct metric *metric,
                   struct living **out)
{
    const struct parameter_id *id = &metric->parameter;
    struct living *l = map_get(&m->living, metric->job, strlen(metric->job));
    bool over;

    *out = l;
    if (l != NULL)
        return m->shared && suggestion_ended(m, &l->parameter) ? MARKS_ENDED
                                                               : MARKS_COUNTED;
    if (id->kind == PARAMETER_NUMBER && id->number >= m->issued)
        return MARKS_UNKNOWN;
    over = suggestion_ended(m, id);
    if ((over && !m->shared) || has_ended(m, metric->job))
        return MARKS_ENDED;
    *out = add_living(m, metric);
    if (*out == NULL)
        return MARKS_MEMORY;
    return over ? MARKS_ENDED : MARKS_COUNTED;
}

/* Forgets what the trial's earlier attempt reported. */
static void
start_attempt(struct living *l, uint64_t attempt)
{
    l->attempt = attempt;
    l->next = 0;
    l->n_ahead = 0;
    idset_fini(&l->ahead);
    l->has_marks = false;
}

static void
clear_ahead(struct living *l, uint64_t sequence)
{
    uint64_t bit = sequence % AHEAD_MAX;

    l->ahead.words[bit / 64] &= ~((uint64_t)1 << (bit % 64));
    l->n_ahead--;
}

/* Notes a sequence as reported; it usually is the next one. */
static enum marks_verdict
enter_sequence(struct living *l, uint64_t sequence)
{
    if (sequence < l->next)
        return MARKS_REPEATED;
    if (sequence > l->next) {
        if (sequence - l->next >= AHEAD_MAX)
            return MARKS_TOO_FAR;
        if (idset_has(&l->ahead, sequence % AHEAD_MAX))
            return MARKS_REPEATED;
        l->n_ahead++;
        return idset_add(&l->ahead, sequence % AHEAD_MAX) != 0 ? MARKS_MEMORY
                                                               : MARKS_COUNTED;
    }
    l->next++;
    while (l->n_ahead > 0 && idset_has(&l->ahead, l->next % AHEAD_MAX))
        clear_ahead(l, l->next++);
    return MARKS_COUNTED;
}

static void
enter_value(struct living *l, double value, uint64_t step)
{
    struct mark mark = {.value = value, .step = step};

    if (isnan(value))
        return;
    if (!l->has_marks) {
        l->has_marks = true;
        l->latest = l->lowest = l->highest = mark;
        return;
    }
    if (step > l->latest.step)
        l->latest = mark;
    if (value < l->lowest.value)
        l->lowest = mark;
    if (value > l->highest.value)
        l->highest = mark;
}

/* A mark with what dominance is judged by. */
static struct objective_values
values_of(const struct objectives *o, const double *values, double violation)
{
    struct objective_values out = {.violation = violation};

    memcpy(out.values, values, o->n_values * sizeof *values);
    return out;
}

/* Whether a report becomes the best one, as marks_judge() says. */
static bool
is_better(const struct objectives *o, const struct metric *metric,
          const struct mark *best)
{
    struct objective_values now =
        values_of(o, metric->values, metric->violation);
    struct objective_values before =
        values_of(o, best->values, best->violation);

    return objectives_dominates(o, &now, &before) ||
           (!objectives_dominates(o, &before, &now) &&
            memcmp(now.values, before.values, sizeof now.values) != 0);
}

static void
set_mark(struct mark *mark, double *values, const struct metric *metric)
{
    memcpy(values, metric->values, metric->n_values * sizeof *values);
    *mark = (struct mark){.value = metric->value,
                          .step = metric->sequence,
                          .values = values,
                          .violation = metric->violation};
}

/* Enters the values of the objectives; a report without all of them, or of
 * which one is NaN, is no mark.  -1: out of memory. */
static int
enter_values(const struct objectives *o, struct living *l,
             const struct metric *metric)
{
    if (metric->values == NULL || isnan(metric->value))
        return 0;
    if (l->values == NULL &&
        (l->values = calloc(2 * o->n_values, sizeof *l->values)) == NULL)
        return -1;
    if (!l->has_marks || metric->sequence > l->latest.step)
        set_mark(&l->latest, l->values, metric);
    if (!l->has_marks || is_better(o, metric, &l->highest))
        set_mark(&l->highest, l->values + o->n_values, metric);
    l->lowest = l->highest;
    l->has_marks = true;
    return 0;
}

enum marks_verdict
marks_metric(struct marks *m, const struct metric *metric)
{
    struct living *l;
    enum marks_verdict verdict = find_or_add_living(m, metric, &l);

    if (verdict != MARKS_COUNTED)
        return verdict;
    if (metric->attempt < l->attempt)
        return MARKS_SUPERSEDED;
    if (metric->attempt > l->attempt)
        start_attempt(l, metric->attempt);
    verdict = enter_sequence(l, metric->sequence);
    if (verdict != MARKS_COUNTED)
        return verdict;
    if (m->objectives != NULL)
        return enter_values(m->objectives, l, metric) != 0 ? MARKS_MEMORY
                                                           : MARKS_COUNTED;
    enter_value(l, metric->value, metric->sequence);
    return MARKS_COUNTED;
}

enum marks_verdict
marks_final(struct marks *m, const struct metric *metric)
{
    struct living *l;
    enum marks_verdict verdict = find_or_add_living(m, metric, &l);

    if (verdict == MARKS_COUNTED && metric->attempt < l->attempt)
        return MARKS_SUPERSEDED;
    return verdict;
}

static int
remember_end(struct marks *m, const struct living *l, const char *job)
{
    bool numbered = l != NULL && l->parameter.kind == PARAMETER_NUMBER;

    if (numbered && idset_add(&m->ended, l->parameter.number) != 0)
        return -1;
    if (numbered && !m->shared)
        return 0;
    if (m->ended_jobs.count >= ENDED_JOBS_MAX)
        map_fini(&m->ended_jobs);
    return map_put(&m->ended_jobs, job, strlen(job), m);
}

/* Whether a living job is known to run that suggestion. */
static bool
is_running(const struct marks *m, const struct parameter_id *id)
{
    const struct living *l;
    size_t at = 0;

    while ((l = map_next(&m->living, &at)) != NULL)
        if (parameter_equal(&l->parameter, id))
            return true;
    return false;
}

/* Whether an end says what its trial ran, for a trial that never reported: not
 * when another job runs that, nor when the end came before. */
static bool
end_names_suggestion(const struct marks *m, const struct trial_end *end)
{
    return !m->shared || (!end->repeated && !is_running(m, &end->hint));
}

int
marks_end(struct marks *m, struct trial_end *end)
{
    static const struct parameter_id nothing = {.kind = PARAMETER_NONE};
    struct living *l = map_remove(&m->living, end->job, strlen(end->job));
    const struct parameter_id *ran = &end->hint;
    int rc;

    end->repeated = m->shared && l == NULL && has_ended(m, end->job);
    if (l != NULL)
        ran = &l->parameter;
    else if (!end_names_suggestion(m, end))
        ran = &nothing;
    end->living = m->living.count;

    end->stopped = end->event == END_EARLY_STOPPED;
    if (l != NULL) {
        end->stopped = end->stopped || l->killed;
        end->has_marks = l->has_marks && l->attempt >= end->attempt;
        end->latest = l->latest;
        end->lowest = l->lowest;
        end->highest = l->highest;
        if (m->objectives != NULL) {
            end->n_values = m->objectives->n_values;
            end->values = l->values; /* the marks point into it */
            l->values = NULL;
        }
    }
    rc = parameter_copy(&end->parameter, ran);
    if (remember_end(m, l, end->job) != 0)
        rc = -1;
    living_free(l);
    return rc;
}

void
marks_killed(struct marks *m, const char *job)
{
    struct living *l = map_get(&m->living, job, strlen(job));

    if (l != NULL)
        l->killed = true;
}

void
marks_issued(struct marks *m, uint64_t next)
{
    if (next > m->issued)
        m->issued = next;
}

void
marks_see(const struct marks *m, const struct viewer *viewer)
{
    for (size_t i = 0; i < m->living.n_slots; i++) {
        const struct map_slot *slot = &m->living.slots[i];
        const struct living *l = slot->value;
        struct living_view v;

        if (slot->key == NULL)
            continue;
        v = (struct living_view){
            .job = slot->key,
            .job_len = slot->len,
            .parameter = &l->parameter,
            .attempt = l->attempt,
            .killed = l->killed,
            .has_marks = l->has_marks,
            .latest = l->latest,
        };
        viewer->living(viewer->ctx, &v);
    }
}

/* ---- where the manager was started again ---- */

/* The parameter ids that a manager's AD names as running again. */
struct named {
    struct idset *numbers;
    struct map labels;
};

static int
named_add(struct named *n, struct jval record)
{
    const char *label;
    uint64_t number;
    struct jval id;
    size_t len;

    if (!jval_get(record, "parameter_id", &id))
        return 0;
    if (jval_uint(id, &number))
        return number > MARKS_RECOVERED_MAX ? 0 : idset_add(n->numbers, number);
    if (jval_string(id, &label, &len) && len > 0)
        return map_put(&n->labels, label, len, n);
    return 0;
}

static bool
named_has(const struct named *n, const struct parameter_id *id)
{
    switch (id->kind) {
    case PARAMETER_NUMBER:
        return idset_has(n->numbers, id->number);
    case PARAMETER_LABEL:
        return map_get(&n->labels, id->label, strlen(id->label)) != NULL;
    case PARAMETER_NONE:
        break;
    }
    return false;
}

/* Forgets that the suggestions in `rerun` had ended: they run again. */
static void
forget_ends(struct idset *ended, const struct idset *again)
{
    for (size_t i = 0; i < ended->n_words && i < again->n_words; i++)
        ended->words[i] &= ~again->words[i];
}

int
marks_rerun(struct marks *m, struct jval list, uint64_t attempt,
            struct idset *rerun)
{
    struct named named = {.numbers = rerun};
    struct living *l;
    size_t at = 0;
    int rc = 0;

    for (size_t i = 0; i < jval_count(list) && rc == 0; i++)
        rc = named_add(&named, jval_at(list, i));
    while ((l = map_next(&m->living, &at)) != NULL)
        if (l->attempt < attempt && named_has(&named, &l->parameter)) {
            start_attempt(l, attempt);
            l->killed = false;
        }
    forget_ends(&m->ended, rerun);
    /* No job of the earlier manager reports any more. */
    map_fini(&m->ended_jobs);
    map_fini(&named.labels);
    return rc;
}

uint64_t
marks_attempt(const struct marks *m, const char *job, uint64_t sequence,
              uint64_t attempt, const struct idset *rerun)
{
    const struct living *l = map_get(&m->living, job, strlen(job));

    if (l == NULL || l->attempt < attempt)
        return attempt;
    if (l->attempt == attempt && sequence == 0 && l->next > 0 &&
        l->parameter.kind == PARAMETER_NUMBER &&
        idset_has(rerun, l->parameter.number))
        return attempt + 1;
    return l->attempt;
}

static int
list_living(const struct marks *m, uint64_t before, struct command *cmd)
{
    const struct map_slot **slots = map_sorted(&m->living);
    int rc = slots == NULL ? -1 : 0;

    for (size_t i = 0; rc == 0 && i < m->living.count; i++) {
        const struct living *l = slots[i]->value;

        if (l->attempt < before)
            rc = command_add_run(cmd, slots[i]->key, &l->parameter);
    }
    free(slots);
    return rc;
}

int
marks_list(const struct marks *m, struct command *cmd)
{
    return list_living(m, UINT64_MAX, cmd);
}

int
marks_lose(struct marks *m, uint64_t attempt, struct command *cmd)
{
    if (list_living(m, attempt, cmd) != 0)
        return -1;
    for (size_t i = 0; i < cmd->n_runs; i++) {
        const char *job = cmd->runs[i].job;

        living_free(map_remove(&m->living, job, strlen(job)));
    }
    return 0;
}

/* ---- packed ---- */

static void
save_mark(const struct mark *mark, struct buf *out)
{
    pack_f64(out, mark->value);
    pack_u64(out, mark->step);
}

/* Packs what a mark has because of objectives. */
static void
save_values(const struct objectives *o, const struct mark *mark,
            struct buf *out)
{
    for (size_t i = 0; i < o->n_values; i++)
        pack_f64(out, mark->values[i]);
    pack_f64(out, mark->violation);
}

static void
save_living(const struct objectives *o, const struct living *l, struct buf *out)
{
    pack_u64(out, l->parameter.kind);
    pack_u64(out, l->parameter.number);
    pack_text(out, l->parameter.label);
    pack_u64(out, l->attempt);
    pack_u64(out, l->next);
    idset_save(&l->ahead, out);
    pack_u64(out, l->killed);
    pack_u64(out, l->has_marks);
    if (!l->has_marks)
        return;
    save_mark(&l->latest, out);
    save_mark(&l->lowest, out);
    save_mark(&l->highest, out);
    if (o == NULL)
        return;
    save_values(o, &l->latest, out);
    save_values(o, &l->highest, out);
}

void
marks_save(const struct marks *m, struct buf *out)
{
    const struct map_slot **living = map_sorted(&m->living);
    const struct map_slot **ended = map_sorted(&m->ended_jobs);

    pack_u64(out, m->issued);
    idset_save(&m->ended, out);
    pack_u64(out, m->ended_jobs.count);
    for (size_t i = 0; ended != NULL && i < m->ended_jobs.count; i++)
        pack_text(out, ended[i]->key);
    pack_u64(out, m->living.count);
    for (size_t i = 0; living != NULL && i < m->living.count; i++) {
        pack_text(out, living[i]->key);
        save_living(m->objectives, living[i]->value, out);
    }
    out->failed = out->failed || living == NULL || ended == NULL;
    free(living);
    free(ended);
}

static void
load_parameter(struct parameter_id *id, struct unpack *in)
{
    uint64_t kind = unpack_u64(in), number = unpack_u64(in);
    const char *label = unpack_text(in);

    if (kind > PARAMETER_LABEL ||
        (label != NULL) != (kind == PARAMETER_LABEL) ||
        (label != NULL && (id->label = strdup(label)) == NULL)) {
        unpack_fail(in);
        return;
    }
    id->kind = (enum parameter_kind)kind;
    id->number = number;
}

static void
load_ahead(struct living *l, struct unpack *in)
{
    if (idset_load(&l->ahead, in) != 0 || l->ahead.n_words > AHEAD_MAX / 64) {
        unpack_fail(in);
        return;
    }
    l->n_ahead = (size_t)idset_count(&l->ahead);
}

static struct mark
load_mark(struct unpack *in)
{
    struct mark mark = {.value = unpack_f64(in)};

    mark.step = unpack_u64(in);
    return mark;
}

static void
load_values(const struct objectives *o, double *values, struct mark *mark,
            struct unpack *in)
{
    for (size_t i = 0; i < o->n_values; i++)
        values[i] = unpack_f64(in);
    mark->values = values;
    mark->violation = unpack_f64(in);
}

static void
load_living(const struct objectives *o, struct living *l, struct unpack *in)
{
    load_parameter(&l->parameter, in);
    l->attempt = unpack_u64(in);
    l->next = unpack_u64(in);
    load_ahead(l, in);
    l->killed = unpack_bool(in);
    l->has_marks = unpack_bool(in);
    if (!l->has_marks)
        return;
    l->latest = load_mark(in);
    l->lowest = load_mark(in);
    l->highest = load_mark(in);
    if (o == NULL)
        return;
    l->values = calloc(2 * o->n_values, sizeof *l->values);
    if (l->values == NULL) {
        unpack_fail(in);
        return;
    }
    load_values(o, l->values, &l->latest, in);
    load_values(o, l->values + o->n_values, &l->highest, in);
    l->lowest = l->highest;
}

/* Adds a loaded entry; false: an earlier one failed, or the job is there
 * already. */
static bool
add_loaded(struct map *map, const char *job, void *value, struct unpack *in)
{
    if (!in->failed && job != NULL && map_get(map, job, strlen(job)) == NULL &&
        map_put(map, job, strlen(job), value) == 0)
        return true;
    unpack_fail(in);
    return false;
}

static void
load_job(struct marks *m, struct unpack *in)
{
    const char *job = unpack_text(in);
    struct living *l = calloc(1, sizeof *l);

    if (l == NULL)
        unpack_fail(in);
    else
        load_living(m->objectives, l, in);
    if (!add_loaded(&m->living, job, l, in))
        living_free(l);
}

int
marks_load(struct marks *m, struct unpack *in)
{
    size_t n;

    m->issued = unpack_u64(in);
    idset_load(&m->ended, in);
    n = unpack_count(in, sizeof(uint64_t));
    for (size_t i = 0; i < n && !in->failed; i++)
        add_loaded(&m->ended_jobs, unpack_text(in), m, in);
    n = unpack_count(in, 9 * sizeof(uint64_t));
    for (size_t i = 0; i < n && !in->failed; i++)
        load_job(m, in);
    return in->failed ? -1 : 0;
}
