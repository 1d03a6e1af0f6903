/* SPDX-License-Identifier: MIT */
#include "manager/earlier_trial.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/number.h"
#include "history/folder.h"
#include "manager/parameters.h"
#include "manager/resume_log.h"
#include "manager/results.h"
#include "manager/trial.h"
#include "manager/trial_folder.h"
#include "pack/packs.h"
#include "space/space.h"
#include "trial/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_TEXT_MAX ((size_t)64 << 20)

static struct earlier_trial *
no_room(struct earlier_trials *all)
{
    all->failed = true; /* earlier_trials_gather() tells of it at its end */
    return NULL;
}

static struct earlier_trial *
add_trial(struct earlier_trials *all, const char *id, size_t len)
{
    struct earlier_trial *e = map_get(&all->by_id, id, len);
    uint64_t number;

    if (e != NULL || len >= sizeof e->id || !number_parse_u64(id, len, &number))
        return e;
    if (GROW(all->items, all->n, all->cap) != 0)
        return no_room(all);
    e = calloc(1, sizeof *e);
    if (e == NULL || map_put(&all->by_id, id, len, e) != 0) {
        free(e);
        return no_room(all);
    }
    memcpy(e->id, id, len);
    e->number = number;
    all->items[all->n++] = e;
    return e;
}

static uint64_t
number_of(const struct result *item)
{
    uint64_t number;

    return number_parse_u64(item->trial, strlen(item->trial), &number) &&
                   number <= RESULTS_TRIAL_MAX
               ? number
               : UINT64_MAX;
}

/* Results while they are read. */
struct gathering {
    struct earlier_trials *all;
    const struct resume_log *log;
    uint64_t place, last; /* of the last result whose EN is on record */
    uint64_t given, most;
};

static bool
find_last(void *ctx, const struct result *item)
{
    struct gathering *g = ctx;

    if (idset_has(&g->log->ended, number_of(item)))
        g->last = g->place;
    g->place++;
    return true;
}

/* Where the log's first segments were dropped, so were the EN of old trials.
 * Numbers are in the order of the suggestions: a TR older than the oldest one
 * on record stood there. */
static bool
was_dropped(const struct gathering *g, uint64_t number)
{
    return g->log->front_dropped && number < g->given;
}

/* Ends are told in about the order of the results: those `most` or more results
 * before one whose EN is on record were told, too. */
static bool
was_told(const struct gathering *g, uint64_t number, uint64_t place)
{
    return idset_has(&g->log->ended, number) ||
           (was_dropped(g, number) && place + g->most <= g->last);
}

static bool
take_result(void *ctx, const struct result *item)
{
    struct gathering *g = ctx;
    uint64_t number = number_of(item), place = g->place++;
    struct earlier_trial *e =
        map_get(&g->all->by_id, item->trial, strlen(item->trial));

    g->all->each(g->all->ctx, item);
    if (e == NULL && g->all->results_alone && number != UINT64_MAX &&
        was_told(g, number, place)) {
        if (!idset_has(&g->all->over, number))
            g->all->done(g->all->ctx, number, item);
        if (idset_add(&g->all->over, number) != 0)
            no_room(g->all);
        return true;
    }
    e = add_trial(g->all, item->trial, strlen(item->trial));
    if (e == NULL)
        return true;
    e->place = place;
    if (e->result == NULL)
        e->result = calloc(1, sizeof *e->result);
    else
        result_fini(e->result);
    if (e->result == NULL || result_copy(e->result, item) != 0)
        no_room(g->all);
    return true;
}

static int
find_results(struct gathering *g, struct results *results, struct err *err)
{
    int rc =
        g->log->front_dropped ? results_walk(results, find_last, g, err) : 0;

    g->place = 0;
    return rc == 0 ? results_walk_counting(results, take_result, g, err) : rc;
}

/* The lowest number of a trial whose TR is on record. */
static uint64_t
first_given(const struct resume_log *log)
{
    uint64_t first = UINT64_MAX, number;

    for (const struct logged_trial *t = log->first; t != NULL; t = t->next)
        if (t->id != NULL && t->record != NULL &&
            number_parse_u64(t->id, strlen(t->id), &number) && number < first)
            first = number;
    return first;
}

