/* SPDX-License-Identifier: MIT */
#include "replay/script.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/grow.h"
#include "dispatcher/policy.h"
#include "frame.h"
#include "json.h"
#include "log/log.h"
#include "objectives/objectives.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the log has shown of a parameter_id, and of a trial.  It is kept to the
 * end, also for trials that have ended or whose frames were refused, since
 * those are sent again like all others; so this is no view of the history. */
struct script_id {
    size_t trial;
};

struct script_job {
    bool killed, paused, ended;
    size_t acks;
};

static int script_needs(struct script *s, struct script_step *step,
                        struct err *err);

#define KEY_MAX ((size_t)1 << 20)

static char *
copy_json(struct jval v)
{
    struct buf text;

    buf_init(&text, KEY_MAX);
    jval_write(v, &text);
    return buf_take(&text);
}

char *
script_key(enum command_code code, const char *payload, size_t len)
{
    bool has_id = code == CMD_NEW_TRIAL || code == CMD_NO_MORE;
    bool has_job = code == CMD_KILL_TRIAL || code == CMD_DECIDE_TRIAL ||
                   code == CMD_ACKNOWLEDGE;
    struct json *doc =
        has_id || has_job ? json_parse(payload, len, JSON_NAN, NULL) : NULL;
    struct jval v;
    const char *text;
    char *key = NULL;

    if (doc == NULL)
        return NULL;
    v = json_root(doc);
    if (has_id)
        key = jval_get(v, "parameter_id", &v) ? copy_json(v) : NULL;
    else if ((code == CMD_KILL_TRIAL ||
              jval_get(json_root(doc), "trial_job_id", &v)) &&
             jval_string(v, &text, NULL))
        key = strdup(text);
    json_free(doc);
    return key;
}

bool
script_pauses(enum command_code code, const char *payload, size_t len)
{
    struct json *doc = NULL;
    bool pauses;

    if (code == CMD_DECIDE_TRIAL)
        doc = json_parse(payload, len, JSON_STRICT, NULL);
    pauses = doc != NULL &&
             strcmp(jval_text_of(json_root(doc), "decision"), "pause") == 0;
    json_free(doc);
    return pauses;
}

char *
script_parameter_key(const struct parameter_id *id)
{
    struct buf key;

    buf_init(&key, KEY_MAX);
    if (id->kind == PARAMETER_NONE)
        buf_add_text(&key, "null");
    else if (id->kind == PARAMETER_LABEL)
        json_write_string(&key, id->label, strlen(id->label));
    else
        buf_printf(&key, "%" PRIu64, id->number);
    return buf_take(&key);
}

/* ---- what a step needs ---- */

/* DESIGN.  From here on: which answers a frame of the manager's needs. */

static void *
script_entry(struct map *m, const void *key, size_t len, size_t size)
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
script_job_of(struct script *s, const char *job)
{
    return script_entry(&s->jobs, job, strlen(job), sizeof(struct script_job));
}

/* Which TR gave that id; SCRIPT_NONE: none did so far. */
static size_t
trial_of(const struct script *s, const struct parameter_id *id)
{
    char *key = script_parameter_key(id);
    const struct script_id *known =
        key == NULL ? NULL : map_get(&s->ids, key, strlen(key));

    free(key);
    return known == NULL ? SCRIPT_NONE : known->trial;
}

static void
need_trial(struct script_step *step, size_t trial)
{
    step->trial = trial;
    if (trial != SCRIPT_NONE && trial + 1 > step->trials)
        step->trials = trial + 1;
}

static int
need_job(struct script *s, struct script_step *step, const char *name,
         bool ends, bool as_paused, struct err *err)
{
    struct script_job *job = script_job_of(s, name);

    step->job = job == NULL ? NULL : strdup(name);
    if (step->job == NULL)
        return err_set(err, ERR_MEMORY, "script: out of memory");
    step->killed = ends && job->killed;
    step->paused = as_paused && job->paused;
    step->acks = job->acks;
    job->ended = job->ended || ends;
    return 0;
}

