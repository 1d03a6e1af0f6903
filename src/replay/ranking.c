/* SPDX-License-Identifier: MIT */
/* DESIGN.  The log is read twice.  The history tells the trials and their
 * results, so that the best is known; then a router reads the frames as the
 * recorded session did, and the tuner is told. */
#include "replay/ranking_state.h"

#include "command.h"
#include "core/err.h"
#include "dispatcher/emission.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "frame.h"
#include "log/log.h"
#include "plugin/given_arg.h"
#include "plugin/tuner.h"
#include "replay/described.h"
#include "replay/script.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
ranking_no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "what-if: out of memory");
}

struct ranking_trial *
ranking_find(const struct ranking_walk *w, const char *key)
{
    size_t n = (uintptr_t)map_get(&w->ids, key, strlen(key));

    return n == 0 ? NULL : &w->out->trials[n - 1];
}

/* ---- what the tuner is told ---- */

static int
tell_command(struct ranking_walk *w, const struct command *cmd, struct err *err)
{
    struct ranking_trial *t;
    char *key;

    w->again =
        w->again || (w->nni && cmd->code == CMD_INITIALIZE && w->space != NULL);
    if (cmd->code == CMD_IMPORT && w->again) {
        w->again = false;
        return 0;
    }
    if (cmd->code == CMD_INITIALIZE || cmd->code == CMD_UPDATE_SPACE)
        return ranking_space(w, cmd, err);
    if (cmd->code == CMD_IMPORT)
        return ranking_import(w, cmd, err);
    if (cmd->code != CMD_METRIC || cmd->metric.type != METRIC_FINAL ||
        !cmd->metric.has_value)
        return 0;
    key = script_parameter_key(&cmd->metric.parameter);
    t = key == NULL ? NULL : ranking_find(w, key);
    free(key);
    if (t == NULL || t->order != 0)
        return 0;
    if (ranking_final(w, t, cmd->metric.job, cmd->metric.value) != 0)
        return ranking_no_memory(err);
    t->order = ++w->n_results;
    return ranking_result(w, t, err);
}

/* ---- walking ---- */

static int
take_chain(struct ranking_walk *w, struct chain *chain, bool tells,
           struct err *err)
{
    struct command *next;
    int rc = 0;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        rc = rc != 0 || !tells ? rc : tell_command(w, cmd, err);
        command_free(cmd);
    }
    return rc;
}

static int
take_in(struct ranking_walk *w, const struct record *r, struct err *err)
{
    struct routed routed = {0};
    struct frame frame = {.payload = r->payload + 2, .len = r->len - 2};
    int rc;

    memcpy(frame.code, r->payload, 2);
    if (router_frame(w->router, &frame, r->number, &routed) == ROUTER_MEMORY)
        return ranking_no_memory(err);
    rc = take_chain(w, &routed.by_default, true, err);
    take_chain(w, &routed.assessor, false, err);
    return rc;
}

static int
take_out(struct ranking_walk *w, const struct record *r, struct err *err)
{
    struct emission e;
    struct ranking_trial *t;
    char *key;

    if (emission_of_record(r, &e, &w->text) != 0)
        return w->text.failed ? ranking_no_memory(err) : 0;
    router_written(w->router, &e);
    if (e.code != CMD_NEW_TRIAL || e.parameter.kind == PARAMETER_NONE)
        return 0;
    key = script_parameter_key(&e.parameter);
    if (key == NULL)
        return ranking_no_memory(err);
    t = ranking_find(w, key);
    if (t != NULL)
        t->known_then = w->out->told;
    free(key);
    return 0;
}

static int
walk(struct ranking_walk *w, struct err *err)
{
    uint64_t until = w->setup->until;
    enum log_status status;
    struct record r;

    w->router = router_new(&w->silent, err);
    if (w->router == NULL)
        return -1;
    log_rewind(w->file);
    while ((status = log_next(w->file, &r, err)) == LOG_RECORD) {
        if (r.len < 2 || (until != 0 && r.number > until))
            continue;
        if (r.kind == RECORD_IN && take_in(w, &r, err) != 0)
            return -1;
        if (r.kind == RECORD_TUNER && take_out(w, &r, err) != 0)
            return -1;
    }
    return status == LOG_DAMAGED ? -1 : 0;
}

