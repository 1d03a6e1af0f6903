/* SPDX-License-Identifier: MIT */
#include "replay/script.h"

#include "core/err.h"
#include "dispatcher/logfile.h"
#include "frame.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* What the log has shown of a parameter_id, a trial, a skipped command. */
struct script_id {
    size_t trial;
};
struct script_job {
    bool killed, ended;
    size_t acks;
};
struct script_skip {
    size_t step; /* SCRIPT_NONE: not walked yet */
    bool answered;
};

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "script: out of memory");
}

/* The entry of that key, made when it is new; NULL: out of memory. */
static void *
entry(struct map *m, const void *key, size_t len, size_t size)
{
    void *e = map_get(m, key, len);

    if (e != NULL)
        return e;
    e = calloc(1, size);
    if (e != NULL && map_put(m, key, len, e) != 0) {
        free(e);
        return NULL;
    }
    return e;
}

static struct script_job *
job_of(struct script *s, const char *job)
{
    return entry(&s->jobs, job, strlen(job), sizeof(struct script_job));
}

/* Which TR gave that id; SCRIPT_NONE: none so far. */
static size_t
trial_of(const struct script *s, const struct parameter_id *id)
{
    char *key = script_parameter_key(id);
    const struct script_id *known =
        key == NULL ? NULL : map_get(&s->ids, key, strlen(key));

    free(key);
    return known == NULL ? SCRIPT_NONE : known->trial;
}

/* ---- the manager's frames ---- */

static void
need_trial(struct script_step *step, size_t trial)
{
    step->trial = trial;
    if (trial != SCRIPT_NONE && trial + 1 > step->trials)
        step->trials = trial + 1;
}

static int
need_job(struct script *s, struct script_step *step, const char *name,
         bool ends, struct err *err)
{
    struct script_job *job = job_of(s, name);

    step->job = job == NULL ? NULL : strdup(name);
    if (step->job == NULL)
        return no_memory(err);
    step->killed = ends && job->killed;
    step->acks = job->acks;
    job->ended = job->ended || ends;
    return 0;
}

/* A note's trial is known by its parameter_id. */
static void
need_noted(const struct script *s, struct script_step *step,
           const struct command *cmd)
{
    struct parameter_id id = {PARAMETER_NUMBER, 0, NULL};
    const char *label;
    struct jval v;

    if (!jval_get(json_root(cmd->document), "parameter_id", &v))
        return;
    if (jval_string(v, &label, NULL)) {
        id.kind = PARAMETER_LABEL;
        id.label = (char *)(uintptr_t)label;
    } else if (!jval_uint(v, &id.number)) {
        return;
    }
    need_trial(step, trial_of(s, &id));
}

/* What cannot be decoded costs itself there as here: it is sent as it is. */
static int
find_needs(struct script *s, struct script_step *step, struct err *err)
{
    struct frame frame = {.payload = step->payload, .len = step->len};
    struct command *cmd;
    int rc = 0;

    memcpy(frame.code, step->code, 3);
    cmd = command_decode(&frame, step->arrival, NULL);
    if (cmd == NULL)
        return 0;
    if (cmd->code == CMD_METRIC) {
        need_trial(step, trial_of(s, &cmd->metric.parameter));
        rc = need_job(s, step, cmd->metric.job, false, err);
    } else if (cmd->code == CMD_TRIAL_END) {
        need_trial(step, trial_of(s, &cmd->end.hint));
        rc = need_job(s, step, cmd->end.job, true, err);
    } else if (cmd->code == CMD_NOTE) {
        need_noted(s, step, cmd);
    }
    command_free(cmd);
    return rc;
}

static bool
is_stop(const struct script_step *step)
{
    return memcmp(step->code, "TE", 2) == 0;
}

/* A stop that was not the last word: the session was resumed. */
static void
go_on(struct script *s)
{
    if (s->n_steps > 0 && is_stop(&s->steps[s->n_steps - 1])) {
        s->n_steps--;
        s->resumed = true;
    }
    if (s->terminates)
        for (size_t i = 0; i < s->n_answers; i++)
            s->answers[i].needed = true;
    s->terminates = false;
}

