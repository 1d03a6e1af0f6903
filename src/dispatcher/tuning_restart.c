/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/explainer.h"
#include "dispatcher/restart.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t
tuning_id(const struct tuning *t, const struct trial *trial)
{
    return t->policy->nni ? trial->theirs : trial->id;
}

void
tuning_ran(struct tuning *t, const char *job, const struct trial *trial)
{
    if (t->policy->nni && restart_ran(&t->restart, job, trial) != 0)
        tuning_out_of_memory(t);
    tuning_name(t, tuning_id(t, trial), job, false);
}

/* ---- IN ---- */

void
tuning_restarted(struct tuning *t, const struct command *cmd)
{
    bool same = tuning_same_space(t, cmd->document);
    struct err why;

    log_info(t->log,
             "command %" PRIu64 " (IN): the manager was started again, with "
             "%s search space",
             t->arrival, same ? "the same" : "another");
    restart_begin(&t->restart);
    launches_fini(&t->launches);
    owed_clear(&t->owed); /* it does not wait for them */
    if (same || tuning_set_space(t, cmd->document, &why))
        tuning_emit_initialized(t, cmd);
    else
        tuning_refuse_space(t, &why);
}

/* ---- FD ---- */

static void
write_point(const void *ctx, const struct trial *trial, struct buf *out)
{
    const struct tuning *t = ctx;

    if (trial->parameters != NULL)
        buf_add_text(out, trial->parameters);
    else
        space_decode(t->space, trial->x, out);
}

static void
end_trial(struct tuning *t, struct trial *trial, int how)
{
    struct err err;

    if (!trial->foreign &&
        tuner_ended(t->tuner, tuning_id(t, trial), trial->x, how, &err) != 0)
        tuning_plugin_failed(t, &err);
    tuning_over(t, tuning_id(t, trial), false);
    trial->ended = true;
    trials_settle(t->trials, trial);
}

/* A trial that succeeded without our hearing all of it. */
static int
catch_up(struct tuning *t, struct trial *trial, struct jval entry,
         struct err *err)
{
    struct tp_result result = {.how = TP_RESULT_FINAL};
    const char *problem = "no 'value'", *job = "";
    struct jval value;

    if (!trial->told) {
        if (!jval_get(entry, "value", &value) ||
            !metric_read_value(value, &result.value, &problem))
            return err_set(err, ERR_INPUT, "%s", problem);
        if (jval_get(entry, "trialJobId", &value))
            jval_string(value, &job, NULL);
        tuning_tell(t, trial, job, &result);
    }
    if (!trial->ended)
        end_trial(t, trial, TP_ENDED_SUCCEEDED);
    else
        trials_settle(t->trials, trial);
    return 0;
}

/* 1: told to the tuner; 0: on record; -1: err tells. */
static int
reunite_one(struct tuning *t, struct reunion *u, struct jval entry,
            struct err *err)
{
    struct trial *trial = NULL;
    bool told;

    switch (reunion_judge(u, entry, &trial)) {
    case REUNION_KNOWN:
        return 0;
    case REUNION_NEW:
        return tuning_import_one(t, entry, err) == 0 ? 1 : -1;
    case REUNION_TRIAL:
        told = trial->told;
        return catch_up(t, trial, entry, err) == 0 ? !told : -1;
    case REUNION_MEMORY:
        break;
    }
    tuning_out_of_memory(t);
    return 0;
}

void
tuning_reunite(struct tuning *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    size_t n = jval_count(list), told = 0, known = 0;
    struct reunion u;
    struct err err;

    if (reunion_begin(&u, &t->restart, t->trials, cmd, write_point, t) != 0)
        tuning_out_of_memory(t);
    for (size_t i = 0; i < n && !t->fatal; i++) {
        int rc = reunite_one(t, &u, jval_at(list, i), &err);

        told += rc > 0;
        known += rc == 0;
        if (rc < 0)
            tuning_refuse_element(t, i, &err);
    }
    reunion_fini(&u);
    log_info(t->log,
             "command %" PRIu64 " (FD): %zu of %zu results imported, %zu were "
             "on record",
             t->arrival, told, n, known);
    t->news = true;
}

/* ---- GE ---- */

