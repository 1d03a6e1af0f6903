/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/tuning_state.h"
#include "plugin/tuner.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>

void
tuning_tell(struct tuning *t, struct trial *trial, const char *job,
            struct tp_result *result)
{
    struct err err;

    result->_struct_size = sizeof *result;
    if (trial->foreign && trial->unfit) {
        const struct parameter_id id = parameter_named(trial->id, trial->label);

        tuning_complain_trial(t, job, &id,
                              "it is of an older search space that does not "
                              "fit into this one: recorded, not told",
                              true);
    } else {
        if (trial->foreign)
            result->how = TP_RESULT_IMPORTED;
        if (tuner_tell(t->tuner,
                       trial->foreign ? TP_NO_ID : tuning_id(t, trial),
                       trial->x, result, &err) != 0)
            tuning_plugin_failed(t, &err);
        t->news = true;
    }
    trial->told = true;
}

static void
handle_final(struct tuning *t, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    struct tp_result result = {.how = TP_RESULT_FINAL, .value = m->value};
    struct trial *trial;
    bool late;
    const char *why =
        trials_refuse_result(t->trials, &m->parameter, &trial, &late);

    if (m->parameter.kind == PARAMETER_NONE) {
        log_info(t->log,
                 "command %" PRIu64 " (ME): trial '%.64s' is the user's own: "
                 "its result is recorded, not told to the tuner",
                 t->arrival, m->job);
    } else if (why != NULL) {
        if (trial != NULL)
            late = reunion_is_second_run(&t->reunion, m);
        tuning_complain_trial(t, m->job, &m->parameter, why, late);
    } else {
        tuning_ran(t, m->job, trial);
        tuning_tell(t, trial, m->job, &result);
        trials_settle(t->trials, trial);
    }
}

void
tuning_metric(struct tuning *t, const struct command *cmd)
{
    switch (cmd->metric.type) {
    case METRIC_FINAL:
        handle_final(t, cmd);
        return;
    case METRIC_REQUEST:
        tuning_complain_trial(
            t, cmd->metric.job, &cmd->metric.parameter,
            "REQUEST_PARAMETER: trials of several phases are not "
            "supported, expected one GE a trial",
            false);
        return;
    case METRIC_PERIODICAL: /* the assessor's, but for an advisor's */
        tuning_report(t, cmd);
        return;
    }
}

static void
tell_stopped(struct tuning *t, struct trial *trial, const struct trial_end *end)
{
    const struct mark *mark = policy_mark(t->policy, end);
    struct tp_result result = {.how = TP_RESULT_STOPPED};

    if (mark == NULL)
        return;
    result.value = mark->value;
    result.step = mark->step;
    tuning_tell(t, trial, end->job, &result);
}

static int
ended_how(const struct tuning *t, const struct trial_end *end)
{
    if (end->stopped)
        return TP_ENDED_STOPPED;
    switch (end->event) {
    case END_SUCCEEDED:
        return TP_ENDED_SUCCEEDED;
    case END_FAILED:
        return TP_ENDED_FAILED;
    case END_EARLY_STOPPED:
        return TP_ENDED_STOPPED;
    case END_PAUSED:
        return tuning_advised(t) ? TP_ENDED_PAUSED : TP_ENDED_CANCELLED;
    case END_USER_CANCELED:
    case END_SYS_CANCELED:
        break;
    }
    return TP_ENDED_CANCELLED;
}

void
tuning_end_trial(struct tuning *t, struct trial *trial,
                 const struct trial_end *end)
{
    uint64_t id = tuning_id(t, trial);
    struct err err;

    if (!trial->foreign &&
        tuner_ended(t->tuner, id, trial->x, ended_how(t, end), &err) != 0)
        tuning_plugin_failed(t, &err);
    tuning_over(t, id, end->event == END_PAUSED);
    trial->ended = true;
    trials_settle(t->trials, trial);
}

static void
end_one(struct tuning *t, const struct trial_end *end)
{
    struct trial *trial;
    bool late;
    const char *why =
        trials_refuse_end(t->trials, &end->parameter, &trial, &late);

    if (end->parameter.kind == PARAMETER_NONE)
        return; /* the user's own trial, or one that nobody can name */
    if (why != NULL) {
        if (late && t->policy->again)
            why = TRIALS_SHARED;
        tuning_complain_trial(t, end->job, &end->parameter, why, late);
        return;
    }
    tuning_name(t, tuning_id(t, trial), end->job, true);
    tuning_ran(t, end->job, trial);
    if (end->stopped && !trial->told && !tuning_advised(t))
        tell_stopped(t, trial, end);
    tuning_end_trial(t, trial, end);
    t->news = true;
}

void
tuning_end(struct tuning *t, const struct command *cmd)
{
    end_one(t, &cmd->end);
    if (reunion_seek_lost(&t->reunion, cmd) > 0)
        t->news = true;
}