static int
take_in(struct script *s, const struct record *r, struct err *err)
{
    struct script_skip *skip = map_get(&s->skips, &r->number, sizeof r->number);
    struct script_step *step;

    if (r->len < 2)
        return 0; /* replay tells */
    go_on(s);
    if (s->n_steps == s->steps_cap) {
        size_t cap = s->steps_cap == 0 ? 256 : 2 * s->steps_cap;
        void *grown = realloc(s->steps, cap * sizeof *s->steps);

        if (grown == NULL)
            return no_memory(err);
        s->steps = grown;
        s->steps_cap = cap;
    }
    step = &s->steps[s->n_steps++];
    *step = (struct script_step){.payload = r->payload + 2,
                                 .len = r->len - 2,
                                 .arrival = r->number,
                                 .trial = SCRIPT_NONE};
    memcpy(step->code, r->payload, 2);
    s->terminates = is_stop(step);
    if (skip != NULL)
        skip->step = s->n_steps - 1;
    return find_needs(s, step, err);
}

/* ---- the dispatcher's frames ---- */

static int
know_trial(struct script *s, const char *key, bool *again, struct err *err)
{
    struct script_id *id = map_get(&s->ids, key, strlen(key));

    *again = id != NULL;
    if (id != NULL)
        return 0;
    id = entry(&s->ids, key, strlen(key), sizeof *id);
    if (id == NULL)
        return no_memory(err);
    id->trial = s->n_trials++;
    return 0;
}

static int
know_answer(struct script *s, enum command_code code, const char *key,
            bool *again, struct err *err)
{
    struct script_job *job;

    *again = false;
    if (key == NULL)
        return 0;
    if (code == CMD_NEW_TRIAL)
        return know_trial(s, key, again, err);
    if (code != CMD_KILL_TRIAL && code != CMD_ACKNOWLEDGE)
        return 0;
    job = job_of(s, key);
    if (job == NULL)
        return no_memory(err);
    *again = code == CMD_KILL_TRIAL && job->killed;
    s->crossed += code == CMD_KILL_TRIAL && !*again && job->ended;
    job->killed = job->killed || code == CMD_KILL_TRIAL;
    job->acks += code == CMD_ACKNOWLEDGE;
    return 0;
}

static int
add_answer(struct script *s, struct script_answer a, struct err *err)
{
    if (s->n_answers == s->answers_cap) {
        size_t cap = s->answers_cap == 0 ? 256 : 2 * s->answers_cap;
        void *grown = realloc(s->answers, cap * sizeof *s->answers);

        if (grown == NULL) {
            free(a.key);
            return no_memory(err);
        }
        s->answers = grown;
        s->answers_cap = cap;
    }
    s->answers[s->n_answers++] = a;
    return 0;
}

static int
take_out(struct script *s, const struct record *r, struct err *err)
{
    struct script_skip *skip = map_get(&s->skips, &r->number, sizeof r->number);
    struct script_answer a = {.needed = !s->terminates && skip == NULL};
    bool again;

    if (r->len < 2 || command_find(r->payload, &a.code) == NULL)
        return 0;
    if (skip != NULL)
        skip->answered = true;
    a.payload = r->payload + 2;
    a.len = r->len - 2;
    a.key = script_key(a.code, a.payload, a.len);
    if (a.code == CMD_NEW_TRIAL && a.key == NULL)
        return 0;
    if (know_answer(s, a.code, a.key, &again, err) != 0) {
        free(a.key);
        return -1;
    }
    if (!again)
        return add_answer(s, a, err);
    free(a.key);
    return 0;
}

/* ---- the walk ---- */

static bool
is_said(const struct record *r, const char *text)
{
    return r->len == strlen(text) && memcmp(r->payload, text, r->len) == 0;
}

