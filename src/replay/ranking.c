/* SPDX-License-Identifier: MIT */
/* DESIGN.  The log is read twice.  The history tells the trials and their
 * results, so that the best is known; of several values a router tells them,
 * which reads the frames once more.  Then a router reads the frames as that
 * of the recorded session did, since it alone knows which of them a tuner was
 * shown, and the tuner is told those. */
#include "replay/ranking.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/grow.h"
#include "core/log.h"
#include "core/map.h"
#include "core/problems.h"
#include "dispatcher/emission.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "frame.h"
#include "history/history.h"
#include "log/log.h"
#include "log/record.h"
#include "objectives/objectives.h"
#include "plugin/given_arg.h"
#include "plugin/loader.h"
#include "plugin/scalar.h"
#include "plugin/tuner.h"
#include "replay/whatif.h"
#include "replay/script.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Draw numbers of the samples of the prior: beyond any trial's own. */
#define DRAW_BASE ((uint64_t)1 << 62)
#define REDRAWS 100

struct ranking_walk {
    const struct ranking_setup *setup;
    struct ranking *out;
    struct log_reader *file;
    struct json *head;
    struct log silent; /* the router said all of it when it was recorded */
    struct objectives *objectives; /* NULL: results are one number */
    bool collects; /* results are noted, and the tuner is told nothing yet */
    struct router *router;
    struct buf text; /* a name in the recorded frame in hand */
    struct tuner *tuner;
    struct space *space;
    uint64_t seed;
    bool nni;         /* the manager is NNI's */
    bool restarted;   /* NNI's manager was started again: the next FD repeats,
                         nearly whole, results that were reported before */
    struct map ids;   /* parameter_id as JSON -> its trial's number + 1 */
    size_t n_results; /* trials with a result so far: they come first */
    size_t best;      /* number + 1 of the best trial; 0: none */
    bool best_is_told;
    uint64_t asked;  /* suggestions of its own: the id of the next one */
    double *x, *y;   /* points, n_dims long */
    double *samples; /* RANKING_SAMPLES points of the prior */
    const double *points[RANKING_SAMPLES + 1];
    double scores[RANKING_SAMPLES + 1];
};

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "what-if: out of memory");
}

/* The trial of this parameter_id; NULL: none is known. */
static struct ranking_trial *
find(const struct ranking_walk *w, const char *key)
{
    size_t n = (uintptr_t)map_get(&w->ids, key, strlen(key));

    return n == 0 ? NULL : &w->out->trials[n - 1];
}

/* ---- the trials and their results ---- */

/* Adds a trial with this parameter_id.  NULL: out of memory. */
static struct ranking_trial *
add(struct ranking_walk *w, const char *key)
{
    struct ranking *out = w->out;
    struct ranking_trial *t;

    if (GROW(out->trials, out->n, out->cap) != 0)
        return NULL;
    t = &out->trials[out->n];
    *t = (struct ranking_trial){.id = strdup(key), .rank = NAN};
    if (t->id == NULL || map_put(&w->ids, key, strlen(key),
                                 (void *)(uintptr_t)(out->n + 1)) != 0) {
        free(t->id);
        return NULL;
    }
    out->n++;
    return t;
}

/* Parameters that were given out several times: the last time counts, as that
 * is what runs. */
static int
add_suggestion(struct ranking_walk *w, const struct history_suggestion *s)
{
    struct ranking_trial *t = find(w, s->id);

    if (t == NULL)
        t = add(w, s->id);
    if (t == NULL)
        return -1;
    free(t->parameters);
    t->parameters = strdup(s->parameters);
    return t->parameters == NULL ? -1 : 0;
}

static bool
is_better(const struct ranking *out, const struct ranking_trial *a,
          const struct ranking_trial *b)
{
    if (isnan(a->final) || b == NULL)
        return !isnan(a->final);
    return out->maximize ? a->final > b->final : a->final < b->final;
}

/* Keeps the trial's first final result.  The history gives those that count;
 * the tuner was also told a result of another job, or behind the trial's end,
 * and tell_command() adds that.  -1: out of memory. */
static int
note_final(struct ranking_walk *w, struct ranking_trial *t, const char *job,
           double value)
{
    struct ranking *out = w->out;
    const struct ranking_trial *best;

    if (t->has_final)
        return 0;
    t->has_final = true;
    t->final = value;
    t->job = strdup(job);
    best = w->best == 0 ? NULL : &out->trials[w->best - 1];
    if (is_better(out, t, best))
        w->best = (size_t)(t - out->trials) + 1;
    return t->job == NULL ? -1 : 0;
}

