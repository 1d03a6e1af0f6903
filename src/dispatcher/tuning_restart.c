/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/restart.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdlib.h>

void
tuning_ran(struct tuning *t, const char *job, const struct trial *trial)
{
    if (t->policy->nni && restart_ran(&t->restart, job, trial) != 0)
        tuning_out_of_memory(t);
}

/* ---- IN ---- */

void
tuning_restarted(struct tuning *t, const struct command *cmd)
{
    bool same = tuning_same_space(t, cmd->document);

    log_info(t->log,
             "command %" PRIu64 " (IN): the manager was started again, with "
             "%s search space",
             t->arrival, same ? "the same" : "another");
    restart_begin(&t->restart);
    owed_clear(&t->owed); /* it does not wait for them */
    if (!same) {
        const struct space *before = t->space;

        tuning_set_space(t, cmd->document);
        if (t->fatal || t->space == before)
            return; /* it was said why */
    }
    tuning_emit_initialized(t, cmd);
}

/* ---- FD ---- */

static void
write_point(const void *ctx, const struct trial *trial, struct buf *out)
{
    const struct tuning *t = ctx;

    space_decode(t->space, trial->x, out);
}

static void
end_trial(struct tuning *t, struct trial *trial, int how)
{
    struct err err;

    if (!trial->foreign &&
        tuner_ended(t->tuner, trial->id, trial->x, how, &err) != 0)
        tuning_plugin_failed(t, &err);
    trial->ended = true;
    trials_settle(t->trials, trial);
}

/* A trial that succeeded without our hearing all of it. */
static int
catch_up(struct tuning *t, struct trial *trial, struct jval entry,
         struct err *err)
{
    struct tp_result result = {.how = TP_RESULT_FINAL};
    const char *problem = "no 'value'";
    struct jval value;

    if (!trial->told) {
        if (!jval_get(entry, "value", &value) ||
            !metric_read_value(value, &result.value, &problem))
            return err_set(err, ERR_INPUT, "%s", problem);
        tuning_tell(t, trial, &result);
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

void
tuning_lose(struct tuning *t)
{
    size_t n;
    struct trial **lost = restart_lost(&t->restart, t->trials, &n);

    if (lost == NULL) {
        tuning_out_of_memory(t);
        return;
    }
    for (size_t i = 0; i < n; i++)
        end_trial(t, lost[i], TP_ENDED_CANCELLED);
    if (n > 0)
        log_info(t->log,
                 "command %" PRIu64 " (GE): %zu trials are lost: the manager "
                 "before had them, this one does not",
                 t->arrival, n);
    free(lost);
}
