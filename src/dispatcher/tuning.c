/* SPDX-License-Identifier: MIT */
#include "dispatcher/tuning.h"

#include "core/err.h"
#include "core/log.h"
#include "dispatcher/explainer.h"
#include "dispatcher/naming.h"
#include "dispatcher/tuning_state.h"
#include "dispatcher/view.h"
#include "plugin/loader.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdlib.h>

struct tuning *
tuning_new(struct tuner *tuner, const struct policy *policy,
           struct emitter emitter, const struct log *log, struct err *err)
{
    struct tuning *t = calloc(1, sizeof *t);

    if (t == NULL || (t->trials = trials_new()) == NULL) {
        free(t);
        err_set(err, ERR_MEMORY, "trial table: out of memory");
        return NULL;
    }
    t->tuner = tuner;
    t->policy = policy;
    t->emitter = emitter;
    t->log = log;
    reunion_init(&t->reunion, &tuning_reunion, t, policy, t->trials, log);
    buf_init(&t->json, (size_t)64 << 20);
    buf_init(&t->payload, (size_t)65 << 20);
    return t;
}

void
tuning_listen(struct tuning *t, const struct explainer *explainer)
{
    t->explainer = explainer;
    tuner_listen(t->tuner, explainer == NULL ? NULL : &explainer->listener);
}

void
tuning_see(const struct tuning *t, struct tuning_view *out,
           const struct viewer *viewer)
{
    *out = (struct tuning_view){
        .has_space = t->space != NULL,
        .next_id = t->next_id,
        .trials = t->trials,
    };
    for (size_t i = 0; i < t->owed.n_runs; i++)
        viewer->owed(viewer->ctx, t->owed.runs[i].first, t->owed.runs[i].count);
}

void
tuning_free(struct tuning *t)
{
    if (t == NULL)
        return;
    trials_free(t->trials);
    owed_fini(&t->owed);
    reunion_fini(&t->reunion);
    origins_fini(&t->origins);
    space_free(t->space);
    free(t->x);
    buf_fini(&t->json);
    buf_fini(&t->payload);
    free(t);
}

void
tuning_emit(struct tuning *t, struct emission e)
{
    e.sender = SENDER_DEFAULT;
    e.cause = t->arrival;
    if (emission_encode(&e, t->policy->extensions, &t->payload) != 0) {
        t->fatal = true;
        err_set(t->failure, ERR_MEMORY, "command %" PRIu64 ": out of memory",
                t->arrival);
        return;
    }
    t->emitter.emit(t->emitter.ctx, &e);
}

/* As NNI's advisors do one for each unit, where one cannot stand for many. */
void
tuning_no_more(struct tuning *t, uint64_t first, enum no_reason reason,
               uint64_t units)
{
    bool advises = tuner_plugin(t->tuner)->tuner.flags & TP_TUNER_UNITS;
    uint64_t n = advises && !t->policy->extensions && units > 0 ? units : 1;
    const struct emission no = {
        .code = CMD_NO_MORE,
        .parameter = parameter_named(first, advises ? "-1_0_0" : NULL),
        .reason = reason,
        .units = units};

    while (n-- > 0 && !t->fatal)
        tuning_emit(t, no);
}

/* One line for a mistake that costs this command alone. */
void
tuning_complain(struct tuning *t, const char *text)
{
    log_error(t->log, "command %" PRIu64 " (%s): %s", t->arrival, t->code,
              text);
}

/* A plugin failed: by policy its command, or the session. */
void
tuning_plugin_failed(struct tuning *t, const struct err *err)
{
    if (t->policy->on_error == ERROR_SKIP) {
        tuning_complain(t, err->text);
        return;
    }
    if (t->fatal)
        return;
    t->fatal = true;
    if (t->failure != NULL) {
        *t->failure = *err;
        err_place(t->failure, "command %" PRIu64 " (%s)", t->arrival, t->code);
    }
}

void
tuning_out_of_memory(struct tuning *t)
{
    t->fatal = true;
    err_set(t->failure, ERR_MEMORY, "command %" PRIu64 " (%s): out of memory",
            t->arrival, t->code);
}

void
tuning_complain_trial(struct tuning *t, const char *job,
                      const struct parameter_id *id, const char *text,
                      bool late)
{
    char which[NAMING_MAX];

    log_line(t->log, late ? LOG_INFO : LOG_ERROR,
             "command %" PRIu64 " (%s): %s: %s", t->arrival, t->code,
             naming_trial(which, job, id), text);
}

bool
tuning_has_space(struct tuning *t)
{
    if (t->space == NULL)
        tuning_complain(t, "no search space yet, expected IN first");
    return t->space != NULL;
}

static void (*const handlers[CMD_COUNT])(struct tuning *,
                                         const struct command *) = {
    [CMD_INITIALIZE] = tuning_initialize, [CMD_REQUEST_TRIALS] = tuning_request,
    [CMD_METRIC] = tuning_metric,         [CMD_UPDATE_SPACE] = tuning_update,
    [CMD_IMPORT] = tuning_import,         [CMD_ADD_CUSTOM] = tuning_custom,
    [CMD_TRIAL_END] = tuning_end,
};

bool
tuning_drops(const struct tuning *t, const struct command *cmd)
{
    return t->closed && cmd->code == CMD_REQUEST_TRIALS;
}

int
tuning_handle(struct tuning *t, const struct command *cmd, struct err *err)
{
    if (handlers[cmd->code] == NULL || tuning_drops(t, cmd))
        return 0;
    t->arrival = cmd->arrival;
    t->code = command_info(cmd->code)->code;
    t->news = false;
    t->fatal = false;
    t->failure = err;
    handlers[cmd->code](t, cmd);
    tuning_decide(t);
    if (t->news && t->owed.total > 0 && !t->closed && !t->fatal)
        tuning_serve_owed(t);
    tuning_decide(t);
    if (cmd->code == CMD_METRIC && cmd->metric.sync &&
        cmd->metric.type == METRIC_PERIODICAL && !t->fatal)
        tuning_acknowledge(t, cmd);
    if (cmd->code == CMD_TRIAL_END && cmd->end.sync && !t->fatal)
        tuning_emit(t, (struct emission){/* all that follows is written */
                                         .code = CMD_ACKNOWLEDGE,
                                         .job = cmd->end.job,
                                         .ends = true});
    return t->fatal ? -1 : 0;
}

void
tuning_close(struct tuning *t)
{
    t->closed = true;
}

void
tuning_reopen(struct tuning *t)
{
    if (t->closed)
        owed_clear(&t->owed);
    t->closed = false;
}

bool
tuning_is_set(const struct tuning *t)
{
    return t->space != NULL;
}

uint64_t
tuning_owed(const struct tuning *t)
{
    return t->owed.total;
}
