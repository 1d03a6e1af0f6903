/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/idset.h"
#include "core/number.h"
#include "history/folder.h"
#include "history/history.h"
#include "json.h"
#include "log/record.h"
#include "manager/parameters.h"
#include "manager/results.h"
#include "numerics/elementary.h"
#include "objectives/objectives.h"
#include "pack/packs.h"
#include "trial/files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct axes {
    struct map by_name; /* owned struct axis */
};

static int axes_load(struct axes *a, const char *folder, struct err *err);
static void axes_fini(struct axes *a);
static const struct axis *axes_find(const struct axes *a, const char *name);

/* A report while its folder is read. */
struct reading {
    struct report *report;
    const char *folder;
    struct report_want want;
    struct idset ended, kept; /* where not all trials are shown: those that have
                                 ended, and those that are shown in any case */
    uint64_t bytes;           /* that all of them would take, about */
    struct result best;       /* so far */
    bool failed;              /* out of memory */
    struct map trials;        /* trial_job_id -> its index, from 1 */
    struct map devices;       /* device -> its index, from 1 */
};

/* What the search space says of a parameter, under the name that a trial's
 * parameters have when they are flattened. */
struct axis {
    enum report_scale scale;
    double low, high;       /* NAN: it has no bounds */
    struct columns choices; /* as texts */
};

static int reading_parameters(struct reading *r, struct err *err);
static int reading_metrics(struct reading *r, struct err *err);
static int reading_importance(struct reading *r, struct err *err);

#define PART_MAX ((size_t)64 << 20)

static int
out_of_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

/* ---- trials ---- */

/* Of trials that are no numbers none is left out. */
static bool
is_shown(const struct reading *r, const char *id)
{
    const struct report *to = r->report;
    uint64_t number;

    if ((to->page == 0 && to->every == 0) ||
        !number_parse_u64(id, strlen(id), &number) ||
        number > RESULTS_TRIAL_MAX || idset_has(&r->kept, number) ||
        !idset_has(&r->ended, number))
        return true;
    return to->page > 0 ? number / REPORT_PAGE == to->page - 1
                        : number % to->every == 0;
}

/* What a trial takes of a page beside its parameters, of which the names stand
 * there once, and what its intermediate metrics add. */
#define TRIAL_BYTES 165
#define CURVE_BYTES 60

static bool
note_ended(void *ctx, const struct result *item)
{
    struct reading *r = ctx;
    uint64_t number;
    double value;

    r->bytes += TRIAL_BYTES + strlen(item->parameters) / 2 +
                (item->intermediates > 0 ? CURVE_BYTES : 0);
    if (!number_parse_u64(item->trial, strlen(item->trial), &number) ||
        number > RESULTS_TRIAL_MAX)
        return true;
    if (idset_add(&r->ended, number) != 0)
        return false;
    if (number / REPORT_PAGE >= r->report->pages)
        r->report->pages = number / REPORT_PAGE + 1;
    if (r->report->results->objectives != NULL)
        return true; /* the front is kept */
    if (!results_value(item, &value) ||
        (r->best.texts != NULL &&
         !results_is_better(r->report->results, item, &r->best)))
        return true;
    result_fini(&r->best);
    return result_copy(&r->best, item) == 0 && idset_add(&r->kept, number) == 0;
}

/* Keeps the best trials, with objectives all of the front. */
static int
keep_best(struct reading *r)
{
    const struct results *results = r->report->results;
    size_t most = results->front.n + RESULTS_BEST, n;
    const struct result **best = calloc(most, sizeof *best);
    uint64_t number;
    int rc = best == NULL ? -1 : 0;

    n = rc == 0 ? results_ranked(results, best, most) : 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (number_parse_u64(best[i]->trial, strlen(best[i]->trial), &number) &&
            number <= RESULTS_TRIAL_MAX)
            rc = idset_add(&r->kept, number);
    free(best);
    return rc;
}

/* Chooses the trials that are shown. */
static int
choose(struct reading *r, struct err *err)
{
    struct report *to = r->report;

    if (r->want.page == 0 && r->want.all)
        return 0;
    if (results_walk(to->results, note_ended, r, err) != 0)
        return -1;
    if (r->want.page == 0 && r->bytes <= REPORT_BYTES)
        return 0;
    if (keep_best(r) != 0)
        return out_of_memory(err);
    if (r->want.page > to->pages)
        return err_set(err, ERR_USAGE,
                       "--page: there are %" PRIu64 " of %d trials each, not "
                       "%" PRIu64,
                       to->pages, REPORT_PAGE, r->want.page);
    to->page = r->want.page;
    if (to->page == 0)
        to->every = (r->bytes + REPORT_BYTES / 4) / (REPORT_BYTES / 2);
    return 0;
}

static struct report_trial *
append_trial(struct report *r, const char *id)
{
    if (GROW(r->trials, r->n_trials, r->cap_trials) != 0)
        return NULL;
    r->trials[r->n_trials] = (struct report_trial){
        .id = strdup(id),
        .from = REPORT_NONE,
        .budget = (double)NAN,
        .duration_s = (double)NAN,
        .queued_s = (double)NAN,
    };
    return r->trials[r->n_trials].id == NULL ? NULL : &r->trials[r->n_trials++];
}

/* The trial with this id, added where it is new; NULL: out of memory.  Valid
 * until the next one is added. */
