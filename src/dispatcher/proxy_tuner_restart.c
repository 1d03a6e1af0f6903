/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A program has ended with the dispatcher before.  The one that is started by
 * the first GE is told all results and the trials that run again; what was
 * lost it does not know, and may propose again. */

#include "dispatcher/proxy_tuner.h"

#include "core/err.h"
#include "core/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
proxy_tuner_ran(struct proxy_tuner *t, const char *job,
                const struct trial *trial)
{
    if (t->base.policy->nni && restart_ran(&t->restart, job, trial) != 0)
        proxy_out_of_memory(&t->base);
}

/* ---- IN ---- */

static bool
same_space(const struct proxy_tuner *t, const struct json *doc)
{
    struct json *now = json_parse(t->space.data, t->space.len, JSON_NAN, NULL);
    bool same = now != NULL && jval_equal(json_root(now), json_root(doc));

    json_free(now);
    return same;
}

/* Nobody waits for what was asked before. */
static void
forget_requests(struct proxy_requests *q)
{
    while (q->n > 0)
        proxy_requests_pop(q);
}

void
proxy_tuner_restarted(struct proxy_tuner *t, const struct command *cmd)
{
    bool same = same_space(t, cmd->space);

    log_info(t->base.log,
             "command %" PRIu64 " (IN): the manager was started again, with "
             "%s search space",
             cmd->arrival, same ? "the same" : "another");
    restart_begin(&t->restart);
    launches_fini(&t->launches);
    t->failed = 0;
    forget_requests(&t->owed);
    forget_requests(&t->asked);
    if (!same) {
        buf_clear(&t->space);
        jval_write(json_root(cmd->space), &t->space);
        proxy_tuner_send(t, CMD_UPDATE_SPACE, "", &t->space, "");
    }
    proxy_emit(&t->base, (struct emission){.code = CMD_INITIALIZED,
                                           .number = cmd->position});
}

/* ---- FD ---- */

static void
write_parameters(const void *ctx, const struct trial *trial, struct buf *out)
{
    (void)ctx;
    buf_add_text(out, trial->parameters);
}

/* A trial that succeeded without our hearing all of it.  False: the value is
 * none. */
static bool
catch_up(struct proxy_tuner *t, struct trial *trial, struct jval entry)
{
    struct trial_end end = {.event = END_SUCCEEDED};
    struct mark mark = {0, 0};
    const char *job, *problem;
    struct jval v;

    if (!jval_get(entry, "trialJobId", &v) || !jval_string(v, &job, NULL))
        return false;
    end.job = (char *)job;
    if (!trial->told && (!jval_get(entry, "value", &v) ||
                         !metric_read_value(v, &mark.value, &problem)))
        return false;
    if (!trial->told)
        proxy_tuner_tell(t, trial, job, NULL, &mark);
    if (!trial->ended)
        proxy_tuner_tell_end(t, trial, &end);
    else
        trials_settle(t->trials, trial);
    return true;
}

/* Adds what is new to *fresh; whether it counts now. */
static bool
reunite_one(struct proxy_tuner *t, struct reunion *u, struct jval entry,
            struct buf *fresh)
{
    struct trial *trial = NULL;
    bool told;

    switch (reunion_judge(u, entry, &trial)) {
    case REUNION_KNOWN:
        return false;
    case REUNION_NEW:
        buf_add_text(fresh, fresh->len == 0 ? "" : ", ");
        jval_write(entry, fresh);
        proxy_tuner_keep(t, entry);
        return true;
    case REUNION_TRIAL:
        told = trial->told;
        return catch_up(t, trial, entry) && !told;
    case REUNION_MEMORY:
        break;
    }
    proxy_out_of_memory(&t->base);
    return false;
}

void
proxy_tuner_reunite(struct proxy_tuner *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    size_t n = jval_count(list), counted = 0;
    struct reunion u;
    struct buf fresh;

    buf_init(&fresh, SIZE_MAX / 2);
    if (reunion_begin(&u, &t->restart, t->trials, cmd, write_parameters,
                      NULL) != 0)
        proxy_out_of_memory(&t->base);
    for (size_t i = 0; i < n && !t->base.fatal; i++)
        counted += reunite_one(t, &u, jval_at(list, i), &fresh);
    if (fresh.len > 0 || n == 0)
        proxy_tuner_send(t, CMD_IMPORT, "[", &fresh, "]");
    reunion_fini(&u);
    buf_fini(&fresh);
    log_info(t->base.log,
             "command %" PRIu64 " (FD): %zu of %zu results passed on",
             cmd->arrival, counted, n);
}

/* ---- AD ---- */

bool
proxy_tuner_knows(struct proxy_tuner *t, struct jval record)
{
    struct parameter_id which = {.kind = PARAMETER_NUMBER};
    const struct trial *trial;
    const char *label;
    struct jval v;

    if (!t->base.policy->nni)
        return false;
    if (!jval_get(record, "parameter_id", &v) || jval_type(v) == JSON_NULL)
        return true; /* the user's own */
    if (jval_string(v, &label, NULL)) {
        which = parameter_named(0, label);
    } else if (!jval_uint(v, &which.number)) {
        return false;
    }
    trial = trials_find(t->trials, &which);
    if (trial != NULL && restart_keep(&t->restart, trial->id) != 0)
        proxy_out_of_memory(&t->base);
    if (trial != NULL)
        proxy_tuner_launch(t, trial->id, trial->label);
    return t->restart.on &&
           (trial != NULL || trials_finished(t->trials, &which));
}

/* ---- GE ---- */

void
proxy_tuner_lose(struct proxy_tuner *t)
{
    char nobody[] = "";
    const struct trial_end end = {.job = nobody, .event = END_SYS_CANCELED};
    size_t n;
    struct trial **lost = restart_lost(&t->restart, t->trials, &n);

    if (lost == NULL) {
        proxy_out_of_memory(&t->base);
        return;
    }
    for (size_t i = 0; i < n; i++)
        proxy_tuner_tell_end(t, lost[i], &end);
    if (n > 0)
        log_info(t->base.log,
                 "command %" PRIu64 " (GE): %zu trials were lost with the "
                 "manager before",
                 t->base.arrival, n);
    free(lost);
}

/* ---- EN ---- */

void
proxy_tuner_seek_lost(struct proxy_tuner *t, const struct trial_end *end)
{
    uint64_t before = t->launches.n_lost;
    struct trial **unrun;
    int64_t n = launches_seek(&t->launches, t->trials, end, &unrun);

    if (n < 0)
        proxy_out_of_memory(&t->base);
    for (int64_t i = 0; i < n; i++)
        if (launches_lose(&t->launches, unrun[i]->id) != 0)
            proxy_out_of_memory(&t->base);
    free(unrun);
    launches_tell(&t->launches, before, t->base.log, t->base.arrival);
    if (n > 0)
        proxy_tuner_serve_lost(t);
}

bool
proxy_tuner_give_again(struct proxy_tuner *t)
{
    struct trial *trial = launches_next_lost(&t->launches, t->trials);
    struct parameter_record record;

    if (trial == NULL)
        return false;
    record =
        (struct parameter_record){.id = trial->id,
                                  .label = trial->label,
                                  .parameters = trial->parameters,
                                  .parameters_len = strlen(trial->parameters)};
    proxy_emit(&t->base,
               (struct emission){.code = CMD_NEW_TRIAL, .gives = &record});
    proxy_tuner_launch(t, trial->id, trial->label);
    return true;
}
