/* SPDX-License-Identifier: MIT */
/* DESIGN.  The recorded frames go through a router, which alone knows what an
 * assessor is shown: no second copies, nothing behind an end.  Where the other
 * assessor says KI, the trial ends for it at once, whatever the log goes on to
 * say of that trial; meanwhile `seen` keeps what was really reported. */
#include "replay/whatif.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/grow.h"
#include "core/log.h"
#include "core/map.h"
#include "dispatcher/assessing.h"
#include "dispatcher/judged.h"
#include "dispatcher/policy.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/router.h"
#include "dispatcher/series.h"
#include "dispatcher/session.h"
#include "dispatcher/side.h"
#include "frame.h"
#include "json.h"
#include "log/log.h"
#include "log/record.h"
#include "objectives/objectives.h"
#include "plugin/assessor.h"
#include "plugin/given_arg.h"
#include "plugin/scalar.h"
#include "replay/script.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct whatif_walk {
    const struct whatif_setup *setup;
    struct whatif *out;
    struct log_reader *file;
    struct json *head;
    struct log silent; /* what the router says was said when the session was
                          recorded */
    struct policy policy;
    struct objectives *objectives; /* NULL: results are one number */
    struct judged judged;
    struct router *router;
    struct assessor *assessor;
    struct side *assessing;
    struct series_map *seen; /* all that the trials reported */
    struct map jobs;         /* trial_job_id -> its number + 1, as a pointer */
    struct map given_out;    /* parameter_id as JSON -> arrival, as a pointer */
    /* Arrival numbers of the reports that a recorded KI answers. */
    struct map kills;
    bool kills_now;  /* the other assessor answers the report in hand by a
                        KI */
    int64_t time_us; /* time of the record in hand */
    struct buf text; /* scratch: a name in the frame of the record in hand */
    bool failed;     /* out of memory */
};

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "what-if: out of memory");
}

/* ---- trials ---- */

static void *
number_pointer(size_t n)
{
    return (void *)(uintptr_t)n;
}

static struct whatif_trial *
find(const struct whatif_walk *w, const char *job)
{
    size_t n = (uintptr_t)map_get(&w->jobs, job, strlen(job));

    return n == 0 ? NULL : &w->out->trials[n - 1];
}