static struct report_trial *
find_trial(struct reading *r, const char *id)
{
    uintptr_t i = (uintptr_t)map_get(&r->trials, id, strlen(id));
    struct report_trial *t;

    if (i != 0)
        return &r->report->trials[i - 1];
    t = append_trial(r->report, id);
    if (t == NULL || map_put(&r->trials, id, strlen(id),
                             (void *)(uintptr_t)r->report->n_trials) != 0)
        return NULL;
    return t;
}

static void
trial_fini(struct report_trial *t)
{
    free(t->id);
    free(t->parameter_id);
    free(t->status);
    free(t->why);
    free(t->place);
    free(t->ended_by);
    free(t->parameters);
    free(t->from_id);
    free(t->said);
    curve_fini(&t->curve);
}

/* ---- what the log tells ---- */

/* The name in the head's {"tuner": {"name": ...}} or {"tuner": "..."}. */
static char *
plugin_name(struct jval head, const char *key)
{
    const char *name;
    struct jval v;

    if (!jval_get(head, key, &v))
        return NULL;
    if (jval_type(v) == JSON_OBJECT && !jval_get(v, "name", &v))
        return NULL;
    return jval_string(v, &name, NULL) ? strdup(name) : NULL;
}

static void
add_head(struct report *r, const struct record *record)
{
    struct json *doc =
        json_parse(record->payload, record->len, JSON_STRICT, NULL);

    if (doc != NULL && r->tuner == NULL) {
        r->tuner = plugin_name(json_root(doc), "tuner");
        r->assessor = plugin_name(json_root(doc), "assessor");
    }
    json_free(doc);
}

/* Notes what was suggested for a trial; of one that the user added its files
 * tell. */
static int
add_suggestion(struct report_trial *to, const struct history_suggestion *s)
{
    if (to->parameter_id != NULL || s->id == NULL)
        return 0;
    to->parameter_id = strdup(s->id);
    to->cloned = s->cloned;
    if (s->parameters != NULL)
        to->parameters = strdup(s->parameters);
    if (s->from != NULL)
        to->from_id = strdup(s->from);
    return to->parameter_id != NULL &&
                   (s->parameters == NULL || to->parameters != NULL) &&
                   (s->from == NULL || to->from_id != NULL)
               ? 0
               : -1;
}

static size_t
device_of(struct reading *r, const char *name)
{
    struct columns *all = &r->report->devices;
    uintptr_t i;

    if (name[0] == '\0')
        return REPORT_NONE;
    i = (uintptr_t)map_get(&r->devices, name, strlen(name));
    if (i != 0)
        return i - 1;
    if (columns_add(all, name, NULL) != 0 ||
        map_put(&r->devices, name, strlen(name), (void *)(uintptr_t)all->n) !=
            0)
        return REPORT_NONE;
    return all->n - 1;
}

/* NULL: the trial has no such attempt. */
static struct report_attempt *
find_attempt(const struct report *r, const struct report_trial *t,
             uint64_t number)
{
    for (size_t i = t->attempt; i > 0; i = r->attempts[i - 1].before)
        if (r->attempts[i - 1].number == number)
            return &r->attempts[i - 1];
    return NULL;
}

static struct report_attempt *
append_attempt(struct report *r, struct report_trial *t, uint64_t number)
{
    struct report_attempt *a;

    if (GROW(r->attempts, r->n_attempts, r->cap_attempts) != 0)
        return NULL;
    a = &r->attempts[r->n_attempts++];
    *a = (struct report_attempt){.trial = (size_t)(t - r->trials),
                                 .before = t->attempt,
                                 .number = number};
    t->attempt = r->n_attempts;
    return a;
}

/* Adds an attempt, or notes its devices, which are granted, or granted anew,
 * when its run starts. */
static int
add_attempt(struct reading *r, struct report_trial *to,
            const struct history_fact *f)
{
    struct report_attempt *a = find_attempt(r->report, to, f->attempt.number);

    if (a == NULL) {
        a = append_attempt(r->report, to, f->attempt.number);
        if (a == NULL)
            return -1;
        a->from_us = f->attempt.begun_us;
    }
    a->device = device_of(r, jval_text_of(f->object, "device"));
    if (to->started_us == 0)
        to->started_us = a->from_us;
    return 0;
}

static void
add_exit(struct report *r, struct report_trial *to,
         const struct history_fact *f)
{
    struct report_attempt *a = find_attempt(r, to, f->attempt.number);

    if (a == NULL)
        return;
    a->to_us = f->time_us;
    if (!f->dated)
        return;
    if (to->started_us == a->from_us)
        to->started_us = f->attempt.begun_us;
    a->from_us = f->attempt.begun_us;
}

static int
add_metric(struct report_trial *to, const struct history_fact *f)
{
    const struct history_metric *m = &f->metric;
    double value = m->n_values > 0 ? m->values[0].value : (double)NAN;
    char *said;

    if (m->standing != HISTORY_COUNTS || (m->final && m->sequence > 0))
        return 0;
    said = history_said(f);
    if (said != NULL && said[0] == '{') {
        free(to->said);
        to->said = said;
    } else {
        free(said);
    }
    if (m->final)
        return 0;
    return curve_add(&to->curve, m->base + m->sequence, value);
}

static int
add_gap(struct report *r, const struct history_fact *f)
{
    if (grow_to(&r->gaps, r->n_gaps + 1, sizeof *r->gaps) != 0)
        return -1;
    r->gaps[r->n_gaps++] = (struct report_gap){f->gone_us, f->time_us};
    return 0;
}