/* How many are to be given out again; -1: out of memory. */
static int64_t
sort_out(struct tuning *t, struct trial *const *lost, size_t n,
         const struct command *cmd)
{
    int64_t again = 0;

    for (size_t i = 0; i < n; i++) {
        if (!restart_is_unrun(&t->restart, lost[i], cmd)) {
            end_trial(t, lost[i], TP_ENDED_CANCELLED);
            continue;
        }
        if (restart_repeat(&t->restart, lost[i]->id) != 0)
            return -1;
        again++;
    }
    return again;
}

void
tuning_lose(struct tuning *t, const struct command *cmd)
{
    size_t n;
    struct trial **lost = restart_lost(&t->restart, t->trials, &n);
    int64_t again = lost == NULL ? -1 : sort_out(t, lost, n, cmd);

    if (again < 0)
        tuning_out_of_memory(t);
    else if (n > 0)
        log_info(t->log,
                 "command %" PRIu64 " (GE): %zu trials were lost with the "
                 "manager before: %" PRId64 " of them are given out again",
                 t->arrival, n, again);
    free(lost);
}

/* The next one that still is to be given out again; NULL: there is none. */
static struct trial *
take_again(struct tuning *t)
{
    struct parameter_id which = {.kind = PARAMETER_NUMBER};
    struct trial *trial;

    while (t->restart.n_again > 0) {
        which.number = restart_next(&t->restart);
        trial = trials_find(t->trials, &which);
        if (trial == NULL || trial->ended || trial->told)
            continue; /* it did run */
        if (!trial->foreign)
            return trial;
        end_trial(t, trial, TP_ENDED_CANCELLED); /* of an older space */
    }
    return NULL;
}

/* The next one that this manager lost, and nobody has run since. */
static struct trial *
take_lost(struct tuning *t)
{
    struct trial *trial;

    do
        trial = launches_next_lost(&t->launches, t->trials);
    while (trial != NULL && (trial->told || trial->foreign));
    return trial;
}

static void
explain(const struct tuning *t, const struct trial *trial)
{
    const struct host_listener *listener;
    char text[96];

    if (t->explainer == NULL)
        return;
    listener = &t->explainer->listener;
    t->explainer->begin(listener->ctx);
    snprintf(text, sizeof text,
             "given out again: it was %" PRIu64 ", which was lost", trial->id);
    listener->said(listener->ctx, "tunepipe", text);
}

/* The tuner knows it by its old id, and nothing of this.  So does a manager
 * that lost it itself: the trial that it launches now is given what waited. */
bool
tuning_give_again(struct tuning *t, uint64_t id)
{
    struct trial *trial = take_again(t);
    bool renamed = trial != NULL;

    if (trial == NULL && (trial = take_lost(t)) == NULL)
        return false;
    explain(t, trial);
    if (renamed && trials_rename(t->trials, trial, id) != 0) {
        tuning_out_of_memory(t);
        return true;
    }
    buf_clear(&t->json);
    write_point(t, trial, &t->json);
    tuning_give_out(
        t, &(struct parameter_record){.id = trial->id, .label = trial->label});
    return true;
}

/* ---- EN ---- */

void
tuning_launch(struct tuning *t, uint64_t id, const char *label)
{
    if (t->policy->again && launches_give(&t->launches, id, label) != 0)
        tuning_out_of_memory(t);
}

/* One that nobody runs; the tuner waits for it. */
static void
lose(struct tuning *t, struct trial *trial)
{
    if (idset_has(&t->restart.again, trial->id))
        return; /* lost with the manager before, and not given out again yet */
    if (trial->told || trial->foreign) {
        end_trial(t, trial,
                  trial->told ? TP_ENDED_SUCCEEDED : TP_ENDED_CANCELLED);
    } else if (launches_lose(&t->launches, trial->id) != 0) {
        tuning_out_of_memory(t);
    }
    t->news = true;
}

void
tuning_seek_lost(struct tuning *t, const struct trial_end *end)
{
    uint64_t before = t->launches.n_lost;
    struct trial **unrun;
    int64_t n = launches_seek(&t->launches, t->trials, end, &unrun);

    if (n < 0)
        tuning_out_of_memory(t);
    for (int64_t i = 0; i < n; i++)
        lose(t, unrun[i]);
    free(unrun);
    launches_tell(&t->launches, before, t->log, t->arrival);
}