/* The trial of that job, added where it is new; NULL: out of memory. */
static struct whatif_trial *
get_trial(struct whatif_walk *w, const char *job, const struct parameter_id *id)
{
    struct whatif *out = w->out;
    struct whatif_trial *t = find(w, job);

    if (t == NULL && GROW(out->trials, out->n, out->cap) != 0)
        return NULL;
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

/* Enters a report among what was really reported; NULL: out of memory. */
static const struct series *
see_report(struct whatif_walk *w, const struct metric *m)
{
    struct series *h = series_get(w->seen, m->job);
    double value;

    if (h == NULL || judged_take(&w->judged, m, &value) != 0)
        return NULL;
    if (m->attempt > h->attempt)
        series_restart(h, m->attempt);
    return series_enter(h, m->sequence, value) < 0 ? NULL : h;
}

/* Tells the other assessor of the end that would have followed its stop. */
static int
end_now(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    struct command end = {.code = CMD_TRIAL_END, .arrival = cmd->arrival};

    end.end = (struct trial_end){.job = cmd->metric.job,
                                 .event = END_EARLY_STOPPED,
                                 .attempt = cmd->metric.attempt,
                                 .stopped = true};
    return side_command(w->assessing, &end, err);
}

static int
take_report(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t =
        get_trial(w, cmd->metric.job, &cmd->metric.parameter);
    const struct series *h = see_report(w, &cmd->metric);
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
    if (side_command(w->assessing, cmd, err) != 0)
        return -1;
    if (!w->kills_now)
        return 0;
    t->then = stop;
    return end_now(w, cmd, err);
}

static int
take_end(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t = get_trial(w, cmd->end.job, &cmd->end.parameter);

    if (t == NULL)
        return no_memory(err);
    t->ended = true;
    t->event = cmd->end.event;
    t->end_us = w->time_us;
    series_free(series_remove(w->seen, cmd->end.job));
    return t->then.stops ? 0 : side_command(w->assessing, cmd, err);
}

static int
take_loss(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    for (size_t i = 0; i < cmd->n_runs; i++)
        series_free(series_remove(w->seen, cmd->runs[i].job));
    return side_command(w->assessing, cmd, err);
}

static int
take_final(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    struct whatif_trial *t =
        get_trial(w, cmd->metric.job, &cmd->metric.parameter);

    if (t == NULL)
        return no_memory(err);
    if (t->has_final)
        return 0;
    t->has_final = true;
    t->final = cmd->metric.value;
    t->violation = cmd->metric.violation;
    if (cmd->metric.values != NULL)
        memcpy(t->values, cmd->metric.values,
               w->objectives->n * sizeof *t->values);
    return 0;
}

static int
take_command(struct whatif_walk *w, const struct command *cmd, struct err *err)
{
    if (cmd->code == CMD_METRIC && cmd->metric.type == METRIC_FINAL)
        return take_final(w, cmd, err);
    if (cmd->code == CMD_METRIC && cmd->metric.type == METRIC_PERIODICAL &&
        cmd->metric.has_value)
        return take_report(w, cmd, err);
    if (cmd->code == CMD_TRIAL_END && !cmd->tuner_half)
        return take_end(w, cmd, err);
    if (cmd->code == CMD_REQUEST_TRIALS && cmd->n_runs > 0)
        return take_loss(w, cmd, err);
    return 0;
}

static int
take_chain(struct whatif_walk *w, struct chain *chain, struct err *err)
{
    struct command *cmd;
    int rc = 0;

    while ((cmd = chain_take(chain)) != NULL) {
        rc = rc != 0 ? rc : take_command(w, cmd, err);
        command_free(cmd);
    }
    return rc;
}

/* Routes a frame of the manager, and takes what comes of it. */
static int
take_in(struct whatif_walk *w, const struct record *r, struct err *err)
{
    struct routed routed = {0};
    struct frame frame = {.payload = r->payload + 2, .len = r->len - 2};
    int rc;

    if (r->len < 2)
        return 0; /* a replay would tell of the damage */
    memcpy(frame.code, r->payload, 2);
    if (router_frame(w->router, &frame, r->number, &routed) == ROUTER_MEMORY)
        return no_memory(err);
    rc = take_chain(w, &routed.by_default, err);
    return take_chain(w, &routed.assessor, err) != 0 ? -1 : rc;
}

/* ---- the dispatcher's frames ---- */

static void
note_given_out(struct whatif_walk *w, const struct parameter_id *id,
               uint64_t cause)
{
    char *key = script_parameter_key(id);

    if (key == NULL ||
        (map_get(&w->given_out, key, strlen(key)) == NULL &&
         map_put(&w->given_out, key, strlen(key), number_pointer(cause)) != 0))
        w->failed = true;
    free(key);
}

static int
take_out(struct whatif_walk *w, const struct record *r, struct err *err)
{
    struct emission e;

    if (emission_of_record(r, &e, &w->text) == 0) {
        router_written(w->router, &e);
        if (e.code == CMD_NEW_TRIAL && e.parameter.kind != PARAMETER_NONE)
            note_given_out(w, &e.parameter, r->number);
    }
    return w->failed || w->text.failed ? no_memory(err) : 0;
}

/* ---- the walks ---- */

/* A KI may stand behind later reports of its trial, so the reports that a KI
 * answers are collected in a walk of their own, the first one. */
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

/* ---- what follows from what the trials say ---- */

static bool
better(const struct whatif *w, const struct whatif_trial *a,
       const struct whatif_trial *b)
{
    if (!a->has_final || isnan(a->final))
        return false;
    if (b == NULL)
        return true;
    return w->maximize ? a->final > b->final : a->final < b->final;
}

/* Number of the first report on which the recorded assessor and the other one
 * decide differently; 0: they agree. */
static uint64_t
first_other(const struct whatif_trial *t)
{
    const struct whatif_stop *a = &t->really, *b = &t->then;

    if (a->stops && b->stops && a->arrival == b->arrival)
        return 0;
    if (a->stops && (!b->stops || a->arrival < b->arrival))
        return a->arrival;
    return b->stops ? b->arrival : 0;
}

static void
judge_trial(struct whatif *w, struct whatif_trial *t)
{
    uint64_t other = first_other(t);

    w->steps += t->steps;
    w->stopped_really += t->really.stops;
    w->stopped_then += t->then.stops;
    w->stopped_same += t->then.stops && t->really.stops && other == 0;
    t->unknown = t->really.stops && !t->then.stops;
    w->unknown += t->unknown;
    if (other != 0 && (w->first == 0 || other < w->first)) {
        w->first = other;
        w->first_trial = t;
    }
    if (better(w, t, w->best))
        w->best = t;
    if (!t->then.stops && better(w, t, w->best_left))
        w->best_left = t;
    if (!t->then.stops || other == 0)
        return;
    if (t->steps > t->then.step + 1)
        t->saved_steps = t->steps - t->then.step - 1;
    if (t->end_us > t->then.time_us)
        t->saved_s = (double)(t->end_us - t->then.time_us) / 1e6;
    w->saved_steps += t->saved_steps;
    w->saved_s += t->saved_s;
}

/* Fills in the trials' members behind given_out and the sums over all trials,
 * once the trials are known; the log ends at last_us. */
static void
judge(struct whatif *w, int64_t last_us)
{
    for (size_t i = 0; i < w->n; i++) {
        if (!w->trials[i].ended)
            w->trials[i].end_us = last_us;
        judge_trial(w, &w->trials[i]);
    }
    for (size_t i = 0; i < w->n && w->first != 0; i++) {
        w->trials[i].open = w->trials[i].given_out > w->first;
        w->open += w->trials[i].open;
    }
}

/* Makes one number of the values of each final result, over the ranges of
 * all. */
static void
scalarize(struct whatif *w, const struct objectives *o)
{
    struct scalar s;

    scalar_init(&s, o);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < w->n; i++)
            if (w->trials[i].has_final)
                w->trials[i].final = scalar_take(&s, w->trials[i].values,
                                                 w->trials[i].violation);
}