static int
add_fact(struct reading *r, const struct history_fact *f)
{
    struct report_trial *to;
    int rc = 0;

    if (f->kind == HISTORY_RECORD && f->record->kind == RECORD_HEAD)
        add_head(r->report, f->record);
    if (f->kind == HISTORY_RESUMED)
        return add_gap(r->report, f);
    if (f->trial == NULL ||
        (f->kind == HISTORY_NOTE && f->trial->attempts == 0) ||
        !is_shown(r, f->job))
        return 0;
    to = find_trial(r, f->job);
    if (to == NULL)
        return -1;
    if (f->kind == HISTORY_BEGUN)
        rc = add_attempt(r, to, f);
    if (f->kind == HISTORY_REPORTED)
        rc = add_metric(to, f);
    if (f->kind == HISTORY_EXITED)
        add_exit(r->report, to, f);
    if (f->kind == HISTORY_ENDED)
        to->ended_us = f->time_us;
    to->attempts = f->trial->attempts;
    to->reports = f->trial->reports;
    to->base = f->trial->base;
    to->has_latest = f->trial->has_latest;
    to->latest = f->trial->latest;
    return rc != 0 ? rc : add_suggestion(to, &f->trial->suggested);
}

static int
read_history(struct reading *r, struct err *err)
{
    struct history_reader *h = history_open(r->folder, err);
    bool runs = r->report->results->state == RESULTS_RUNNING;
    struct history_fact fact;
    int rc = h == NULL ? -1 : 0;

    while (rc == 0 && (rc = history_next(h, &fact, err)) == 1)
        rc = add_fact(r, &fact) != 0 ? out_of_memory(err) : 0;
    while (rc == 0 && !runs && history_settle(h, &fact) == 1)
        rc = add_fact(r, &fact) != 0 ? out_of_memory(err) : 0;
    r->report->lacks = h != NULL && history_lacks(h);
    history_close(h);
    return rc;
}

/* ---- how they ended ---- */

/* Makes *to a copy of the text. */
static int
set_text(char **to, const char *text)
{
    free(*to);
    *to = strdup(text);
    return *to == NULL ? -1 : 0;
}

static bool
add_result(void *ctx, const struct result *item)
{
    struct reading *r = ctx;
    struct report_trial *t;

    if (!is_shown(r, item->trial)) {
        r->report->left_out++;
        return true;
    }
    t = find_trial(r, item->trial);
    r->failed = true;
    if (t == NULL || set_text(&t->status, item->status) != 0 ||
        set_text(&t->why, item->why) != 0 ||
        set_text(&t->ended_by, item->ended_by) != 0 ||
        (item->place[0] != '\0' && set_text(&t->place, item->place) != 0) ||
        set_text(&t->parameter_id, item->parameter_id) != 0 ||
        set_text(&t->parameters, item->parameters) != 0 ||
        (t->said == NULL && strcmp(item->values, "null") != 0 &&
         set_text(&t->said, item->values) != 0))
        return false;
    r->failed = false;
    t->has_value = results_final(item, &t->value);
    t->has_latest = item->has_latest;
    t->latest = item->latest;
    t->counts = results_counts(item);
    t->duration_s = item->duration_s;
    if (item->place[0] != '\0') {
        r->report->elsewhere = true;
        t->queued_s = item->queued_s;
    }
    t->reports = item->intermediates;
    return true;
}

static int
add_results(struct reading *r, struct err *err)
{
    int rc = results_walk(r->report->results, add_result, r, err);

    return rc == 0 && r->failed ? out_of_memory(err) : rc;
}

/* ---- those that have not ended ---- */

/* Reads FOLDER/trials/ID/parameters.json, for a trial whose parameters the log
 * does not tell. */
static char *
read_parameters(const char *folder, const char *id, struct packs *k)
{
    char *trials = file_join(folder, FOLDER_TRIALS), *trial, *path;
    struct buf text;
    char *all = NULL;

    trial = trials == NULL ? NULL : file_join(trials, id);
    path = trial == NULL ? NULL : file_join(trial, TRIAL_PARAMETERS_JSON);
    buf_init(&text, 2 * PART_MAX);
    if (path != NULL && packs_read(k, path, PART_MAX, &text, NULL) == 0)
        all = buf_take(&text);
    buf_fini(&text);
    free(path);
    free(trial);
    free(trials);
    return all;
}

static int
complete(struct reading *r, struct err *err)
{
    struct report *all = r->report;
    struct packs *k = packs_new();
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < all->n_trials; i++) {
        struct report_trial *t = &all->trials[i];
        const char *from = t->from_id;
        uintptr_t at;

        if (t->status == NULL && set_text(&t->status, "running") != 0)
            rc = out_of_memory(err);
        if (t->parameters == NULL)
            t->parameters = read_parameters(r->folder, t->id, k);
        at = from == NULL ? 0
                          : (uintptr_t)map_get(&r->trials, from, strlen(from));
        t->from = at == 0 || at - 1 == i ? REPORT_NONE : at - 1;
    }
    packs_free(k);
    return rc;
}

/* ---- the experiment ---- */

static struct json *
read_part(const char *folder, const char *name, struct err *err)
{
    char *path = file_join(folder, name);
    struct json *doc = NULL;
    struct buf text;

    buf_init(&text, 2 * PART_MAX);
    if (path == NULL)
        out_of_memory(err);
    else if (file_read(path, PART_MAX, &text, err) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, err);
    buf_fini(&text);
    free(path);
    return doc;
}