static int
add_result(struct ranking_walk *w, const struct history_fact *f)
{
    const char *id = f->trial == NULL ? NULL : f->trial->suggested.id;
    struct ranking_trial *t = id == NULL ? NULL : find(w, id);

    if (!f->metric.final || f->metric.n_values == 0 ||
        f->metric.standing != HISTORY_COUNTS || t == NULL)
        return 0;
    return note_final(w, t, f->job, f->metric.values[0].value);
}

/* All trials, their parameters and results, and which result is the best. */
static int
collect(struct ranking_walk *w, struct err *err)
{
    struct history_reader *h = history_open_log(w->setup->path, err);
    uint64_t until = w->setup->until;
    struct history_fact f;
    int rc = h == NULL ? -1 : 0;

    while (rc == 0 && (rc = history_next(h, &f, err)) == 1) {
        bool wanted = until == 0 || f.record->number <= until;

        rc = 0;
        if (wanted && f.kind == HISTORY_SUGGESTED)
            rc = add_suggestion(w, f.suggestion);
        if (wanted && f.kind == HISTORY_REPORTED && w->objectives == NULL)
            rc = add_result(w, &f);
        if (rc != 0)
            no_memory(err);
    }
    history_close(h);
    return rc;
}

/* ---- the space ---- */

/* A prior with a huge sigma may give what is no point of the space: then it is
 * drawn once more. */
static void
sample(const struct space *space, uint64_t seed, uint64_t draw, double *x)
{
    for (int i = 0; i < REDRAWS; i++) {
        space_sample(space, seed, draw + (uint64_t)i * RANKING_SAMPLES, x);
        if (space_check(space, x, NULL) == 0)
            return;
    }
}

/* Room for points of the space, and the samples of its prior. */
static int
make_room(struct ranking_walk *w, const struct space *space, struct err *err)
{
    size_t n = space_dims(space)->n_dims;
    double *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y);
    double *samples = calloc(RANKING_SAMPLES * n + 1, sizeof *samples);

    free(w->x);
    free(w->y);
    free(w->samples);
    w->x = x;
    w->y = y;
    w->samples = samples;
    if (x == NULL || y == NULL || samples == NULL)
        return no_memory(err);
    for (size_t i = 0; i < RANKING_SAMPLES; i++) {
        w->points[i] = samples + i * n;
        sample(space, w->seed, DRAW_BASE + i, samples + i * n);
    }
    return 0;
}

/* A space that was refused when it was recorded is passed over. */
static int
take_space(struct ranking_walk *w, const struct command *cmd, struct err *err)
{
    struct problems problems;
    struct space *space;

    if ((cmd->code == CMD_INITIALIZE) == (w->space != NULL))
        return 0;
    problems_init(&problems);
    space = space_parse(json_root(cmd->space), &problems);
    problems_fini(&problems);
    if (space == NULL)
        return 0;
    if (tuner_plugin(w->tuner)->tuner.flags & TP_TUNER_WHOLE)
        space_make_whole(space, NULL);
    if (make_room(w, space, err) != 0 ||
        tuner_space(w->tuner, space, err) != 0) {
        space_free(space);
        return -1;
    }
    space_free(w->space);
    w->space = space;
    return 0;
}

/* ---- ranks ---- */

static int
encode(struct ranking_walk *w, const struct ranking_trial *t, double *x)
{
    struct json *doc =
        json_parse(t->parameters, strlen(t->parameters), JSON_NAN, NULL);
    int rc = doc == NULL ? -1 : space_encode(w->space, json_root(doc), x, NULL);

    json_free(doc);
    return rc == 0 ? space_check(w->space, x, NULL) : -1;
}

static double
rank_of(const double *scores, double score)
{
    size_t n = 0;
    double below = 0;

    for (size_t i = 0; i < RANKING_SAMPLES; i++) {
        n += !isnan(scores[i]);
        below += scores[i] < score ? 1 : scores[i] == score ? 0.5 : 0;
    }
    return n == 0 || isnan(score) ? NAN : below / (double)n;
}

static int
rank(struct ranking_walk *w, const double *x, double *out, struct err *err)
{
    w->points[RANKING_SAMPLES] = x;
    if (tuner_score(w->tuner, w->points, RANKING_SAMPLES + 1, w->scores, err) !=
        0)
        return -1;
    *out = rank_of(w->scores, w->scores[RANKING_SAMPLES]);
    return 0;
}

/* From when on the best trial would have been preferred, up to its result. */
static int
follow_best(struct ranking_walk *w, struct err *err)
{
    struct ranking *out = w->out;
    double rank_now;

    if (w->best == 0 || w->best_is_told ||
        encode(w, &out->trials[w->best - 1], w->y) != 0)
        return 0;
    if (rank(w, w->y, &rank_now, err) != 0)
        return -1;
    if (!(rank_now >= RANKING_TOP))
        out->preferred = false;
    else if (!out->preferred) {
        out->preferred = true;
        out->since = out->told;
    }
    return 0;
}