/* Adds what a note needs, whose trial is known by its parameter_id. */
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

/* Finds what a frame needs.  One that cannot be decoded needs nothing: it is
 * sent as it is, and costs itself there, too. */
static int
script_needs(struct script *s, struct script_step *step, struct err *err)
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
        rc = need_job(s, step, cmd->metric.job, false, false, err);
    } else if (cmd->code == CMD_TRIAL_END) {
        need_trial(step, trial_of(s, &cmd->end.hint));
        rc = need_job(s, step, cmd->end.job, true, cmd->end.event == END_PAUSED,
                      err);
    } else if (cmd->code == CMD_NOTE) {
        need_noted(s, step, cmd);
    }
    command_free(cmd);
    return rc;
}

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "script: out of memory");
}

/* ---- the manager's frames ---- */

static bool
is_stop(const struct script_step *step)
{
    return memcmp(step->code, "TE", 2) == 0;
}

/* Takes note that a stop was not the session's end: it was resumed. */
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
    struct script_step *step;

    if (r->len < 2)
        return 0; /* a replay would tell of the damage */
    go_on(s);
    if (GROW(s->steps, s->n_steps, s->steps_cap) != 0)
        return no_memory(err);
    step = &s->steps[s->n_steps++];
    *step = (struct script_step){.payload = r->payload + 2,
                                 .len = r->len - 2,
                                 .arrival = r->number,
                                 .trial = SCRIPT_NONE};
    memcpy(step->code, r->payload, 2);
    s->terminates = is_stop(step);
    return script_needs(s, step, err);
}

/* ---- the dispatcher's frames ---- */

static int
know_trial(struct script *s, const char *key, bool *again, struct err *err)
{
    struct script_id *id = map_get(&s->ids, key, strlen(key));

    *again = id != NULL;
    if (id != NULL)
        return 0;
    id = script_entry(&s->ids, key, strlen(key), sizeof *id);
    if (id == NULL)
        return no_memory(err);
    id->trial = s->n_trials++;
    return 0;
}

static int
know_answer(struct script *s, const struct script_answer *a, bool *again,
            struct err *err)
{
    enum command_code code = a->code;
    struct script_job *job;

    *again = false;
    if (a->key == NULL)
        return 0;
    if (code == CMD_NEW_TRIAL)
        return know_trial(s, a->key, again, err);
    if (code != CMD_KILL_TRIAL && code != CMD_ACKNOWLEDGE &&
        code != CMD_DECIDE_TRIAL)
        return 0;
    job = script_job_of(s, a->key);
    if (job == NULL)
        return no_memory(err);
    *again = code == CMD_KILL_TRIAL && job->killed;
    s->crossed += code == CMD_KILL_TRIAL && !*again && job->ended;
    job->killed = job->killed || code == CMD_KILL_TRIAL;
    job->paused = job->paused || script_pauses(code, a->payload, a->len);
    job->acks += code == CMD_ACKNOWLEDGE;
    return 0;
}

static int
add_answer(struct script *s, struct script_answer a, struct err *err)
{
    if (GROW(s->answers, s->n_answers, s->answers_cap) != 0) {
        free(a.key);
        return no_memory(err);
    }
    s->answers[s->n_answers++] = a;
    return 0;
}

/* Whether the side did not handle the command, or not as usual. */
static bool
is_skipped(const struct script *s, uint64_t arrival, enum sender side)
{
    const struct skips_of *of = skips_find(&s->skips, arrival);
    const struct skip *half = of == NULL ? NULL : &of->half[side];

    return half != NULL && (half->dropped || half->barred || half->left > 0);
}

static int
compare_arrival(const void *key, const void *step)
{
    uint64_t a = *(const uint64_t *)key;
    uint64_t b = ((const struct script_step *)step)->arrival;

    return a < b ? -1 : a > b;
}

static void
note_answered(struct script *s, uint64_t arrival)
{
    struct script_step *step = bsearch(&arrival, s->steps, s->n_steps,
                                       sizeof *s->steps, compare_arrival);

    if (step != NULL)
        step->answered = true;
}