static int
read_experiment(struct reading *r, struct err *err)
{
    struct json *doc = read_part(r->folder, FOLDER_EXPERIMENT, err);
    int64_t began_ns = 0;
    struct jval v;

    if (doc == NULL)
        return err_place(err, "%s", r->folder);
    r->report->name = strdup(jval_text_of(json_root(doc), "name"));
    if (jval_get(json_root(doc), "concurrency", &v))
        jval_uint(v, &r->report->concurrency);
    if (jval_get(json_root(doc), "started_ns", &v))
        jval_int(v, &began_ns);
    r->report->began_us = began_ns / 1000;
    r->report->read_us = clock_realtime_ns() / 1000;
    json_free(doc);
    return r->report->name == NULL ? out_of_memory(err) : 0;
}

/* ---- the hypervolume over the results ---- */

struct growing {
    const struct objectives *of;
    struct pareto front;
    struct grown { /* what made it grow, */
        struct objective_values v;
        double budget;
        uint64_t seen; /* and behind how many results */
    } * items;
    size_t n, cap;
    bool failed; /* out of memory */
};

static bool
grow_volume(void *ctx, const struct result *item)
{
    struct growing *g = ctx;
    struct objective_values v;
    uint64_t grew = g->front.grew;
    double value;

    if (!results_value(item, &value) || !results_values(g->of, item, &v))
        return true;
    if (!pareto_add(&g->front, item->trial, item->budget, &v, NULL) ||
        g->front.grew == grew)
        return true;
    if (GROW(g->items, g->n, g->cap) != 0) {
        g->failed = true;
        return false;
    }
    g->items[g->n++] = (struct grown){v, item->budget, g->front.seen};
    return true;
}

/* How often it is worked out: with many objectives that takes long. */
static size_t
growths_max(const struct objectives *of)
{
    return of->n <= 2 ? 1000 : of->n == 3 ? 200 : of->n <= 5 ? 40 : 10;
}

/* The trials of lesser budgets than the greatest count as long as there is no
 * greater one, as in pareto_add(): then it begins anew. */
static int
read_growth(struct reading *r, struct err *err)
{
    struct report *to = r->report;
    const struct objectives *of = to->results->objectives;
    struct growing g = {.of = of, .front = {.of = of}};
    struct pareto front = {.of = of};
    size_t every;
    int rc;

    if (of == NULL || !pareto_has_references(of))
        return 0;
    rc = results_walk(to->results, grow_volume, &g, err);
    every = g.n / growths_max(of) + 1;
    to->results_seen = g.front.seen;
    to->growth = calloc(g.n / every + 2, sizeof *to->growth);
    if (rc == 0 && (g.failed || to->growth == NULL))
        rc = out_of_memory(err);
    for (size_t i = 0; rc == 0 && i < g.n; i++) {
        pareto_add(&front, "", g.items[i].budget, &g.items[i].v, NULL);
        if (i % every == 0 || i + 1 == g.n)
            to->growth[to->n_growth++] = (struct report_growth){
                g.items[i].seen, pareto_hypervolume(&front)};
    }
    pareto_fini(&front);
    pareto_fini(&g.front);
    free(g.items);
    return rc;
}

static int
read_all(struct reading *r, struct err *err)
{
    r->report->results = results_load(r->folder, RESULTS_COUNTS, err);
    if (r->report->results == NULL) {
        err->code = ERR_CONFIG;
        return -1;
    }
    if (read_experiment(r, err) != 0 || choose(r, err) != 0 ||
        read_history(r, err) != 0 || add_results(r, err) != 0 ||
        complete(r, err) != 0 || reading_parameters(r, err) != 0 ||
        reading_metrics(r, err) != 0 || read_growth(r, err) != 0)
        return -1;
    return reading_importance(r, err);
}

struct report *
report_load(const char *folder, struct report_want want, struct err *err)
{
    struct reading r = {
        .report = calloc(1, sizeof *r.report), .folder = folder, .want = want};
    int rc = r.report == NULL ? out_of_memory(err) : read_all(&r, err);

    map_fini(&r.trials);
    map_fini(&r.devices);
    idset_fini(&r.ended);
    idset_fini(&r.kept);
    result_fini(&r.best);
    if (rc == 0)
        return r.report;
    report_free(r.report);
    return NULL;
}

void
report_free(struct report *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->n_trials; i++)
        trial_fini(&r->trials[i]);
    for (size_t i = 0; i < r->n_parameters; i++) {
        free(r->parameters[i].name);
        columns_fini(&r->parameters[i].values);
        free(r->parameters[i].cells);
    }
    for (size_t i = 0; i < r->n_metrics; i++) {
        free(r->metrics[i].name);
        free(r->metrics[i].cells);
    }
    free(r->metrics);
    free(r->growth);
    free(r->importances);
    columns_fini(&r->devices);
    results_free(r->results);
    free(r->trials);
    free(r->attempts);
    free(r->gaps);
    free(r->parameters);
    free(r->importance);
    free(r->name);
    free(r->tuner);
    free(r->assessor);
    free(r);
}

/* ---- which parameters mattered ---- */

/* Results with different budgets are not compared: those of the greatest
 * budget that so many trials have count, as in BOHB (Falkner 2018). */
#define ENOUGH 20

struct ranked {
    double reached; /* how many steps it got: the further the better; INFINITY:
                       to its end */
    double value;   /* the less the better */
    size_t trial;
};