static void
find_logged(struct earlier_trials *all, const struct resume_log *log)
{
    uint64_t number;

    for (const struct logged_trial *t = log->first; t != NULL; t = t->next) {
        struct earlier_trial *e =
            t->id == NULL || (number_parse_u64(t->id, strlen(t->id), &number) &&
                              idset_has(&all->over, number))
                ? NULL
                : add_trial(all, t->id, strlen(t->id));

        if (e == NULL)
            continue;
        e->logged = t;
        e->has_folder &= t->attempt <= e->attempt;
        if (t->attempt > e->attempt)
            e->attempt = t->attempt;
    }
}

/* An attempt has a folder, there or in a pack. */
static struct earlier_trial *
find_attempt(struct earlier_trials *all, const char *id, size_t len,
             uint64_t attempt)
{
    struct earlier_trial *e = add_trial(all, id, len);

    if (e == NULL || attempt < e->attempt)
        return e;
    e->attempt = attempt;
    e->has_folder = true;
    return e;
}

static int
find_packed(void *ctx, uint64_t number, uint64_t attempt)
{
    struct earlier_trials *all = ctx;
    struct earlier_trial *e;
    char id[24];

    if (idset_has(&all->over, number))
        return 0;
    snprintf(id, sizeof id, "%05llu", (unsigned long long)number);
    e = find_attempt(all, id, strlen(id), attempt);
    if (e != NULL)
        e->packed = true;
    return 0;
}

static void
find_folders(struct earlier_trials *all, const char *path)
{
    DIR *trials = opendir(path);
    struct dirent *entry;

    while (trials != NULL && (entry = readdir(trials)) != NULL) {
        size_t len = strcspn(entry->d_name, ".");
        const char *rest = entry->d_name + len;
        uint64_t attempt = 0;
        struct earlier_trial *e;

        if (len == 0 ||
            (*rest != '\0' &&
             !number_parse_u64(rest + 1, strlen(rest + 1), &attempt)))
            continue;
        e = find_attempt(all, entry->d_name, len, attempt);
        if (e != NULL)
            e->in_place = true;
    }
    if (trials != NULL)
        closedir(trials);
}

/* ---- folders that nobody has told of ---- */

/* The manager died before it had told that the trial was started, or it had
 * been at all: the folder holds parameters, and not whose they are.  Any
 * suggestion with the same ones that has no trial will do. */
struct match {
    const struct space *space;
    struct map taken; /* of logged_trial, by address */
};

static char *
given_text(const struct match *m, const char *record)
{
    struct json *doc = NULL, *given = NULL;
    struct suggestion s;
    char *text = NULL;

    if (suggestion_read(record, strlen(record), &s, NULL) != 0)
        return NULL;
    doc = json_parse(s.parameters, strlen(s.parameters), JSON_STRICT, NULL);
    if (doc != NULL && m->space != NULL)
        given = parameters_given(m->space, json_root(doc), NULL);
    if (doc != NULL)
        text = jval_copy_text(json_root(given != NULL ? given : doc));
    json_free(given);
    json_free(doc);
    suggestion_fini(&s);
    return text;
}

static bool
is_match(const struct match *m, const struct logged_trial *p, const char *text)
{
    char *given = p->id != NULL || p->record == NULL ||
                          map_get(&m->taken, &p, sizeof p) != NULL
                      ? NULL
                      : given_text(m, p->record);
    bool is = given != NULL && strcmp(given, text) == 0;

    free(given);
    return is;
}

static char *
read_parameters(const struct earlier_trial *e, const char *folder)
{
    char *path = NULL, *text = NULL;
    struct buf b;

    buf_init(&b, 2 * RECORD_TEXT_MAX);
    if (asprintf(&path, "%s/" FOLDER_TRIALS "/%s/" TRIAL_PARAMETERS_JSON,
                 folder, e->id) >= 0 &&
        file_read_plain(path, RECORD_TEXT_MAX, &b, NULL) == 0) {
        text = buf_take(&b);
        text[strcspn(text, "\n")] = '\0';
    }
    buf_fini(&b);
    free(path);
    return text;
}

