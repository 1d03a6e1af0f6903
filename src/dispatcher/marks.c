/* SPDX-License-Identifier: MIT */
#include "dispatcher/marks.h"

#include "core/number.h"
#include "dispatcher/marks_state.h"
#include "dispatcher/view.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
marks_living_free(struct living *l)
{
    if (l == NULL)
        return;
    free(l->parameter.label);
    idset_fini(&l->ahead);
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
        marks_living_free(l);
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

static int
copy_parameter(struct parameter_id *to, const struct parameter_id *from)
{
    char *label = NULL;

    if (from->kind == PARAMETER_LABEL && (label = strdup(from->label)) == NULL)
        return -1;
    free(to->label);
    *to = *from;
    to->label = label;
    return 0;
}

static struct living *
add_living(struct marks *m, const struct metric *metric)
{
    struct living *l = calloc(1, sizeof *l);

    if (l == NULL || copy_parameter(&l->parameter, &metric->parameter) != 0 ||
        map_put(&m->living, metric->job, strlen(metric->job), l) != 0) {
        marks_living_free(l);
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

/* Whether that suggestion has ended, whichever job ran it. */
static bool
is_over(const struct marks *m, const struct parameter_id *id)
{
    return id->kind == PARAMETER_NUMBER && idset_has(&m->ended, id->number);
}

/* The living trial of a metric, made on its first one; shared: one that runs
 * what another has run lives, too, though nothing it says counts. */
static enum marks_verdict
look_up(struct marks *m, const struct metric *metric, struct living **out)
{
    const struct parameter_id *id = &metric->parameter;
    struct living *l = map_get(&m->living, metric->job, strlen(metric->job));
    bool over;

    *out = l;
    if (l != NULL)
        return m->shared && is_over(m, &l->parameter) ? MARKS_ENDED
                                                      : MARKS_COUNTED;
    if (id->kind == PARAMETER_NUMBER && id->number >= m->issued)
        return MARKS_UNKNOWN;
    over = is_over(m, id);
    if ((over && !m->shared) || has_ended(m, metric->job))
        return MARKS_ENDED;
    *out = add_living(m, metric);
    if (*out == NULL)
        return MARKS_MEMORY;
    return over ? MARKS_ENDED : MARKS_COUNTED;
}

void
marks_start_attempt(struct living *l, uint64_t attempt)
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

/* Enters the sequence; the usual one is the next. */
static enum marks_verdict
enter_sequence(struct living *l, uint64_t sequence)
{
    if (sequence < l->next)
        return MARKS_SECOND;
    if (sequence > l->next) {
        if (sequence - l->next >= AHEAD_MAX)
            return MARKS_TOO_FAR;
        if (idset_has(&l->ahead, sequence % AHEAD_MAX))
            return MARKS_SECOND;
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
    struct mark mark = {value, step};

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

enum marks_verdict
marks_metric(struct marks *m, const struct metric *metric)
{
    struct living *l;
    enum marks_verdict verdict = look_up(m, metric, &l);

    if (verdict != MARKS_COUNTED)
        return verdict;
    if (metric->attempt < l->attempt)
        return MARKS_SUPERSEDED;
    if (metric->attempt > l->attempt)
        marks_start_attempt(l, metric->attempt);
    verdict = enter_sequence(l, metric->sequence);
    if (verdict == MARKS_COUNTED)
        enter_value(l, metric->value, metric->sequence);
    return verdict;
}

enum marks_verdict
marks_final(struct marks *m, const struct metric *metric)
{
    struct living *l;
    enum marks_verdict verdict = look_up(m, metric, &l);

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

/* Whether a job that lives is known to run that suggestion. */
static bool
is_run(const struct marks *m, const struct parameter_id *id)
{
    const struct living *l;
    size_t at = 0;

    while ((l = map_next(&m->living, &at)) != NULL)
        if (parameter_equal(&l->parameter, id))
            return true;
    return false;
}

/* What a trial ran that never reported: what its end says, unless that has run
 * elsewhere, or the end was told before. */
static bool
is_hint(const struct marks *m, const struct trial_end *end)
{
    return !m->shared || (!end->repeated && !is_run(m, &end->hint));
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
    else if (!is_hint(m, end))
        ran = &nothing;
    end->living = m->living.count;

    end->stopped = end->event == END_EARLY_STOPPED;
    if (l != NULL) {
        end->stopped = end->stopped || l->killed;
        end->has_marks = l->has_marks && l->attempt >= end->attempt;
        end->latest = l->latest;
        end->lowest = l->lowest;
        end->highest = l->highest;
    }
    rc = copy_parameter(&end->parameter, ran);
    if (remember_end(m, l, end->job) != 0)
        rc = -1;
    marks_living_free(l);
    return rc;
}

/* `{"parameter_id": 17, ...`: what command_write_trial() writes. */
static void
count_issued(struct marks *m, const char *payload, size_t len)
{
    static const char head[] = "{\"parameter_id\": ";
    size_t at = sizeof head - 1, end = at;
    uint64_t id;

    if (len < at || memcmp(payload, head, at) != 0)
        return;
    while (end < len && payload[end] >= '0' && payload[end] <= '9')
        end++;
    if (number_parse_u64(payload + at, end - at, &id))
        marks_issued(m, id + 1);
}

static void
note_kill(struct marks *m, const char *payload, size_t len)
{
    struct json *doc = json_parse(payload, len, JSON_STRICT, NULL);
    const char *job;
    struct living *l;
    size_t job_len;

    if (doc == NULL)
        return;
    if (jval_string(json_root(doc), &job, &job_len)) {
        l = map_get(&m->living, job, job_len);
        if (l != NULL)
            l->killed = true;
    }
    json_free(doc);
}

void
marks_written(struct marks *m, enum command_code code, const char *payload,
              size_t len)
{
    if (code == CMD_NEW_TRIAL)
        count_issued(m, payload, len);
    else if (code == CMD_KILL_TRIAL)
        note_kill(m, payload, len);
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

size_t
marks_living(const struct marks *m)
{
    return m->living.count;
}