static int
compare(const void *va, const void *vb)
{
    const struct ranked *a = va, *b = vb;

    if (a->reached != b->reached)
        return a->reached > b->reached ? -1 : 1;
    if (a->value != b->value && !isnan(a->value) && !isnan(b->value))
        return a->value < b->value ? -1 : 1;
    if (isnan(a->value) != isnan(b->value))
        return isnan(a->value) ? 1 : -1;
    return (a->trial > b->trial) - (a->trial < b->trial);
}

static bool
is(const struct report_trial *t, const char *status)
{
    return strcmp(t->status, status) == 0;
}

/* The result of a trial for the ranking.  One that was paused at its budget has
 * its latest value as a result; one that was stopped ranks behind all that were
 * not. */
static bool
result_of(const struct report_trial *t, struct ranked *out)
{
    double reached = (double)(t->base + t->reports);
    bool there = is(t, "paused") && reached >= t->budget;

    out->value = t->counts ? t->value : t->latest;
    out->reached = t->counts || there ? INFINITY : reached;
    return t->counts || (t->has_latest && (there || is(t, "stopped")));
}

/* Whether budgets are the same, NAN the same as NAN. */
static bool
same_budget(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static size_t
count_at(const struct report *r, double budget)
{
    struct ranked result;
    size_t n = 0;

    for (size_t i = 0; i < r->n_trials; i++)
        n += same_budget(r->trials[i].budget, budget) &&
             result_of(&r->trials[i], &result);
    return n;
}

/* The greatest budget that is less than `below`; NAN: there is none. */
static double
budget_below(const struct report *r, double below)
{
    double best = (double)NAN;

    for (size_t i = 0; i < r->n_trials; i++) {
        double b = r->trials[i].budget;

        if (b < below && !(b <= best))
            best = b;
    }
    return best;
}

/* The greatest budget with enough results, else the one with the most. */
static double
choose_budget(const struct report *r)
{
    double best = budget_below(r, INFINITY);
    size_t most = 0;

    for (double b = best; !isnan(b); b = budget_below(r, b)) {
        size_t n = count_at(r, b);

        if (n >= ENOUGH)
            return b;
        if (n > most) {
            most = n;
            best = b;
        }
    }
    return best;
}

/* Ranks the trials with a result at that budget, best first; returns how
 * many. */
static size_t
rank_trials(const struct report *r, double budget, struct ranked *out)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_trials; i++) {
        const struct report_trial *t = &r->trials[i];

        if (!same_budget(t->budget, budget) || !result_of(t, &out[n]))
            continue;
        out[n].value *= r->results->minimize ? 1 : -1;
        out[n++].trial = i;
    }
    qsort(out, n, sizeof *out, compare);
    return n;
}

/* Collects the cells of the ranked trials, on the scale of their axis. */
static void
fill_cells(const struct report_parameter *p, const struct ranked *ranked,
           size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double cell = p->cells[ranked[i].trial];

        out[i] = p->scale == SCALE_LOG ? num_log(cell) : cell;
    }
}

/* Scores the parameters.  Texts, and parameters that were not searched, cannot
 * be scored: they have no values. */
static int
score_parameters(const struct report *r, const struct ranked *ranked, size_t n,
                 struct importance_score *out, struct err *err)
{
    struct importance_parameter *all = calloc(r->n_parameters + 1, sizeof *all);
    double *cells = calloc(r->n_parameters * n + 1, sizeof *cells);
    size_t *places = calloc(n + 1, sizeof *places);
    int rc = all == NULL || cells == NULL || places == NULL ? -1 : 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        places[i] = i;
    for (size_t i = 0; rc == 0 && i < r->n_parameters; i++) {
        const struct report_parameter *p = &r->parameters[i];
        bool judged = p->searched && p->scale != SCALE_TEXT;

        all[i] = (struct importance_parameter){
            &cells[i * n], p->scale == SCALE_CHOICE ? p->values.n : 0};
        fill_cells(p, ranked, n, &cells[i * n]);
        for (size_t j = 0; j < n && !judged; j++)
            cells[i * n + j] = (double)NAN;
    }
    if (rc == 0)
        rc = importance_scores(all, r->n_parameters, places, n, out);
    free(places);
    free(cells);
    free(all);
    return rc == 0 ? 0 : err_set(err, ERR_MEMORY, "out of memory");
}

/* Ranks the trials of rank_trials() by another objective, as far as they
 * reported it. */
static size_t
rank_by(const struct report *r, const struct objective *of, size_t n,
        const struct ranked *by_first, struct ranked *out)
{
    const struct report_metric *m = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < r->n_metrics; i++)
        if (strcmp(r->metrics[i].name, of->name) == 0)
            m = &r->metrics[i];
    for (size_t i = 0; i < n; i++) {
        size_t trial = by_first[i].trial;
        double value = strcmp(of->name, "default") == 0 ? r->trials[trial].value
                       : m != NULL                      ? m->cells[trial]
                                                        : (double)NAN;

        if (isnan(value))
            continue;
        out[kept] = by_first[i];
        out[kept++].value = of->maximize ? -value : value;
    }
    qsort(out, kept, sizeof *out, compare);
    return kept;
}

/* Finds out how much each parameter mattered for the objectives but the first.
 */
static int
score_objectives(struct report *r, const struct ranked *ranked, struct err *err)
{
    const struct objectives *of = r->results->objectives;
    struct ranked *by = calloc(r->n_trials + 1, sizeof *by);
    int rc = 0;

    if (of != NULL && of->n > 1)
        r->importances =
            calloc((of->n - 1) * r->n_parameters + 1, sizeof *r->importances);
    if (by == NULL || (of != NULL && of->n > 1 && r->importances == NULL))
        rc = out_of_memory(err);
    for (size_t i = 1; rc == 0 && of != NULL && i < of->n; i++) {
        size_t n = rank_by(r, &of->items[i], r->importance_trials, ranked, by);

        rc = score_parameters(r, by, n,
                              &r->importances[(i - 1) * r->n_parameters], err);
    }
    free(by);
    return rc;
}

