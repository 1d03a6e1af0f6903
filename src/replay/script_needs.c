/* SPDX-License-Identifier: MIT */
/* Which answers a frame of the manager's needs. */
#include "replay/script_state.h"

#include "core/err.h"
#include "frame.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

void *
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

struct script_job *
script_job_of(struct script *s, const char *job)
{
    return script_entry(&s->jobs, job, strlen(job), sizeof(struct script_job));
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
int
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
