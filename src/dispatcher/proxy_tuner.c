/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The ids on the manager's wire are ours: a GE burns as many as it asks for
 * and is passed on.  Each TR of the program serves the oldest id that waits,
 * and one that nobody waits for gets the next; what the program calls it is
 * kept, and put in where the program is told of that trial.
 *
 * A program that ended is started again by the next GE, and is told what a
 * resumed manager would tell it: IN, FD with all results so far, AD with the
 * trials that are out. */

#include "dispatcher/proxy_tuner.h"

#include "core/err.h"
#include "dispatcher/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct proxy_tuner *
self(struct proxy *p)
{
    return (struct proxy_tuner *)p;
}

struct trial *
proxy_tuner_add(struct proxy_tuner *t, uint64_t id, const char *label,
                uint64_t theirs, struct buf *text)
{
    static const double nowhere[1];
    char *parameters = buf_take(text);
    struct trial *trial = NULL;

    if (parameters != NULL)
        trial = trials_add(t->trials, id, label, nowhere, 0);
    if (trial == NULL) {
        free(parameters);
        return NULL;
    }
    trial->theirs = theirs;
    trial->parameters = parameters;
    return trial;
}

void
proxy_tuner_no_more(struct proxy_tuner *t, uint64_t first,
                    enum no_reason reason, uint64_t units)
{
    proxy_emit(&t->base,
               (struct emission){.code = CMD_NO_MORE,
                                 .parameter = parameter_named(first, NULL),
                                 .reason = reason,
                                 .units = units});
}

/* ---- the search space ---- */

static void
keep_space(struct proxy_tuner *t, const struct command *cmd)
{
    buf_clear(&t->space);
    jval_write(json_root(cmd->space), &t->space);
    if (t->space.failed)
        proxy_out_of_memory(&t->base);
}

static void
initialize(struct proxy_tuner *t, const struct command *cmd)
{
    if (t->state == PROXY_READY && t->base.policy->nni) {
        reunion_begin(&t->reunion, cmd);
        return;
    }
    if (t->state != PROXY_BARE) {
        proxy_complain(&t->base, "the search space is set already, expected "
                                 "SS to change it");
        return;
    }
    keep_space(t, cmd);
    t->position = cmd->position;
    proxy_tuner_restart(t);
    t->state = PROXY_ASKED;
    proxy_tuner_send(t, CMD_INITIALIZE, "", &t->space, "");
}

static bool
has_space(struct proxy_tuner *t)
{
    if (t->state == PROXY_BARE)
        proxy_complain(&t->base, "no search space yet, expected IN first");
    return t->state != PROXY_BARE;
}

static void
update(struct proxy_tuner *t, const struct command *cmd)
{
    if (!has_space(t))
        return;
    keep_space(t, cmd);
    proxy_tuner_send(t, CMD_UPDATE_SPACE, "", &t->space, "");
}

/* ---- requests ---- */

/* Asks the program for what is left of it. */
static void
ask(struct proxy_tuner *t, struct proxy_request r)
{
    proxy_tuner_restart(t);
    if (proxy_requests_push(&t->asked, r) != 0) {
        proxy_out_of_memory(&t->base);
        return;
    }
    buf_clear(&t->base.payload);
    buf_printf(&t->base.payload, "%" PRIu64, proxy_request_left(&r));
    proxy_send(&t->base, CMD_REQUEST_TRIALS);
}

static void
request(struct proxy_tuner *t, const struct command *cmd)
{
    struct proxy_request r = {.first = t->next_id, .count = cmd->request.count};

    if (cmd->request.problem != NULL || t->state == PROXY_BARE) {
        proxy_complain(&t->base, cmd->request.problem != NULL
                                     ? cmd->request.problem
                                     : "no search space yet, expected IN "
                                       "first");
        proxy_tuner_no_more(t, r.first, NO_FAILED, r.count);
        return;
    }
    if (t->reunion.on)
        reunion_lose(&t->reunion, cmd);
    t->next_id += r.count;
    while (r.served < r.count &&
           reunion_give_again(&t->reunion, r.first + r.served))
        r.served++;
    if (r.served < r.count)
        ask(t, r);
}

static bool
tells(enum command_code code)
{
    return code == CMD_METRIC || code == CMD_TRIAL_END || code == CMD_IMPORT ||
           code == CMD_UPDATE_SPACE;
}