static int
take_head(struct script *s, const struct record *r, struct err *err)
{
    struct json *doc = json_parse(r->payload, r->len, JSON_STRICT, err);
    uint64_t max_payload;
    struct jval v;

    if (doc == NULL)
        return err_place(err, "head record");
    if (jval_get(json_root(doc), "seed", &v))
        (void)jval_uint(v, &s->seed);
    s->max_payload = FRAME_PAYLOAD_MAX_DEFAULT;
    if (jval_get(json_root(doc), "max_payload", &v) &&
        jval_uint(v, &max_payload))
        s->max_payload = (size_t)max_payload;
    json_free(doc);
    return 0;
}

static int
take_skip(struct script *s, const struct record *r, struct err *err)
{
    struct script_skip *skip;

    if (r->len == 0 || r->payload[0] != 't')
        return 0;
    skip = entry(&s->skips, &r->number, sizeof r->number, sizeof *skip);
    if (skip == NULL)
        return no_memory(err);
    skip->step = SCRIPT_NONE;
    return 0;
}

static int
take(struct script *s, const struct record *r, struct err *err)
{
    switch (r->kind) {
    case RECORD_HEAD:
        return take_head(s, r, err);
    case RECORD_IN:
        return take_in(s, r, err);
    case RECORD_TUNER:
    case RECORD_ASSESSOR:
        return take_out(s, r, err);
    case RECORD_END:
        s->ends_whole = is_said(r, "end of file");
        return 0;
    case RECORD_ROUTER: /* ER: the session failed */
    case RECORD_SKIPPED:
    case RECORD_SYNC:
    case RECORD_TUNER_FRAME:
    case RECORD_ASSESSOR_FRAME:
    case RECORD_TUNER_EVENT:
    case RECORD_ASSESSOR_EVENT:
    case RECORD_RESUMED:
        break;
    }
    return 0;
}

static int
take_skips(struct script *s, const struct record *r, struct err *err)
{
    return r->kind == RECORD_SKIPPED ? take_skip(s, r, err) : 0;
}

static int
walk(struct script *s,
     int (*take_one)(struct script *, const struct record *, struct err *),
     struct err *err)
{
    enum logfile_status status;
    struct record r;

    logfile_rewind(s->file);
    while ((status = logfile_next(s->file, &r, err)) == LOGFILE_RECORD)
        if (take_one(s, &r, err) != 0)
            return -1;
    return status == LOGFILE_DAMAGED ? -1 : 0;
}

/* A request that a stop dropped unanswered would be served now. */
static void
leave_out_dropped(struct script *s)
{
    struct script_skip *skip;
    size_t at = 0, n = 0;

    while ((skip = map_next(&s->skips, &at)) != NULL)
        if (skip->step != SCRIPT_NONE && !skip->answered &&
            memcmp(s->steps[skip->step].code, "GE", 2) == 0)
            s->steps[skip->step].code[0] = '\0';
    for (size_t i = 0; i < s->n_steps; i++) {
        if (s->steps[i].code[0] != '\0')
            s->steps[n++] = s->steps[i];
        else
            s->left_out++;
    }
    s->n_steps = n;
}

int
script_open(struct script *s, const char *path, struct err *err)
{
    *s = (struct script){.file = logfile_open(path, err)};
    if (s->file == NULL || walk(s, take_skips, err) != 0)
        return -1;
    if (walk(s, take, err) != 0)
        return -1;
    leave_out_dropped(s);
    return 0;
}

static void
free_all(struct map *m)
{
    size_t at = 0;
    void *entry;

    while ((entry = map_next(m, &at)) != NULL)
        free(entry);
    map_fini(m);
}

void
script_close(struct script *s)
{
    for (size_t i = 0; i < s->n_steps; i++)
        free(s->steps[i].job);
    for (size_t i = 0; i < s->n_answers; i++)
        free(s->answers[i].key);
    free(s->steps);
    free(s->answers);
    free_all(&s->ids);
    free_all(&s->jobs);
    free_all(&s->skips);
    logfile_close(s->file);
}