/* ---- start and end ---- */

static int
begin(struct ranking_walk *w, struct err *err)
{
    struct session_setup session = {.paths = w->setup->paths};
    struct json *args;
    struct record head;
    struct buf text;

    w->file = log_open(w->setup->path, LOG_WHOLE, err);
    if (w->file != NULL)
        w->head = session_load_head(w->file, &head, &session, err);
    if (w->head == NULL)
        return -1;
    w->seed = session.seed;
    w->nni = session.policy.nni;
    w->out->maximize = session.policy.maximize;
    w->silent = (struct log){.fd = -1, .name = "tunepipe"};
    if (given_arg_complete(w->setup->paths, PLUGIN_TUNER, w->setup->tuner,
                           w->setup->args, "optimize_mode",
                           w->out->maximize ? "maximize" : "minimize", &args,
                           err) != 0)
        return -1;
    w->tuner = tuner_new(w->setup->paths, w->setup->tuner,
                         args != NULL ? json_root(args) : w->setup->args,
                         session.seed, w->setup->log, err);
    json_free(args);
    if (w->tuner == NULL)
        return -1;
    buf_init(&text, DESCRIBED_MAX);
    tuner_describe(w->tuner, &text);
    w->out->tuner = described(&text, w->out->maximize, &w->out->against);
    if (w->out->tuner == NULL)
        return ranking_no_memory(err);
    w->out->can_rank = tuner_plugin(w->tuner)->tuner.score != NULL;
    return 0;
}

static void
end(struct ranking_walk *w)
{
    tuner_free(w->tuner);
    space_free(w->space);
    router_free(w->router);
    json_free(w->head);
    log_close(w->file);
    buf_fini(&w->text);
    map_fini(&w->ids);
    free(w->x);
    free(w->y);
    free(w->samples);
}

/* By result; those without one behind, as they were given out. */
static int
by_order(const void *va, const void *vb)
{
    const struct ranking_trial *a = va, *b = vb;

    return a->order < b->order ? -1 : a->order > b->order;
}

static void
conclude(struct ranking_walk *w)
{
    struct ranking *out = w->out;
    const char *best = w->best == 0 ? NULL : out->trials[w->best - 1].id;
    double sum = 0;

    for (size_t i = 0; i < out->n; i++) {
        struct ranking_trial *t = &out->trials[i];

        if (t->order == 0) {
            t->order = w->n_results + i + 1;
            out->silent++;
        }
        if (isnan(t->rank))
            continue;
        sum += t->rank;
        out->ranked++;
    }
    out->mean_rank = out->ranked == 0 ? NAN : sum / (double)out->ranked;
    if (out->n > 0)
        qsort(out->trials, out->n, sizeof *out->trials, by_order);
    for (size_t i = 0; i < out->n; i++)
        if (out->trials[i].id == best)
            out->best = &out->trials[i];
}

int
ranking_run(const struct ranking_setup *setup, struct ranking *out,
            struct err *err)
{
    struct ranking_walk w = {.setup = setup, .out = out};
    int rc = -1;

    *out = (struct ranking){0};
    buf_init(&w.text, SIZE_MAX / 2);
    if (proxy_is_named(setup->tuner))
        return err_set(err, ERR_USAGE,
                       "tuner %s: expected a plugin: a program would have to "
                       "be waited for",
                       setup->tuner);
    if (begin(&w, err) == 0 && ranking_collect(&w, err) == 0 &&
        walk(&w, err) == 0) {
        conclude(&w);
        rc = 0;
    }
    end(&w);
    return rc;
}

void
ranking_fini(struct ranking *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->trials[i].id);
        free(r->trials[i].parameters);
        free(r->trials[i].job);
        free(r->trials[i].own);
    }
    free(r->trials);
    free(r->tuner);
}