void
proxy_tuner_ask_failed(struct proxy_tuner *t)
{
    struct proxy_request r = {.first = t->next_id, .count = t->failed};

    if (r.count == 0 || t->asked.n > 0 || t->state != PROXY_READY)
        return;
    t->next_id += r.count;
    t->failed = 0;
    ask(t, r);
}

/* ---- the rest ---- */

static void
import(struct proxy_tuner *t, const struct command *cmd)
{
    if (has_space(t))
        proxy_tuner_import(t, cmd);
}

static void
custom(struct proxy_tuner *t, const struct command *cmd)
{
    if (has_space(t))
        proxy_tuner_custom(t, cmd);
}

/* The program was told; what it says of it comes when it likes. */
static void
end(struct proxy_tuner *t, const struct command *cmd)
{
    proxy_tuner_end(t, &cmd->end);
    if (reunion_seek_lost(&t->reunion, cmd) > 0)
        proxy_tuner_serve_lost(t);
    if (cmd->end.sync)
        proxy_emit(&t->base, (struct emission){.code = CMD_ACKNOWLEDGE,
                                               .job = cmd->end.job,
                                               .ends = true});
}

static void
command(struct proxy *p, const struct command *cmd)
{
    static void (*const handlers[CMD_COUNT])(struct proxy_tuner *,
                                             const struct command *) = {
        [CMD_INITIALIZE] = initialize,
        [CMD_REQUEST_TRIALS] = request,
        [CMD_METRIC] = proxy_tuner_metric,
        [CMD_UPDATE_SPACE] = update,
        [CMD_IMPORT] = import,
        [CMD_ADD_CUSTOM] = custom,
        [CMD_TRIAL_END] = end,
    };

    if (handlers[cmd->code] != NULL)
        handlers[cmd->code](self(p), cmd);
    if (tells(cmd->code)) {
        self(p)->tries = 0;
        proxy_tuner_ask_failed(self(p));
    }
}

static void
free_tuner(struct proxy *p)
{
    struct proxy_tuner *t = self(p);

    trials_free(t->trials);
    buf_fini(&t->space);
    buf_fini(&t->results);
    proxy_requests_fini(&t->owed);
    proxy_requests_fini(&t->asked);
    buf_fini(&t->fresh);
    reunion_fini(&t->reunion);
    proxy_fini(p);
    free(t);
}

static void
see_requests(const struct proxy_requests *q, const struct viewer *viewer)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct proxy_request *r = &q->items[q->at + i];

        if (proxy_request_left(r) > 0)
            viewer->owed(viewer->ctx, r->first + r->served + r->failed,
                         proxy_request_left(r));
    }
}

void
proxy_tuner_see(const struct proxy *p, struct tuning_view *out,
                const struct viewer *viewer)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;

    *out = (struct tuning_view){
        .has_space = t->state == PROXY_READY,
        .next_id = t->next_id,
        .trials = t->trials,
    };
    see_requests(&t->owed, viewer);
    see_requests(&t->asked, viewer);
}

struct proxy *
proxy_tuner_new(const struct proxy_setup *setup, const struct policy *policy,
                struct emitter emitter, const struct log *log, struct err *err)
{
    static const struct proxy_kind kind = {
        .sender = SENDER_DEFAULT,
        .command = command,
        .frame = proxy_tuner_frame,
        .late = proxy_tuner_late,
        .gone = proxy_tuner_gone,
        .settle = proxy_tuner_settle,
        .waits = proxy_tuner_waits,
        .bytes = proxy_tuner_bytes,
        .name_due = proxy_tuner_name_due,
        .owed = proxy_tuner_owed,
        .free = free_tuner,
    };
    struct proxy_tuner *t = calloc(1, sizeof *t);

    if (t == NULL || (t->trials = trials_new()) == NULL) {
        free(t);
        err_set(err, ERR_MEMORY, "%s: out of memory", setup->title);
        return NULL;
    }
    proxy_init(&t->base, &kind, setup, policy, emitter, log);
    buf_init(&t->space, SIZE_MAX / 2);
    buf_init(&t->results, SIZE_MAX / 2);
    buf_init(&t->fresh, SIZE_MAX / 2);
    reunion_init(&t->reunion, &proxy_tuner_reunion, t, policy, t->trials, log);
    return &t->base;
}