static void
find_untold(struct earlier_trials *all, const struct resume_log *log,
            const char *folder)
{
    struct space *space = NULL;
    struct match m = {0};

    for (size_t i = 0; i < all->n; i++) {
        struct earlier_trial *e = all->items[i];
        char *text;

        if (!e->has_folder || e->logged != NULL || e->result != NULL)
            continue;
        if (space == NULL)
            m.space = space = results_space(folder);
        text = read_parameters(e, folder);
        for (const struct logged_trial *p = log->first;
             text != NULL && p != NULL && e->logged == NULL; p = p->next)
            if (is_match(&m, p, text) &&
                map_put(&m.taken, &p, sizeof p, e) == 0)
                e->logged = p;
        free(text);
    }
    map_fini(&m.taken);
    space_free(space);
}

static void
find_ends_told(struct earlier_trials *all, const struct gathering *g)
{
    for (size_t i = 0; i < all->n; i++) {
        struct earlier_trial *e = all->items[i];

        e->dropped = was_dropped(g, e->number);
        e->end_told = e->logged != NULL && e->logged->event != NULL;
        if (e->result != NULL)
            e->end_told = e->end_told || was_told(g, e->number, e->place);
    }
}

static int
compare(const void *a, const void *b)
{
    const struct earlier_trial *x = *(struct earlier_trial *const *)a;
    const struct earlier_trial *y = *(struct earlier_trial *const *)b;

    return x->number < y->number ? -1 : x->number > y->number;
}

int
earlier_trials_gather(struct earlier_trials *all, struct results *results,
                      const struct resume_log *log, const char *folder,
                      uint64_t concurrency, struct err *err)
{
    struct gathering g = {
        .all = all, .log = log, .given = first_given(log), .most = concurrency};
    char *trials = file_join(folder, FOLDER_TRIALS);

    if (trials == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    find_folders(all, trials);
    if (find_results(&g, results, err) != 0) {
        free(trials);
        return -1;
    }
    find_logged(all, log);
    packs_each(trials, find_packed, all, NULL);
    free(trials);
    if (all->n > 0)
        qsort(all->items, all->n, sizeof *all->items, compare);
    find_untold(all, log, folder);
    find_ends_told(all, &g);
    return all->failed ? err_set(err, ERR_MEMORY, "out of memory") : 0;
}

void
earlier_trials_fini(struct earlier_trials *all)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->items[i]->result != NULL)
            result_fini(all->items[i]->result);
        free(all->items[i]->result);
        free(all->items[i]);
    }
    free(all->items);
    map_fini(&all->by_id);
    idset_fini(&all->over);
    *all = (struct earlier_trials){0};
}

/* ---- what one was to run ---- */

/* The payload of its TR, from the folder of its newest attempt or its first. */
static char *
record_in_folders(const struct earlier_trial *e, const char *folder,
                  struct packs *k)
{
    struct trial t = {.attempt = e->attempt};
    char *text = NULL;

    memcpy(t.id, e->id, sizeof t.id);
    if (trial_place(&t, folder, NULL) == 0)
        text = trial_folder_record(t.folder, k);
    if (text == NULL && t.attempt > 0) {
        t.attempt = 0;
        if (trial_place(&t, folder, NULL) == 0)
            text = trial_folder_record(t.folder, k);
    }
    free(t.folder);
    return text;
}

/* The payload of its TR, from whichever witness has it; to be freed.  NULL:
 * none has. */
