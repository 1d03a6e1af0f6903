/* SPDX-License-Identifier: MIT */
#include "dispatcher/proxy_tuner.h"

#include "core/err.h"
#include "core/log.h"
#include "dispatcher/marks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RESULTS_MAX ((size_t)60 << 20) /* bytes kept to be told again */

/* ---- what the program is told again ---- */

/* Appends {"parameter": ..., "value": ...}, whose value p->payload holds from
 * `from` on as `"value": ...`. */
static void
keep_result(struct proxy_tuner *t, const struct trial *trial, size_t from)
{
    const struct buf *payload = &t->base.payload;
    size_t len = payload->len - from;

    if (payload->failed ||
        t->results.len + strlen(trial->parameters) + len > RESULTS_MAX)
        return; /* of millions of results the first ones are told */
    buf_add_text(&t->results, t->results.len == 0 ? "" : ", ");
    buf_printf(&t->results, "{\"parameter\": %s, ", trial->parameters);
    buf_add(&t->results, payload->data + from, len);
    buf_add_char(&t->results, '}');
}

void
proxy_tuner_send(struct proxy_tuner *t, enum command_code code,
                 const char *open, struct buf *text, const char *close)
{
    buf_clear(&t->base.payload);
    buf_add_text(&t->base.payload, open);
    buf_add(&t->base.payload, buf_text(text), text->len);
    buf_add_text(&t->base.payload, close);
    proxy_send(&t->base, code);
}

/* {"parameter_id": ..., "parameters": ...}, with the program's id. */
static void
write_record(const struct trial *trial, struct buf *out)
{
    struct parameter_record record = {.id = trial->theirs,
                                      .label = trial->label,
                                      .parameters = trial->parameters,
                                      .parameters_len =
                                          strlen(trial->parameters)};

    command_write_trial(out, &record);
}

/* Trials out are known by our numbers from here on. */
static void
send_out(struct proxy_tuner *t)
{
    struct buf list;
    struct trial **trials;
    size_t n;

    buf_init(&list, SIZE_MAX / 2);
    trials = trials_sorted(t->trials, &n);
    if (trials == NULL)
        proxy_out_of_memory(&t->base);
    for (size_t i = 0; trials != NULL && i < n; i++) {
        if (trials[i]->ended) { /* not known to it: a result is an import */
            trials[i]->foreign = true;
            continue;
        }
        trials[i]->theirs = trials[i]->id;
        buf_add_text(&list, list.len == 0 ? "" : ", ");
        write_record(trials[i], &list);
    }
    if (list.len > 0)
        proxy_tuner_send(t, CMD_ADD_CUSTOM, "[", &list, "]");
    buf_fini(&list);
    free(trials);
}

void
proxy_tuner_restart(struct proxy_tuner *t)
{
    if (!proxy_restart(&t->base) || t->state == PROXY_BARE)
        return;
    proxy_tuner_send(t, CMD_INITIALIZE, "", &t->space, "");
    t->greeting = true;
    if (t->results.len > 0)
        proxy_tuner_send(t, CMD_IMPORT, "[", &t->results, "]");
    send_out(t);
}

/* ---- results and ends ---- */

static void
write_job(struct proxy_tuner *t, const char *job)
{
    buf_add_text(&t->base.payload, ", ");
    proxy_write_text(&t->base, "trial_job_id", job);
}

static void
write_theirs(struct proxy_tuner *t, const struct trial *trial)
{
    struct buf *out = &t->base.payload;

    buf_clear(out);
    if (trial->label == NULL)
        buf_printf(out, "{\"parameter_id\": %" PRIu64, trial->theirs);
    else {
        buf_add_char(out, '{');
        proxy_write_text(&t->base, "parameter_id", trial->label);
    }
}