/* ---- start and end ---- */

static void
collect(void *ctx, const struct emission *e)
{
    struct whatif_walk *w = ctx;

    w->kills_now = w->kills_now || e->code == CMD_KILL_TRIAL;
}

static int
take_objectives(struct whatif_walk *w, const struct session_setup *session,
                struct err *err)
{
    if (jval_type(session->objectives) == JSON_NULL)
        return 0;
    w->objectives = objectives_from(session->objectives, err);
    if (w->objectives == NULL ||
        policy_set_objectives(&w->policy, w->objectives,
                              session->assessor_objective, err) != 0)
        return err_place(err, "head record: objectives");
    router_judge(w->router, w->objectives);
    if (policy_scalarizes(&w->policy))
        w->out->scalarized = scalarize_name(w->objectives->how);
    return 0;
}

static int
begin(struct whatif_walk *w, struct err *err)
{
    const char *direction;
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
        router_serve_nni(w->router, w->policy.reissue);
    if (take_objectives(w, &session, err) != 0)
        return -1;
    judged_init(&w->judged, &w->policy);
    direction = policy_assessor_direction(&w->policy);
    w->out->judged_up = direction != NULL ? strcmp(direction, "maximize") == 0
                                          : w->out->maximize;
    if (given_arg_complete(w->setup->paths, PLUGIN_ASSESSOR, w->setup->assessor,
                           w->setup->args, "optimize_mode",
                           w->out->judged_up ? "maximize" : "minimize", &args,
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
    w->out->assessor =
        whatif_description(&text, w->out->judged_up, &w->out->against);
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
    judged_fini(&w->judged);
    router_free(w->router);
    objectives_free(w->objectives);
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
        if (out->scalarized != NULL)
            scalarize(out, w.objectives);
        judge(out, w.time_us);
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

/* ---- how it describes the plugin that it asks ---- */

char *
whatif_description(struct buf *text, bool maximize, bool *against)
{
    struct json *doc = json_parse(text->data, text->len, JSON_STRICT, NULL);
    struct jval args, mode;
    const char *word;

    *against = doc != NULL && jval_get(json_root(doc), "arguments", &args) &&
               jval_get(args, "optimize_mode", &mode) &&
               jval_string(mode, &word, NULL) &&
               (strcmp(word, "minimize") == 0) == maximize;
    if (doc == NULL) {
        buf_fini(text);
        return NULL;
    }
    json_free(doc);
    return buf_take(text);
}