static int
take_out(struct script *s, const struct record *r, struct err *err)
{
    bool tuner = r->kind == RECORD_TUNER;
    bool skipped =
        is_skipped(s, r->number, tuner ? SENDER_DEFAULT : SENDER_ASSESSOR);
    struct script_answer a = {.needed = !s->terminates && !skipped};
    bool again;

    if (r->len < 2 || command_find(r->payload, &a.code) == NULL)
        return 0;
    if (skipped && tuner)
        note_answered(s, r->number);
    a.payload = r->payload + 2;
    a.len = r->len - 2;
    a.key = script_key(a.code, a.payload, a.len);
    if (a.code == CMD_NEW_TRIAL && a.key == NULL)
        return 0;
    if (know_answer(s, &a, &again, err) != 0) {
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

/* Takes what results are judged by, which programs are told in the place of a
 * direction where that is more than one number. */
static int
take_objectives(struct script *s, struct jval v, struct err *err)
{
    struct objectives *o = objectives_from(v, err);
    struct policy p = {0};

    if (o == NULL)
        return err_place(err, "head record: objectives");
    policy_set_objectives(&p, o, NULL, err);
    s->direction = policy_program_direction(&p);
    s->objectives = objectives_text(o);
    objectives_free(o);
    return s->objectives == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                                 : 0;
}

static int
take_head(struct script *s, const struct record *r, struct err *err)
{
    struct json *doc = json_parse(r->payload, r->len, JSON_STRICT, err);
    const char *direction, *judged;
    uint64_t max_payload;
    struct jval v;
    int rc = 0;

    if (doc == NULL)
        return err_place(err, "head record");
    if (jval_get(json_root(doc), "seed", &v))
        (void)jval_uint(v, &s->seed);
    if (jval_get(json_root(doc), "direction", &v) &&
        jval_string(v, &direction, NULL))
        s->direction = policy_direction_of(direction);
    s->max_payload = FRAME_PAYLOAD_MAX_DEFAULT;
    if (jval_get(json_root(doc), "max_payload", &v) &&
        jval_uint(v, &max_payload))
        s->max_payload = (size_t)max_payload;
    if (jval_get(json_root(doc), "objectives", &v))
        rc = take_objectives(s, v, err);
    if (jval_get(json_root(doc), "assessor_objective", &v) &&
        jval_string(v, &judged, NULL) && (s->judged = strdup(judged)) == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    json_free(doc);
    return rc;
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
    case RECORD_SEGMENT:
        break;
    }
    return 0;
}

static int
take_skips(struct script *s, const struct record *r, struct err *err)
{
    return r->kind == RECORD_SKIPPED ? skips_add(&s->skips, r, err) : 0;
}

static int
walk(struct script *s,
     int (*take_one)(struct script *, const struct record *, struct err *),
     struct err *err)
{
    enum log_status status;
    struct record r;

    log_rewind(s->file);
    while ((status = log_next(s->file, &r, err)) == LOG_RECORD)
        if (take_one(s, &r, err) != 0)
            return -1;
    return status == LOG_DAMAGED ? -1 : 0;
}

/* Leaves out requests that a stop dropped unanswered: a program would serve
 * them now. */
static void
leave_out_dropped(struct script *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_steps; i++) {
        const struct script_step *step = &s->steps[i];

        if (memcmp(step->code, "GE", 2) == 0 && !step->answered &&
            is_skipped(s, step->arrival, SENDER_DEFAULT))
            s->left_out++;
        else
            s->steps[n++] = *step;
    }
    s->n_steps = n;
}

int
script_open(struct script *s, const char *path, struct err *err)
{
    *s = (struct script){.file = log_open(path, LOG_WHOLE | LOG_KEEP, err)};
    if (s->file == NULL || walk(s, take_skips, err) != 0 ||
        walk(s, take, err) != 0)
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
    skips_fini(&s->skips);
    free(s->objectives);
    free(s->judged);
    log_close(s->file);
}
