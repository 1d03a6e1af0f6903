/* SPDX-License-Identifier: MIT */
#include "replay/whatif.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/map.h"
#include "dispatcher/assessing.h"
#include "dispatcher/histories.h"
#include "dispatcher/logfile.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "frame.h"
#include "plugin/assessor.h"
#include "replay/script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* DESIGN
 *
 * The recorded frames go through a router, so that the other assessor is shown
 * what the recorded one was: no second copies, nothing behind an end.  A KI of
 * its own ends the trial for it at once, whatever the log goes on to say of
 * it; meanwhile `seen` keeps what was really reported. */

struct walk {
    const struct whatif_setup *setup;
    struct whatif *out;
    struct logfile *file;
    struct json *head;
    struct log silent; /* the router said all of it when it was recorded */
    struct policy policy;
    struct router *router;
    struct assessor *assessor;
    struct assessing *assessing;
    struct histories *seen;
    struct map jobs;      /* trial_job_id -> its number + 1, as a pointer */
    struct map given_out; /* parameter_id as JSON -> arrival, as a pointer */
    struct map kills;     /* arrival of a KI's cause -> the walk */
    bool kills_now;       /* the command in hand made it say stop */
    int64_t time_us;      /* of the record in hand */
    bool failed;          /* out of memory */
};

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "what-if: out of memory");
}

static void
collect(void *ctx, const struct emission *e)
{
    struct walk *w = ctx;

    w->kills_now = w->kills_now || e->code == CMD_KILL_TRIAL;
}

/* ---- trials ---- */

static void *
number_pointer(size_t n)
{
    return (void *)(uintptr_t)n;
}

static struct whatif_trial *
find(const struct walk *w, const char *job)
{
    size_t n = (uintptr_t)map_get(&w->jobs, job, strlen(job));

    return n == 0 ? NULL : &w->out->trials[n - 1];
}

/* NULL: out of memory. */
static struct whatif_trial *
get(struct walk *w, const char *job, const struct parameter_id *id)
{
    struct whatif *out = w->out;
    struct whatif_trial *t = find(w, job);

    if (t == NULL && out->n == out->cap) {
        size_t cap = out->cap == 0 ? 64 : 2 * out->cap;
        void *grown = realloc(out->trials, cap * sizeof *out->trials);

        if (grown == NULL)
            return NULL;
        out->trials = grown;
        out->cap = cap;
    }
    if (t == NULL) {
        t = &out->trials[out->n];
        *t = (struct whatif_trial){.job = strdup(job),
                                   .id = script_parameter_key(id)};
        if (t->job == NULL || t->id == NULL ||
            map_put(&w->jobs, job, strlen(job), number_pointer(out->n + 1)) !=
                0) {
            free(t->job);
            free(t->id);
            return NULL;
        }
        t->given_out = (uintptr_t)map_get(&w->given_out, t->id, strlen(t->id));
        out->n++;
    }
    return t;
}

/* ---- the manager's frames ---- */

/* What was really reported; NULL: out of memory. */
static const struct history *
see(struct walk *w, const struct metric *m)
{
    struct history *h = histories_get(w->seen, m->job);

    if (h == NULL)
        return NULL;
    if (m->attempt > h->attempt)
        history_restart(h, m->attempt);
    return history_enter(h, m->sequence, m->value) < 0 ? NULL : h;
}

/* The end that the other assessor would have seen behind its stop. */
static int
end_now(struct walk *w, const struct command *cmd, struct err *err)
{
    struct command end = {.code = CMD_TRIAL_END, .arrival = cmd->arrival};

    end.end = (struct trial_end){.job = cmd->metric.job,
                                 .event = END_EARLY_STOPPED,
                                 .attempt = cmd->metric.attempt,
                                 .stopped = true};
    return assessing_handle(w->assessing, &end, err);
}