void
proxy_tuner_tell(struct proxy_tuner *t, struct trial *trial, const char *job,
                 const struct command *cmd, const double *value)
{
    struct buf *out = &t->base.payload;
    size_t from;

    if (trial->foreign) {
        buf_clear(out);
        buf_printf(out, "[{\"parameter\": %s, ", trial->parameters);
    } else {
        write_theirs(t, trial);
        write_job(t, job);
        buf_add_text(out, ", \"type\": \"FINAL\", \"sequence\": 0, ");
    }
    from = out->len;
    if (value != NULL) {
        buf_add_text(out, "\"value\": \"");
        json_write_double(out, *value);
        buf_add_char(out, '"');
    } else {
        proxy_write_value(&t->base, cmd);
    }
    keep_result(t, trial, from);
    buf_add_text(out, trial->foreign ? "}]" : "}");
    proxy_send(&t->base, trial->foreign ? CMD_IMPORT : CMD_METRIC);
    trial->told = true;
}

void
proxy_tuner_metric(struct proxy_tuner *t, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    struct trial *trial;
    const char *why;
    bool late;

    if (m->type == METRIC_REQUEST) {
        proxy_complain_trial(&t->base, m->job, &m->parameter,
                             "REQUEST_PARAMETER: trials of several phases are "
                             "not supported, expected one GE a trial",
                             false);
        return;
    }
    if (m->parameter.kind == PARAMETER_NONE)
        return; /* the user's own trial: recorded */
    why = trials_refuse_result(t->trials, &m->parameter, &trial, &late);
    if (why != NULL) {
        if (trial != NULL)
            late = reunion_is_second_run(&t->reunion, m);
        proxy_complain_trial(&t->base, m->job, &m->parameter, why, late);
        return;
    }
    reunion_ran(&t->reunion, m->job, trial);
    proxy_tuner_tell(t, trial, m->job, cmd, NULL);
    trials_settle(t->trials, trial);
}

static void
send_end(struct proxy_tuner *t, const struct trial *trial,
         const struct trial_end *end)
{
    struct buf *out = &t->base.payload;
    const char *event =
        command_event_name(end->stopped ? END_EARLY_STOPPED : end->event);
    struct buf record;

    buf_init(&record, SIZE_MAX / 2);
    write_record(trial, &record);
    buf_clear(out);
    buf_add_char(out, '{');
    proxy_write_text(&t->base, "trial_job_id", end->job);
    buf_add_text(out, ", ");
    proxy_write_text(&t->base, "event", event);
    buf_add_text(out, ", ");
    proxy_write_text(&t->base, "hyper_params", buf_text(&record));
    buf_add_char(out, '}');
    out->failed = out->failed || record.failed;
    proxy_send(&t->base, CMD_TRIAL_END);
    buf_fini(&record);
}

void
proxy_tuner_tell_end(struct proxy_tuner *t, struct trial *trial,
                     const struct trial_end *end)
{
    send_end(t, trial, end);
    trial->ended = true;
    trials_settle(t->trials, trial);
}

void
proxy_tuner_end(struct proxy_tuner *t, const struct trial_end *end)
{
    const struct mark *mark = policy_mark(t->base.policy, end);
    struct trial *trial;
    const char *why;
    bool late;

    if (end->parameter.kind == PARAMETER_NONE)
        return;
    why = trials_refuse_end(t->trials, &end->parameter, &trial, &late);
    if (why != NULL) {
        if (late && t->base.policy->again)
            why = TRIALS_SHARED;
        proxy_complain_trial(&t->base, end->job, &end->parameter, why, late);
        return;
    }
    reunion_ran(&t->reunion, end->job, trial);
    if (end->stopped && !trial->told && mark != NULL)
        proxy_tuner_tell(t, trial, end->job, NULL, &mark->value);
    proxy_tuner_tell_end(t, trial, end);
}

/* ---- trials from elsewhere ---- */

void
proxy_tuner_keep(struct proxy_tuner *t, struct jval entry)
{
    struct jval v;

    if (!jval_get(entry, "parameter", &v) || !jval_get(entry, "value", &v) ||
        t->results.len > RESULTS_MAX)
        return;
    buf_add_text(&t->results, t->results.len == 0 ? "" : ", ");
    jval_write(entry, &t->results);
}