static char *
record_of(const struct earlier_trial *e, const char *folder, struct packs *k)
{
    char *text = NULL;
    struct json_writer w;
    struct buf b;

    if (e->logged != NULL && e->logged->record != NULL)
        return strdup(e->logged->record);
    if (e->has_folder)
        text = record_in_folders(e, folder, k);
    if (text == NULL && e->result != NULL) {
        buf_init(&b, RECORD_TEXT_MAX);
        w = json_begin_object(&b);
        json_add_raw(&w, "parameter_id", e->result->parameter_id);
        json_add_raw(&w, "parameters", e->result->parameters);
        json_close(&w);
        text = buf_take(&b);
        buf_fini(&b);
    }
    return text;
}

char *
earlier_trial_unlogged(const struct earlier_trial *e,
                       const struct resume_log *log, const char *folder,
                       struct packs *k)
{
    struct suggestion s;
    char *text;

    if (e->dropped || (e->logged == NULL && e->end_told) ||
        (e->logged != NULL && resume_log_gave(log, e->logged->parameter_id)))
        return NULL;
    text = record_of(e, folder, k);
    if (text == NULL || suggestion_read(text, strlen(text), &s, NULL) != 0) {
        free(text);
        return NULL;
    }
    if (resume_log_gave(log, s.id)) {
        free(text);
        text = NULL;
    }
    suggestion_fini(&s);
    return text;
}

/* Whether the final metric on record is the trial's own: one that onFailure
 * sent in its place stands in no file of the trial. */
static bool
has_own_final(const struct earlier_trial *e, const struct on_failure *then)
{
    return e->logged->final.given &&
           !(e->has_folder && then->then == FAILURE_REPORT &&
             e->logged->final.value == then->value);
}

/* A trial without files has its reports in the log alone: they are taken from
 * there. */
static void
take_reports(struct trial *t)
{
    uint64_t n = t->past.told.intermediates;

    t->metrics.intermediates = t->sent = n;
    t->metrics.finals = t->past.told.finals;
    reported_copy(&t->latest, &t->earlier);
    if (n > 0 && trial_reaches(t, n - 1)) {
        reported_copy(&t->reached, &t->latest);
        t->reached_at = n - 1;
    }
}

/* Takes a value from the log, where nobody knew the names of objectives. */
static void
take_value(struct reported *to, const struct reported *from,
           const struct objectives *of)
{
    reported_copy(to, from);
    if (of != NULL && to->json != NULL &&
        metrics_value(of, to->json, strlen(to->json), &to->value, NULL) != 0)
        reported_clear(to);
}

struct trial *
earlier_trial_restore(const struct earlier_trial *e, const struct experiment *x,
                      const char *folder, struct packs *k)
{
    char *record = record_of(e, folder, k);
    struct trial *t = NULL;
    struct suggestion s;

    if (record != NULL &&
        suggestion_read(record, strlen(record), &s, NULL) == 0) {
        t = trial_of(e->number, record, strlen(record), &s);
        suggestion_fini(&s);
    }
    free(record);
    if (t == NULL)
        return NULL;
    snprintf(t->id, sizeof t->id, "%s", e->id);
    t->attempt = e->attempt;
    t->past.restored = true;
    t->past.recorded = e->result != NULL;
    t->past.end_told = e->end_told;
    t->past.start_told = e->logged != NULL && e->logged->started &&
                         e->logged->attempt == e->attempt;
    t->past.interrupted = t->past.start_told && !t->past.recorded &&
                          !t->past.end_told && e->logged->interrupted;
    if (e->logged != NULL && e->logged->attempt == e->attempt) {
        t->past.told = e->logged->sent;
        if (has_own_final(e, &x->on_failure)) /* its folder may be gone */
            take_value(&t->final, &e->logged->final, x->objectives);
    }
    if (e->logged != NULL)
        take_value(&t->earlier, &e->logged->latest, x->objectives);
    if (x->platform == PLATFORM_client)
        take_reports(t);
    if (e->logged != NULL && x->deterministic)
        t->past.told = e->logged->all;
    if (e->result != NULL)
        t->past.end = trial_state_of(e->result->status);
    else if (t->past.end_told)
        t->past.end = trial_state_of_event(e->logged->event);
    if (t->past.end == TRIAL_STATES)
        t->past.end = TRIAL_FAILED;
    return t;
}