static int
take_report(struct walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t = get(w, cmd->metric.job, &cmd->metric.parameter);
    const struct history *h = see(w, &cmd->metric);
    struct whatif_stop stop;

    if (t == NULL || h == NULL)
        return no_memory(err);
    t->steps = h->n;
    stop = (struct whatif_stop){true, h->n - 1,
                                h->n == 0 ? NAN : h->values[h->n - 1],
                                cmd->arrival, w->time_us};
    if (map_get(&w->kills, &cmd->arrival, sizeof cmd->arrival) != NULL)
        t->really = stop;
    if (t->then.stops)
        return 0;
    w->kills_now = false;
    if (assessing_handle(w->assessing, cmd, err) != 0)
        return -1;
    if (!w->kills_now)
        return 0;
    t->then = stop;
    return end_now(w, cmd, err);
}

static int
take_end(struct walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t = get(w, cmd->end.job, &cmd->end.parameter);

    if (t == NULL)
        return no_memory(err);
    t->ended = true;
    t->event = cmd->end.event;
    t->end_us = w->time_us;
    history_free(histories_remove(w->seen, cmd->end.job));
    return t->then.stops ? 0 : assessing_handle(w->assessing, cmd, err);
}

static int
take_final(struct walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t = get(w, cmd->metric.job, &cmd->metric.parameter);

    if (t == NULL)
        return no_memory(err);
    if (!t->has_final) {
        t->has_final = true;
        t->final = cmd->metric.value;
    }
    return 0;
}

static int
take_command(struct walk *w, const struct command *cmd, struct err *err)
{
    if (cmd->code == CMD_METRIC && cmd->metric.type == METRIC_FINAL)
        return take_final(w, cmd, err);
    if (cmd->code == CMD_METRIC && cmd->metric.type == METRIC_PERIODICAL &&
        cmd->metric.has_value)
        return take_report(w, cmd, err);
    if (cmd->code == CMD_TRIAL_END && !cmd->tuner_half)
        return take_end(w, cmd, err);
    return 0;
}

static int
take_chain(struct walk *w, struct chain *chain, struct err *err)
{
    struct command *next;
    int rc = 0;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        rc = rc != 0 ? rc : take_command(w, cmd, err);
        command_free(cmd);
    }
    return rc;
}

static int
take_in(struct walk *w, const struct record *r, struct err *err)
{
    struct routed routed = {0};
    struct frame frame = {.payload = r->payload + 2, .len = r->len - 2};
    int rc;

    if (r->len < 2)
        return 0; /* replay tells */
    memcpy(frame.code, r->payload, 2);
    if (router_frame(w->router, &frame, r->number, &routed) == ROUTER_MEMORY)
        return no_memory(err);
    rc = take_chain(w, &routed.by_default, err);
    return take_chain(w, &routed.assessor, err) != 0 ? -1 : rc;
}

/* ---- the dispatcher's frames ---- */

static void
note_given_out(struct walk *w, const char *key, uint64_t cause)
{
    if (map_get(&w->given_out, key, strlen(key)) == NULL &&
        map_put(&w->given_out, key, strlen(key), number_pointer(cause)) != 0)
        w->failed = true;
}

static int
take_out(struct walk *w, const struct record *r, struct err *err)
{
    enum command_code code;
    char *key;

    if (r->len < 2 || command_find(r->payload, &code) == NULL)
        return 0;
    router_written(w->router, code, r->payload + 2, r->len - 2);
    key = script_key(code, r->payload + 2, r->len - 2);
    if (key != NULL && code == CMD_NEW_TRIAL)
        note_given_out(w, key, r->number);
    free(key);
    return w->failed ? no_memory(err) : 0;
}

/* ---- the walks ---- */

/* A KI may stand behind later reports of its trial: which report it answers
 * is collected first. */
static int
take_kill(struct walk *w, const struct record *r, struct err *err)
{
    if (r->kind == RECORD_ASSESSOR && r->len > 2 &&
        memcmp(r->payload, "KI", 2) == 0 &&
        map_put(&w->kills, &r->number, sizeof r->number, w) != 0)
        return no_memory(err);
    return 0;
}

