/* SPDX-License-Identifier: MIT */
#include "replay/whatif_state.h"

#include "core/err.h"
#include "dispatcher/assessing.h"
#include "dispatcher/series.h"
#include "dispatcher/side.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "log/log.h"
#include "plugin/assessor.h"
#include "plugin/given_arg.h"
#include "replay/described.h"

#include <stdlib.h>
#include <string.h>

/* DESIGN
 *
 * The recorded frames go through a router, so that the other assessor is shown
 * what the recorded one was: no second copies, nothing behind an end.  A KI of
 * its own ends the trial for it at once, whatever the log goes on to say of
 * it; meanwhile `seen` keeps what was really reported. */

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "what-if: out of memory");
}

static void
collect(void *ctx, const struct emission *e)
{
    struct whatif_walk *w = ctx;

    w->kills_now = w->kills_now || e->code == CMD_KILL_TRIAL;
}

/* ---- the walks ---- */

/* A KI may stand behind later reports of its trial: which report it answers
 * is collected first. */
static int
take_kill(struct whatif_walk *w, const struct record *r, struct err *err)
{
    if ((r->kind == RECORD_ASSESSOR || r->kind == RECORD_TUNER) && r->len > 2 &&
        memcmp(r->payload, "KI", 2) == 0 &&
        map_put(&w->kills, &r->number, sizeof r->number, w) != 0)
        return no_memory(err);
    return 0;
}

static int
take(struct whatif_walk *w, const struct record *r, struct err *err)
{
    w->time_us = r->time_us;
    switch (r->kind) {
    case RECORD_IN:
        return whatif_in(w, r, err);
    case RECORD_TUNER:
    case RECORD_ASSESSOR:
        return whatif_out(w, r, err);
    case RECORD_HEAD:
    case RECORD_ROUTER:
    case RECORD_SKIPPED:
    case RECORD_SYNC:
    case RECORD_END:
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
walk_all(struct whatif_walk *w,
         int (*take_one)(struct whatif_walk *, const struct record *,
                         struct err *),
         struct err *err)
{
    uint64_t until = w->setup->until;
    enum log_status status;
    struct record r;

    log_rewind(w->file);
    while ((status = log_next(w->file, &r, err)) == LOG_RECORD)
        if ((until == 0 || r.number <= until) && take_one(w, &r, err) != 0)
            return -1;
    return status == LOG_DAMAGED ? -1 : 0;
}

/* ---- start and end ---- */

static int
begin(struct whatif_walk *w, struct err *err)
{
    struct session_setup session = {.paths = w->setup->paths};
    struct emitter emitter = {collect, w};
    struct json *args;
    struct record head;
    struct buf text;

    w->file = log_open(w->setup->path, LOG_WHOLE, err);
    if (w->file != NULL)
        w->head = session_load_head(w->file, &head, &session, err);
    if (w->head == NULL)
        return -1;
    w->policy = session.policy;
    w->policy.on_error = ERROR_SKIP;
    w->out->maximize = session.policy.maximize;
    w->silent = (struct log){.fd = -1, .name = "tunepipe"};
    w->router = router_new(&w->silent, err);
    w->seen = series_map_new();
    if (w->router == NULL || w->seen == NULL)
        return no_memory(err);
    if (w->policy.nni)
        router_serve_nni(w->router, w->policy.again);
    if (given_arg_complete(w->setup->paths, PLUGIN_ASSESSOR, w->setup->assessor,
                           w->setup->args, "optimize_mode",
                           w->out->maximize ? "maximize" : "minimize", &args,
                           err) != 0)
        return -1;
    w->assessor = assessor_new(w->setup->paths, w->setup->assessor,
                               args != NULL ? json_root(args) : w->setup->args,
                               session.seed, w->setup->log, err);
    json_free(args);
    if (w->assessor == NULL)
        return -1;
    buf_init(&text, DESCRIBED_MAX);
    assessor_describe(w->assessor, &text);
    w->out->assessor = described(&text, w->out->maximize, &w->out->against);
    if (w->out->assessor == NULL)
        return no_memory(err);
    w->assessing =
        assessing_new(w->assessor, &w->policy, emitter, w->setup->log, err);
    return w->assessing == NULL ? -1 : 0;
}

static void
end(struct whatif_walk *w)
{
    side_free(w->assessing);
    assessor_free(w->assessor);
    series_map_free(w->seen);
    router_free(w->router);
    json_free(w->head);
    log_close(w->file);
    buf_fini(&w->text);
    map_fini(&w->jobs);
    map_fini(&w->given_out);
    map_fini(&w->kills);
}

int
whatif_run(const struct whatif_setup *setup, struct whatif *out,
           struct err *err)
{
    struct whatif_walk w = {.setup = setup, .out = out};
    int rc = -1;

    *out = (struct whatif){0};
    buf_init(&w.text, SIZE_MAX / 2);
    if (proxy_is_named(setup->assessor))
        return err_set(err, ERR_USAGE,
                       "assessor %s: expected a plugin: a program would have "
                       "to be waited for",
                       setup->assessor);
    if (begin(&w, err) == 0 && walk_all(&w, take_kill, err) == 0 &&
        walk_all(&w, take, err) == 0) {
        whatif_judge(out, w.time_us);
        rc = 0;
    }
    end(&w);
    return rc;
}

void
whatif_fini(struct whatif *w)
{
    for (size_t i = 0; i < w->n; i++) {
        free(w->trials[i].job);
        free(w->trials[i].id);
    }
    free(w->trials);
    free(w->assessor);
}