/* From a manager of NNI's. */
static void
reunite(struct proxy_tuner *t, const struct command *cmd)
{
    struct reunion_count n;

    buf_clear(&t->fresh);
    n = reunion_import(&t->reunion, cmd);
    if (t->fresh.len > 0 || n.all == 0)
        proxy_tuner_send(t, CMD_IMPORT, "[", &t->fresh, "]");
    log_info(t->base.log,
             "command %" PRIu64 " (FD): %zu of %zu results passed on",
             cmd->arrival, n.told, n.all);
}

void
proxy_tuner_import(struct proxy_tuner *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);

    if (t->base.policy->nni) {
        reunite(t, cmd);
        return;
    }
    buf_clear(&t->base.payload);
    jval_write(list, &t->base.payload);
    proxy_send(&t->base, CMD_IMPORT);
    for (size_t i = 0; i < jval_count(list); i++)
        proxy_tuner_keep(t, jval_at(list, i));
}

/* A record of a trial that an earlier run gave out and did not finish. */
static struct trial *
recover_one(struct proxy_tuner *t, struct jval record, struct err *err)
{
    struct jval v, parameters;
    struct trial *trial;
    struct buf text;
    uint64_t id;

    if (!jval_get(record, "parameter_id", &v) || !jval_uint(v, &id) ||
        id > MARKS_RECOVERED_MAX) {
        err_set(err, ERR_INPUT,
                "parameter_id: expected an integer from 0 to %d",
                MARKS_RECOVERED_MAX);
        return NULL;
    }
    if (!jval_get(record, "parameters", &parameters)) {
        err_set(err, ERR_INPUT, "no 'parameters'");
        return NULL;
    }
    if (proxy_requests_has(&t->owed, id) || proxy_requests_has(&t->asked, id)) {
        err_set(err, ERR_INPUT, "parameter_id %" PRIu64 " is owed", id);
        return NULL;
    }
    buf_init(&text, SIZE_MAX / 2);
    jval_write(parameters, &text);
    trial = proxy_tuner_add(t, id, NULL, id, &text);
    if (trial == NULL)
        err_set(err, ERR_INPUT, "parameter_id %" PRIu64 " is in use already",
                id);
    else
        reunion_keep(&t->reunion, id, NULL);
    if (trial != NULL && id >= t->next_id)
        t->next_id = id + 1;
    return trial;
}

/* Whether a record of AD is of a suggestion of ours that the program was told
 * of, or need not be, or of the user's own trial. */
static bool
knows(struct proxy_tuner *t, struct jval record)
{
    struct trial *trial;

    if (!t->base.policy->nni)
        return false;
    switch (reunion_read(&t->reunion, record, &trial)) {
    case RECORD_USERS:
        return true;
    case RECORD_NUMBER:
    case RECORD_LABEL:
        reunion_keep(&t->reunion, trial->id, trial->label);
        return t->reunion.on;
    case RECORD_FINISHED:
        return t->reunion.on;
    case RECORD_UNKNOWN:
        break;
    }
    return false;
}

void
proxy_tuner_custom(struct proxy_tuner *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    struct trial *trial;
    struct buf known;
    struct err err;

    buf_init(&known, SIZE_MAX / 2);
    if (t->base.policy->nni && t->next_id == 0)
        t->next_id = 1; /* as NNI: behind the ids 0 to max(0, those of AD) */
    for (size_t i = 0; i < jval_count(list); i++) {
        if (knows(t, jval_at(list, i)))
            continue;
        trial = recover_one(t, jval_at(list, i), &err);
        if (trial == NULL) {
            err_place(&err, "[%zu]", i);
            proxy_complain(&t->base, err.text);
            continue;
        }
        buf_add_text(&known, known.len == 0 ? "" : ", ");
        write_record(trial, &known);
    }
    if (known.len > 0)
        proxy_tuner_send(t, CMD_ADD_CUSTOM, "[", &known, "]");
    buf_fini(&known);
}