/* Finds out how much each parameter mattered for the results. */
static int
reading_importance(struct reading *reading, struct err *err)
{
    struct report *r = reading->report;
    struct ranked *ranked = calloc(r->n_trials + 1, sizeof *ranked);
    int rc;

    r->importance = calloc(r->n_parameters + 1, sizeof *r->importance);
    if (ranked == NULL || r->importance == NULL) {
        free(ranked);
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    r->importance_budget = choose_budget(r);
    r->importance_trials = rank_trials(r, r->importance_budget, ranked);
    rc = score_parameters(r, ranked, r->importance_trials, r->importance, err);
    if (rc == 0)
        rc = score_objectives(r, ranked, err);
    free(ranked);
    return rc;
}

/* ---- parameters ---- */

/* DESIGN
 *
 * A parameter's column begins when the first trial has it.  It holds numbers
 * until a value comes that is none, or from the beginning texts where the
 * search space says it is a choice; texts are numbered as they come, behind
 * those that the search space names. */

#define BUDGET_NAME "TRIAL_BUDGET"
#define TEXT_MAX ((size_t)64 << 20)
#define CHOICES_MAX 100 /* different values that fit on an axis */

struct column {
    struct report_parameter p;
    struct map numbers; /* value -> its index, from 1 */
};

struct columning {
    struct report *report;
    struct axes axes;
    struct column **all; /* owned */
    size_t n, cap;
    struct map by_name;
    struct report_trial *trial; /* the trial whose parameters are added */
    struct buf text;
    bool failed; /* out of memory */
};

/* ---- values that are texts ---- */

/* The index of a text among the column's values; SIZE_MAX: out of memory. */
static size_t
number_of(struct column *c, const char *text)
{
    struct columns *values = &c->p.values;
    uintptr_t i = (uintptr_t)map_get(&c->numbers, text, strlen(text));

    if (i != 0)
        return i - 1;
    if (columns_add(values, text, NULL) != 0 ||
        map_put(&c->numbers, text, strlen(text),
                (void *)(uintptr_t)values->n) != 0)
        return SIZE_MAX;
    return values->n - 1;
}

static void
put_text(struct columning *k, struct column *c, size_t trial, const char *text)
{
    size_t i = number_of(c, text);

    if (i == SIZE_MAX)
        k->failed = true;
    else
        c->p.cells[trial] = (double)i;
}

/* Turns a column of numbers into one of texts, for a value that is no
 * number. */
static void
become_choice(struct columning *k, struct column *c)
{
    char text[NUMBER_TEXT_MAX];

    c->p.scale = SCALE_CHOICE;
    for (size_t i = 0; i < k->report->n_trials; i++)
        if (!isnan(c->p.cells[i])) {
            number_format(c->p.cells[i], text);
            put_text(k, c, i, text);
        }
}

/* ---- columns ---- */

static void
column_free(struct column *c)
{
    if (c == NULL)
        return;
    map_fini(&c->numbers);
    columns_fini(&c->p.values);
    free(c->p.name);
    free(c->p.cells);
    free(c);
}

static struct column *
column_new(struct columning *k, const char *name)
{
    const struct axis *axis = axes_find(&k->axes, name);
    size_t n = k->report->n_trials;
    struct column *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->p.name = strdup(name);
    c->p.cells = calloc(n, sizeof *c->p.cells);
    c->p.low = axis == NULL ? (double)NAN : axis->low;
    c->p.high = axis == NULL ? (double)NAN : axis->high;
    c->p.scale = axis == NULL ? SCALE_LINEAR : axis->scale;
    c->p.searched = axis != NULL;
    if (c->p.name == NULL || c->p.cells == NULL) {
        column_free(c);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        c->p.cells[i] = (double)NAN;
    for (size_t i = 0; axis != NULL && i < axis->choices.n; i++)
        if (number_of(c, axis->choices.names[i]) == SIZE_MAX)
            k->failed = true;
    return c;
}

static struct column *
add_column(struct columning *k, const char *name)
{
    struct column *c;

    if (GROW(k->all, k->n, k->cap) != 0)
        return NULL;
    c = column_new(k, name);
    if (c == NULL || map_put(&k->by_name, name, strlen(name), c) != 0) {
        column_free(c);
        return NULL;
    }
    return k->all[k->n++] = c;
}

static void
put_value(void *ctx, const char *name, struct jval value)
{
    struct columning *k = ctx;
    size_t trial = (size_t)(k->trial - k->report->trials);
    struct column *c;
    const char *text;
    double number;
    bool numeric = jval_number(value, &number) && isfinite(number);

    if (strcmp(name, BUDGET_NAME) == 0 && numeric) {
        k->trial->budget = number;
        return;
    }
    c = map_get(&k->by_name, name, strlen(name));
    if (c == NULL)
        c = add_column(k, name);
    if (c == NULL) {
        k->failed = true;
        return;
    }
    if (!numeric && c->p.scale != SCALE_CHOICE)
        become_choice(k, c);
    if (c->p.scale != SCALE_CHOICE) {
        c->p.cells[trial] = number;
        return;
    }
    buf_clear(&k->text);
    if (!jval_string(value, &text, NULL)) {
        jval_write(value, &k->text);
        text = buf_text(&k->text);
    }
    put_text(k, c, trial, text);
}

/* ---- all of them ---- */

static int
read_trial(struct columning *k, struct report_trial *t, struct err *err)
{
    struct json *doc =
        t->parameters == NULL
            ? NULL
            : json_parse(t->parameters, strlen(t->parameters), JSON_NAN, NULL);
    int rc = 0;

    k->trial = t;
    if (doc != NULL)
        rc = parameters_walk(json_root(doc), put_value, k, err);
    json_free(doc);
    return k->failed ? err_set(err, ERR_MEMORY, "out of memory") : rc;
}

/* Chooses between a linear and a logarithmic axis, which needs values above
 * 0. */
static void
settle_scale(const struct report *r, struct report_parameter *p)
{
    if (p->scale == SCALE_CHOICE && p->values.n > CHOICES_MAX)
        p->scale = SCALE_TEXT;
    for (size_t i = 0; i < r->n_trials && p->scale == SCALE_LOG; i++)
        if (p->cells[i] <= 0)
            p->scale = SCALE_LINEAR;
    if (p->scale == SCALE_LOG && p->low <= 0)
        p->low = (double)NAN;
}

/* Gives the columns to the report, in the order of the search space. */
static int
give_columns(struct columning *k, const char *folder, struct err *err)
{
    struct report *r = k->report;
    struct columns names = {0};
    int rc = 0;

    r->parameters = calloc(k->n + 1, sizeof *r->parameters);
    for (size_t i = 0; rc == 0 && i < k->n; i++)
        rc = columns_add(&names, k->all[i]->p.name, err);
    if (rc == 0 && r->parameters == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    if (rc == 0)
        rc = columns_sort(&names, folder, err);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct column *c =
            map_get(&k->by_name, names.names[i], strlen(names.names[i]));

        settle_scale(r, &c->p);
        r->parameters[r->n_parameters++] = c->p;
        c->p = (struct report_parameter){0};
    }
    columns_fini(&names);
    return rc;
}

/* Notes which parameters were searched: all of them where the search space
 * names none, as for batches. */
static void
settle_searched(struct report *r)
{
    bool any = false;

    for (size_t i = 0; i < r->n_parameters; i++)
        any = any || r->parameters[i].searched;
    for (size_t i = 0; i < r->n_parameters && !any; i++)
        r->parameters[i].searched = true;
}

/* The values of the trials' parameters as columns. */
static int
reading_parameters(struct reading *r, struct err *err)
{
    struct columning k = {.report = r->report};
    int rc = axes_load(&k.axes, r->folder, err);

    buf_init(&k.text, TEXT_MAX);
    for (size_t i = 0; rc == 0 && i < r->report->n_trials; i++)
        rc = read_trial(&k, &r->report->trials[i], err);
    if (rc == 0)
        rc = give_columns(&k, r->folder, err);
    if (rc == 0)
        settle_searched(r->report);
    for (size_t i = 0; i < k.n; i++)
        column_free(k.all[i]);
    free(k.all);
    map_fini(&k.by_name);
    axes_fini(&k.axes);
    buf_fini(&k.text);
    return rc;
}

/* ---- what trials report beside their objective ---- */

/* So many names are told apart; a trial may make up as many as it likes. */
#define METRICS_MAX 50

/* The metric of that name, added where it is new and there is room; NULL: there
 * is none, or no memory (*failed). */
static struct report_metric *
metric_of(struct report *r, const char *name, bool *failed)
{
    struct report_metric *m;

    for (size_t i = 0; i < r->n_metrics; i++)
        if (strcmp(r->metrics[i].name, name) == 0)
            return &r->metrics[i];
    if (r->n_metrics == METRICS_MAX)
        return NULL;
    m = &r->metrics[r->n_metrics++];
    m->name = strdup(name);
    m->cells = calloc(r->n_trials, sizeof *m->cells);
    *failed = m->name == NULL || m->cells == NULL;
    for (size_t i = 0; i < r->n_trials && !*failed; i++)
        m->cells[i] = (double)NAN;
    return *failed ? NULL : m;
}

static int
reading_metrics(struct reading *reading, struct err *err)
{
    struct report *r = reading->report;
    bool failed = false;

    r->metrics = calloc(METRICS_MAX, sizeof *r->metrics);
    failed = r->metrics == NULL;
    for (size_t i = 0; i < r->n_trials && !failed; i++) {
        const char *said = r->trials[i].said;
        struct json *doc = said == NULL
                               ? NULL
                               : json_parse(said, strlen(said), JSON_NAN, NULL);
        struct jval_iter it;

        if (doc == NULL)
            continue;
        it = jval_iter(json_root(doc));
        while (jval_next(&it) && !failed) {
            struct report_metric *m;
            double value;

            if (strcmp(it.key, "default") != 0 &&
                jval_number(it.value, &value) && !isnan(value) &&
                (m = metric_of(r, it.key, &failed)) != NULL)
                m->cells[i] = value;
        }
        json_free(doc);
    }
    return failed ? out_of_memory(err) : 0;
}

/* ---- what the search space says of each parameter ---- */

#define SPACE_MAX ((size_t)64 << 20)

static const struct {
    const char *type;
    enum report_scale scale;
    bool bounds; /* reading its first two numbers, the bounds */
} types[] = {
    {"uniform", SCALE_LINEAR, true},  {"quniform", SCALE_LINEAR, true},
    {"randint", SCALE_LINEAR, true},  {"qrandint", SCALE_LINEAR, true},
    {"lograndint", SCALE_LOG, true},  {"loguniform", SCALE_LOG, true},
    {"qloguniform", SCALE_LOG, true}, {"normal", SCALE_LINEAR, false},
    {"qnormal", SCALE_LINEAR, false}, {"lognormal", SCALE_LOG, false},
    {"qlognormal", SCALE_LOG, false}, {"choice", SCALE_CHOICE, false},
};
#define N_TYPES (sizeof types / sizeof *types)

struct walk {
    struct axes *axes;
    struct buf name;
    bool failed; /* out of memory */
};

static void walk_space(struct walk *w, struct jval space);

static void
axis_free(struct axis *a)
{
    if (a != NULL)
        columns_fini(&a->choices);
    free(a);
}

/* The axis of the parameter w->name, added where it is new. */
static struct axis *
axis_here(struct walk *w, size_t type)
{
    const char *name = buf_text(&w->name);
    struct axis *a = map_get(&w->axes->by_name, name, w->name.len);

    if (a != NULL)
        return a;
    a = calloc(1, sizeof *a);
    if (a == NULL || map_put(&w->axes->by_name, name, w->name.len, a) != 0) {
        free(a);
        w->failed = true;
        return NULL;
    }
    a->scale = types[type].scale;
    a->low = a->high = (double)NAN;
    return a;
}

static void
add_choice(struct walk *w, struct axis *a, struct jval value)
{
    struct buf text;
    const char *known;

    buf_init(&text, SPACE_MAX);
    if (!jval_string(value, &known, NULL)) {
        jval_write(value, &text);
        known = buf_text(&text);
    }
    for (size_t i = 0; i < a->choices.n && known != NULL; i++)
        if (strcmp(a->choices.names[i], known) == 0)
            known = NULL;
    if (known != NULL && columns_add(&a->choices, known, NULL) != 0)
        w->failed = true;
    buf_fini(&text);
}

static bool
is_nested(struct jval value)
{
    struct jval first, name;

    if (jval_type(value) != JSON_ARRAY || jval_count(value) == 0)
        return false;
    first = jval_at(value, 0);
    return jval_get(first, "_name", &name);
}

/* Walks over a nested choice: "net/_name", and for each of its elements
 * "net/units". */
static void
walk_nested(struct walk *w, size_t type, struct jval value)
{
    size_t prefix = w->name.len;
    struct axis *a;
    struct jval v;

    buf_add_char(&w->name, '/');
    for (size_t i = 0; i < jval_count(value) && !w->failed; i++) {
        size_t inner = w->name.len;

        walk_space(w, jval_at(value, i));
        buf_add_text(&w->name, "_name");
        a = axis_here(w, type);
        if (a != NULL && jval_get(jval_at(value, i), "_name", &v))
            add_choice(w, a, v);
        w->name.len = inner;
    }
    w->name.len = prefix;
}

static void
walk_one(struct walk *w, size_t type, struct jval value)
{
    struct axis *a;

    if (types[type].scale == SCALE_CHOICE && is_nested(value)) {
        walk_nested(w, type, value);
        return;
    }
    a = axis_here(w, type);
    if (a == NULL || jval_type(value) != JSON_ARRAY)
        return;
    if (types[type].scale == SCALE_CHOICE) {
        for (size_t i = 0; i < jval_count(value); i++)
            add_choice(w, a, jval_at(value, i));
    } else if (types[type].bounds && jval_count(value) >= 2) {
        jval_number(jval_at(value, 0), &a->low);
        jval_number(jval_at(value, 1), &a->high);
    }
}

static void
walk_space(struct walk *w, struct jval space)
{
    struct jval_iter it = jval_iter(space);
    size_t prefix = w->name.len;
    struct jval value;

    while (!w->failed && jval_next(&it)) {
        const char *type = jval_text_of(it.value, "_type");

        buf_add_text(&w->name, it.key);
        for (size_t i = 0; i < N_TYPES; i++)
            if (strcmp(types[i].type, type) == 0 &&
                jval_get(it.value, "_value", &value))
                walk_one(w, i, value);
        w->name.len = prefix;
    }
}

/* Reads the axes from the experiment's search space; one that cannot be read
 * gives none.  A zeroed struct axes is an empty one.  -1: out of memory. */
static int
axes_load(struct axes *a, const char *folder, struct err *err)
{
    struct walk w = {.axes = a};
    char *path = file_join(folder, FOLDER_SPACE);
    struct json *doc = NULL;
    struct buf text;

    buf_init(&text, 2 * SPACE_MAX);
    buf_init(&w.name, SPACE_MAX);
    if (path != NULL && file_read(path, SPACE_MAX, &text, NULL) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_NAN, NULL);
    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT)
        walk_space(&w, json_root(doc));
    json_free(doc);
    buf_fini(&w.name);
    buf_fini(&text);
    free(path);
    return w.failed ? err_set(err, ERR_MEMORY, "out of memory") : 0;
}

static void
axes_fini(struct axes *a)
{
    struct axis *one;
    size_t at = 0;

    while ((one = map_next(&a->by_name, &at)) != NULL)
        axis_free(one);
    map_fini(&a->by_name);
}

/* The axis of that name; NULL: the search space does not name it. */
static const struct axis *
axes_find(const struct axes *a, const char *name)
{
    return map_get(&a->by_name, name, strlen(name));
}