/* ---- results ---- */

static int
suggest(struct ranking_walk *w, struct ranking_trial *t, struct err *err)
{
    struct buf text;
    char *label;
    int rc = tuner_ask(w->tuner, w->asked++, w->y, &label, err);

    free(label);
    if (rc < 0)
        return -1;
    if (rc != TP_OK)
        return 0;
    buf_init(&text, SIZE_MAX / 2);
    space_decode(w->space, w->y, &text);
    t->own = buf_take(&text);
    buf_fini(&text);
    if (t->own == NULL)
        return no_memory(err);
    /* The suggestion is never run. */
    return tuner_ended(w->tuner, w->asked - 1, w->y, TP_ENDED_CANCELLED, err);
}

/* Tells an imported result; values may be NULL. */
static int
tell(struct ranking_walk *w, const double *x, double value,
     const double *values, double violation, struct err *err)
{
    struct tp_result result = {._struct_size = sizeof result,
                               .how = TP_RESULT_IMPORTED,
                               .value = value};

    if (w->objectives != NULL) {
        result.values = values;
        result.n_values = w->objectives->n;
        result.violation = violation;
    }
    return tuner_tell(w->tuner, TP_NO_ID, x, &result, err);
}

static int
take_result(struct ranking_walk *w, struct ranking_trial *t, struct err *err)
{
    struct ranking *out = w->out;
    bool is_best = w->best == (size_t)(t - out->trials) + 1;
    int rc;

    t->known = out->told;
    t->unfit =
        w->space == NULL || t->parameters == NULL || encode(w, t, w->x) != 0;
    out->unfit += t->unfit;
    if (t->unfit)
        return 0;
    if (out->can_rank)
        rc = rank(w, w->x, &t->rank, err) != 0 ? -1 : follow_best(w, err);
    else
        rc = suggest(w, t, err);
    if (rc != 0)
        return -1;
    w->best_is_told = w->best_is_told || is_best;
    out->told++;
    return tell(w, w->x, t->final, t->values, t->violation, err);
}

/* The value of an imported result; false: it has none. */
static bool
read_import(const struct ranking_walk *w, struct jval v, double *value,
            struct objective_values *values)
{
    const char *problem;

    if (w->objectives == NULL)
        return metric_read_value(v, value, &problem);
    return objectives_take(w->objectives, v, values, NULL) == 0;
}

/* Imported results as the tuner's side takes them; those that it refused are
 * passed over. */
static int
take_import(struct ranking_walk *w, const struct command *cmd, struct err *err)
{
    struct jval list = json_root(cmd->document), parameters, v;
    struct objective_values values = {0};
    double value = NAN;

    for (size_t i = 0; w->space != NULL && i < jval_count(list); i++) {
        struct jval entry = jval_at(list, i);

        if (!jval_get(entry, "parameter", &parameters) ||
            !jval_get(entry, "value", &v) ||
            !read_import(w, v, &value, &values) ||
            space_encode(w->space, parameters, w->x, NULL) != 0)
            continue;
        if (tell(w, w->x, value, values.values, values.violation, err) != 0)
            return -1;
        w->out->imported++;
    }
    return 0;
}

/* ---- what the tuner is told ---- */

/* Keeps the first result of a trial, of several values. */
static int
collect_values(struct ranking_trial *t, const struct metric *m, size_t n,
               struct err *err)
{
    if (t->has_final)
        return 0;
    t->has_final = true;
    memcpy(t->values, m->values, n * sizeof *t->values);
    t->violation = m->violation;
    t->final = m->value;
    t->job = strdup(m->job);
    return t->job == NULL ? no_memory(err) : 0;
}

static bool
is_final(const struct command *cmd)
{
    return cmd->code == CMD_METRIC && cmd->metric.type == METRIC_FINAL &&
           cmd->metric.has_value;
}

static int
tell_command(struct ranking_walk *w, const struct command *cmd, struct err *err)
{
    struct ranking_trial *t;
    char *key;

    if (w->collects && !is_final(cmd))
        return 0;
    w->restarted = w->restarted ||
                   (w->nni && cmd->code == CMD_INITIALIZE && w->space != NULL);
    if (cmd->code == CMD_IMPORT && w->restarted) {
        w->restarted = false;
        return 0;
    }
    if (cmd->code == CMD_INITIALIZE || cmd->code == CMD_UPDATE_SPACE)
        return take_space(w, cmd, err);
    if (cmd->code == CMD_IMPORT)
        return take_import(w, cmd, err);
    if (!is_final(cmd))
        return 0;
    key = script_parameter_key(&cmd->metric.parameter);
    t = key == NULL ? NULL : find(w, key);
    free(key);
    if (t == NULL || t->order != 0)
        return 0;
    if (w->collects)
        return collect_values(t, &cmd->metric, w->objectives->n, err);
    if (note_final(w, t, cmd->metric.job, cmd->metric.value) != 0)
        return no_memory(err);
    t->order = ++w->n_results;
    return take_result(w, t, err);
}