static int
take(struct walk *w, const struct record *r, struct err *err)
{
    w->time_us = r->time_us;
    switch (r->kind) {
    case RECORD_IN:
        return take_in(w, r, err);
    case RECORD_TUNER:
    case RECORD_ASSESSOR:
        return take_out(w, r, err);
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
        break;
    }
    return 0;
}

static int
walk_all(struct walk *w,
         int (*take_one)(struct walk *, const struct record *, struct err *),
         struct err *err)
{
    uint64_t until = w->setup->until;
    enum logfile_status status;
    struct record r;

    logfile_rewind(w->file);
    while ((status = logfile_next(w->file, &r, err)) == LOGFILE_RECORD)
        if ((until == 0 || r.number <= until) && take_one(w, &r, err) != 0)
            return -1;
    return status == LOGFILE_DAMAGED ? -1 : 0;
}

/* ---- start and end ---- */

static int
describe(struct walk *w, struct err *err)
{
    struct jval args, mode;
    struct json *doc;
    struct buf text;
    const char *word;

    buf_init(&text, (size_t)16 << 20);
    assessor_describe(w->assessor, &text);
    doc = json_parse(text.data, text.len, JSON_STRICT, NULL);
    w->out->assessor = buf_take(&text);
    if (doc == NULL || w->out->assessor == NULL) {
        json_free(doc);
        return no_memory(err);
    }
    if (jval_get(json_root(doc), "arguments", &args) &&
        jval_get(args, "optimize_mode", &mode) &&
        jval_string(mode, &word, NULL))
        w->out->against = (strcmp(word, "minimize") == 0) == w->out->maximize;
    json_free(doc);
    return 0;
}

static int
read_head(struct walk *w, struct session_setup *session, struct err *err)
{
    struct record r;

    w->file = logfile_open(w->setup->path, err);
    if (w->file == NULL)
        return -1;
    if (logfile_next(w->file, &r, err) != LOGFILE_RECORD ||
        r.kind != RECORD_HEAD)
        return err_set(err, ERR_LOG, "%s: expected a head record first",
                       w->setup->path);
    w->head = json_parse(r.payload, r.len, JSON_STRICT, err);
    if (w->head == NULL ||
        session_read_head(json_root(w->head), session, err) != 0)
        return err_place(err, "%s", w->setup->path);
    return 0;
}

static int
begin(struct walk *w, struct err *err)
{
    struct session_setup session = {.paths = w->setup->paths};
    struct emitter emitter = {collect, w};

    if (read_head(w, &session, err) != 0)
        return -1;
    w->policy = session.policy;
    w->policy.on_error = ERROR_SKIP;
    w->out->maximize = session.policy.maximize;
    w->silent = (struct log){.fd = -1, .name = "tunepipe"};
    w->router = router_new(&w->silent, err);
    w->seen = histories_new();
    if (w->router == NULL || w->seen == NULL)
        return no_memory(err);
    w->assessor =
        assessor_new(w->setup->paths, w->setup->assessor, w->setup->args,
                     session.seed, w->setup->log, err);
    if (w->assessor == NULL || describe(w, err) != 0)
        return -1;
    w->assessing =
        assessing_new(w->assessor, &w->policy, emitter, w->setup->log, err);
    return w->assessing == NULL ? -1 : 0;
}

static void
end(struct walk *w)
{
    assessing_free(w->assessing);
    assessor_free(w->assessor);
    histories_free(w->seen);
    router_free(w->router);
    json_free(w->head);
    logfile_close(w->file);
    map_fini(&w->jobs);
    map_fini(&w->given_out);
    map_fini(&w->kills);
}

int
whatif_run(const struct whatif_setup *setup, struct whatif *out,
           struct err *err)
{
    struct walk w = {.setup = setup, .out = out};
    int rc = -1;

    *out = (struct whatif){0};
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