/* ---- walking ---- */

static int
take_chain(struct ranking_walk *w, struct chain *chain, struct err *err)
{
    struct command *cmd;
    int rc = 0;

    while ((cmd = chain_take(chain)) != NULL) {
        rc = rc != 0 ? rc : tell_command(w, cmd, err);
        command_free(cmd);
    }
    return rc;
}

static int
take_in(struct ranking_walk *w, const struct record *r, struct err *err)
{
    struct routed routed = {0};
    struct frame frame = {.payload = r->payload + 2, .len = r->len - 2};

    memcpy(frame.code, r->payload, 2);
    if (router_frame(w->router, &frame, r->number, &routed) == ROUTER_MEMORY)
        return no_memory(err);
    chain_clear(&routed.assessor);
    return take_chain(w, &routed.by_default, err);
}

static int
take_out(struct ranking_walk *w, const struct record *r, struct err *err)
{
    struct emission e;
    struct ranking_trial *t;
    char *key;

    if (emission_of_record(r, &e, &w->text) != 0)
        return w->text.failed ? no_memory(err) : 0;
    router_written(w->router, &e);
    if (e.code != CMD_NEW_TRIAL || e.parameter.kind == PARAMETER_NONE)
        return 0;
    key = script_parameter_key(&e.parameter);
    if (key == NULL)
        return no_memory(err);
    t = find(w, key);
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

    router_free(w->router);
    w->router = router_new(&w->silent, err);
    if (w->router == NULL)
        return -1;
    if (w->objectives != NULL)
        router_judge(w->router, w->objectives);
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

/* The results of several values, and which is the best by what is made of them
 * over the ranges of all. */
static int
walk_for_values(struct ranking_walk *w, struct err *err)
{
    struct ranking *out = w->out;
    struct scalar s;
    int rc;

    if (w->objectives == NULL)
        return 0;
    w->collects = true;
    rc = walk(w, err);
    w->collects = false;
    scalar_init(&s, w->objectives);
    for (int pass = 0; out->scalarized != NULL && pass < 2; pass++)
        for (size_t i = 0; i < out->n; i++)
            if (out->trials[i].has_final)
                out->trials[i].final = scalar_take(&s, out->trials[i].values,
                                                   out->trials[i].violation);
    for (size_t i = 0; i < out->n; i++)
        if (out->trials[i].has_final &&
            is_better(out, &out->trials[i],
                      w->best == 0 ? NULL : &out->trials[w->best - 1]))
            w->best = i + 1;
    return rc;
}

/* ---- start and end ---- */

static int
take_objectives(struct ranking_walk *w, struct session_setup *session,
                struct err *err)
{
    if (jval_type(session->objectives) == JSON_NULL)
        return 0;
    w->objectives = objectives_from(session->objectives, err);
    if (w->objectives == NULL ||
        policy_set_objectives(&session->policy, w->objectives, NULL, err) != 0)
        return err_place(err, "head record: objectives");
    if (policy_scalarizes(&session->policy))
        w->out->scalarized = scalarize_name(w->objectives->how);
    return 0;
}

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
    if (take_objectives(w, &session, err) != 0)
        return -1;
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
    if (w->tuner == NULL ||
        (w->objectives != NULL &&
         tuner_objectives(w->tuner, w->objectives, w->setup->log, err) != 0))
        return -1;
    buf_init(&text, DESCRIBED_MAX);
    tuner_describe(w->tuner, &text);
    w->out->tuner =
        whatif_description(&text, w->out->maximize, &w->out->against);
    if (w->out->tuner == NULL)
        return no_memory(err);
    w->out->can_rank = tuner_plugin(w->tuner)->tuner.score != NULL;
    return 0;
}

static void
end(struct ranking_walk *w)
{
    tuner_free(w->tuner);
    space_free(w->space);
    router_free(w->router);
    objectives_free(w->objectives);
    json_free(w->head);
    log_close(w->file);
    buf_fini(&w->text);
    map_fini(&w->ids);
    free(w->x);
    free(w->y);
    free(w->samples);
}

/* By result; trials without a result behind, as they were given out. */
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
    if (begin(&w, err) == 0 && collect(&w, err) == 0 &&
        walk_for_values(&w, err) == 0 && walk(&w, err) == 0) {
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
