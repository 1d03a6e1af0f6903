/* SPDX-License-Identifier: MIT */
/* DESIGN.  Three witnesses: results.jsonl (ends that are recorded), the
 * command log (what the dispatcher was told), the trials' folders (what
 * happened).  Of each trial they leave one of these cases:
 *
 *   result  EN in the log
 *   yes     yes     done: counted
 *   yes     no      its files are read again, told, its end as recorded
 *   no      yes     its files are read again, not told; recorded as told
 *   no      no      ended: read, told, recorded, like any other end;
 *                   its wrapper lives: adopted, like one just started;
 *                   else, or ended for want of a manager: a new attempt
 *
 * Of a log whose first segments were dropped the ends of old trials are not
 * known; they are told in about the order of the results, so those of far
 * older results than one whose end is known were told.
 * Metrics that the log has are not sent again; those that are there twice all
 * the same do no harm, being known by their positions.
 * Parameters that came and are in no folder the dispatcher sends again. */
#include "manager/restore.h"

#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "manager/adopt.h"
#include "manager/peer.h"
#include "manager/ending.h"
#include "manager/outcome.h"
#include "manager/parameters.h"
#include "manager/past.h"
#include "manager/reading.h"
#include "manager/results.h"
#include "manager/state.h"
#include "manager/stepping.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define RECORD_TEXT_MAX ((size_t)64 << 20)

struct found {
    char id[24];
    uint64_t number, attempt;
    bool folder;
    const struct result *result;
    const struct past_trial *past;
    bool told; /* its end */
};

struct restoring {
    struct manager *m;
    struct results *results;
    struct past past;
    struct found **items; /* owned */
    size_t n, cap;
    struct map by_id;
};

static struct found *
no_room(struct restoring *r)
{
    r->past.failed = true; /* told once all is read */
    return NULL;
}

static struct found *
add_found(struct restoring *r, const char *id, size_t len)
{
    struct found *f = map_get(&r->by_id, id, len), **items;
    uint64_t number;

    if (f != NULL || len >= sizeof f->id || !number_parse_u64(id, len, &number))
        return f;
    if (r->n == r->cap) {
        size_t cap = r->cap == 0 ? 64 : 2 * r->cap;

        items = realloc(r->items, cap * sizeof *items);
        if (items == NULL)
            return no_room(r);
        r->items = items;
        r->cap = cap;
    }
    f = calloc(1, sizeof *f);
    if (f == NULL || map_put(&r->by_id, id, len, f) != 0) {
        free(f);
        return no_room(r);
    }
    memcpy(f->id, id, len);
    f->number = number;
    r->items[r->n++] = f;
    return f;
}

static void
find_results(struct restoring *r)
{
    for (size_t i = 0; i < r->results->n; i++) {
        const struct result *item = &r->results->items[i];
        struct found *f = add_found(r, item->trial, strlen(item->trial));

        if (f != NULL)
            f->result = item;
    }
}

static void
find_past(struct restoring *r)
{
    for (const struct past_trial *t = r->past.first; t != NULL; t = t->next) {
        struct found *f =
            t->id == NULL ? NULL : add_found(r, t->id, strlen(t->id));

        if (f == NULL)
            continue;
        f->past = t;
        f->attempt = t->attempt;
    }
}

static void
find_folders(struct restoring *r)
{
    char *path = file_join(r->m->folder.path, FOLDER_TRIALS);
    DIR *trials = path == NULL ? NULL : opendir(path);
    struct dirent *entry;

    while (trials != NULL && (entry = readdir(trials)) != NULL) {
        size_t len = strcspn(entry->d_name, ".");
        const char *rest = entry->d_name + len;
        uint64_t attempt = 0;
        struct found *f;

        if (len == 0 ||
            (*rest != '\0' &&
             !number_parse_u64(rest + 1, strlen(rest + 1), &attempt)))
            continue;
        f = add_found(r, entry->d_name, len);
        if (f == NULL || attempt < f->attempt)
            continue;
        f->attempt = attempt;
        f->folder = true;
    }
    if (trials != NULL)
        closedir(trials);
    free(path);
}

/* More than there can be between two places of one end: in the results, and
 * on the wire. */
#define IN_FLIGHT 4096

static void
find_told(struct restoring *r)
{
    size_t last = 0;

    for (size_t i = 0; i < r->n; i++) {
        struct found *f = r->items[i];

        f->told = f->past != NULL && f->past->event != NULL;
        if (f->told && f->result != NULL &&
            (size_t)(f->result - r->results->items) > last)
            last = (size_t)(f->result - r->results->items);
    }
    for (size_t i = 0; i < r->n; i++) {
        struct found *f = r->items[i];

        if (f->past == NULL && f->result != NULL &&
            (size_t)(f->result - r->results->items) + IN_FLIGHT < last)
            f->told = true;
    }
}

static int
compare(const void *a, const void *b)
{
    const struct found *x = *(struct found *const *)a;
    const struct found *y = *(struct found *const *)b;

    return x->number < y->number ? -1 : x->number > y->number;
}

/* The TR's payload, from whoever has it; to be freed. */
static char *
find_record(const struct restoring *r, const struct found *f)
{
    char *path = NULL, *text = NULL;
    struct suggestion s;
    struct buf b;

    if (f->past != NULL && f->past->record != NULL)
        return strdup(f->past->record);
    buf_init(&b, 2 * RECORD_TEXT_MAX);
    if (f->folder &&
        asprintf(&path, "%s/" FOLDER_TRIALS "/%s/" TRIAL_NNI_PARAMETERS,
                 r->m->folder.path, f->id) >= 0 &&
        file_read(path, RECORD_TEXT_MAX, &b, NULL) == 0 &&
        suggestion_read(b.data != NULL ? b.data : "", b.len, &s, NULL) == 0) {
        suggestion_fini(&s);
        text = buf_take(&b);
    } else if (f->result != NULL) {
        buf_clear(&b);
        buf_printf(&b, "{\"parameter_id\": %s, \"parameters\": %s}",
                   f->result->parameter_id, f->result->parameters);
        text = buf_take(&b);
    }
    free(path);
    buf_fini(&b);
    return text;
}

static struct trial *
make_trial(struct restoring *r, const struct found *f)
{
    char *record = find_record(r, f);
    struct trial *t = NULL;
    struct suggestion s;

    if (record != NULL &&
        suggestion_read(record, strlen(record), &s, NULL) == 0) {
        t = trial_new(f->number, record, strlen(record), s.id, s.parameters);
        suggestion_fini(&s);
    }
    free(record);
    if (t == NULL)
        return NULL;
    snprintf(t->id, sizeof t->id, "%s", f->id);
    t->attempt = f->attempt;
    t->again = true;
    t->known = f->result != NULL;
    t->told = f->told;
    t->noted =
        f->past != NULL && f->past->started && f->past->attempt == f->attempt;
    if (f->past != NULL && f->past->attempt == f->attempt) {
        t->heard = f->past->heard;
        t->has_final = f->past->has_final; /* its folder may be gone */
        t->final = f->past->final;
    }
    if (f->past != NULL && r->m->lockstep.on)
        t->heard = f->past->all;
    if (f->result != NULL)
        t->ends = trial_state_of(f->result->status);
    else if (t->told)
        t->ends = trial_state_of_event(f->past->event);
    if (t->ends == TRIAL_STATES)
        t->ends = TRIAL_FAILED;
    return t;
}

static void
append(struct manager *m, struct trial *t)
{
    struct trial **link = &m->live;

    while (*link != NULL)
        link = &(*link)->next;
    *link = t;
    manager_taken(m, t->parameter_id);
    scheduler_found(&m->scheduler, true);
}

/* As one that has just been started, or that has just exited. */
static void
enter(struct manager *m, struct trial *t)
{
    char detail[64];

    trial_enter(t, TRIAL_RUNNING);
    m->n_running++;
    snprintf(detail, sizeof detail, "\"pid\": %d", (int)t->pid);
    if (!t->noted && !t->told)
        manager_note(m, "started", t, detail);
}

static void
restore_living(struct manager *m, struct trial *t)
{
    struct err err = {0};

    enter(m, t);
    m->recovered.adopted++;
    running_since(m, t, t->started_ns);
    if (m->lockstep.on)
        stepping_started(m, t);
    if (holding_open(&t->holding, t->folder, &err) != 0)
        progress_warn(&m->progress, "tunepipe: warning: %s", err.text);
    if (manager_watch(m, t->pidfd, EPOLLIN, (uint64_t)(uintptr_t)t) != 0)
        manager_end(m, MANAGER_UNABLE, "cannot watch a trial");
    reading_begin(m, t);
    if (t->stop != STOP_NOT)
        running_press(m, t); /* perhaps nobody did */
}

static void
restore_ended(struct manager *m, struct trial *t)
{
    struct err err = {0};

    t->exited = true;
    if (t->folder != NULL && outcome_read(t->folder, &t->outcome, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    if (running_in_vain(t)) {
        running_again(m, t);
        return;
    }
    m->recovered.finished++;
    enter(m, t);
    if (m->lockstep.on && !t->told)
        stepping_started(m, t);
    m->hungry = true; /* settle() reads it to its end */
}

/* A folder that was begun, no more: its parameters come again. */
static void
discard(const struct restoring *r, const struct found *f)
{
    char *folder = NULL;

    if (asprintf(&folder, "%s/" FOLDER_TRIALS "/%s", r->m->folder.path, f->id) <
        0)
        return;
    adopt_discard(folder);
    free(folder);
}

static int
restore_trial(struct restoring *r, const struct found *f, struct err *err)
{
    struct manager *m = r->m;
    struct trial *t;

    if (f->result != NULL) {
        ending_count(m, trial_state_of(f->result->status), f->result->has_value,
                     f->result->value, f->id);
        if (f->told) {
            m->n_trials = f->number + 1;
            m->recovered.finished++;
            manager_taken(m, f->result->parameter_id);
            scheduler_found(&m->scheduler, false);
            return 0;
        }
    }
    t = make_trial(r, f);
    if (t == NULL) {
        discard(r, f);
        return 0;
    }
    m->n_trials = f->number + 1;
    if (f->folder && trial_place(t, m->folder.path, err) != 0) {
        trial_free(t);
        return -1;
    }
    append(m, t);
    if (t->folder != NULL)
        adopt_files(t, m->pattern != NULL);
    if (t->folder != NULL && !t->told && !t->known && adopt_wrapper(t))
        restore_living(m, t);
    else
        restore_ended(m, t);
    return 0;
}

static void
take_record(void *ctx, const struct record *record)
{
    past_add(ctx, record);
}

static int
read_witnesses(struct restoring *r, struct err *err)
{
    struct manager *m = r->m;

    if (peer_await_end(m, err) != 0)
        return -1;
    r->results = results_load(m->folder.path, err);
    if (r->results == NULL ||
        m->options->walk_log(m->folder.path, take_record, &r->past, err) != 0)
        return -1;
    find_results(r);
    find_past(r);
    find_folders(r);
    find_told(r);
    if (r->n > 0)
        qsort(r->items, r->n, sizeof *r->items, compare);
    return r->past.failed ? err_set(err, ERR_MEMORY, "out of memory") : 0;
}

static int
restore_all(struct restoring *r, struct err *err)
{
    struct manager *m = r->m;

    m->exchange.held = true;
    stepping_resume(m, &r->past);
    for (size_t i = 0; i < r->n; i++)
        if (restore_trial(r, r->items[i], err) != 0)
            return -1;
    progress_say(&m->progress,
                 "tunepipe: resumed: %llu trials finished, %llu adopted, "
                 "%llu started again",
                 (unsigned long long)m->recovered.finished,
                 (unsigned long long)m->recovered.adopted,
                 (unsigned long long)m->recovered.again);
    return peer_resume(m, err);
}

int
restore(struct manager *m, struct err *err)
{
    struct restoring r = {.m = m};
    int rc = read_witnesses(&r, err);

    if (rc == 0)
        rc = restore_all(&r, err);
    for (size_t i = 0; i < r.n; i++)
        free(r.items[i]);
    free(r.items);
    map_fini(&r.by_id);
    past_fini(&r.past);
    results_free(r.results);
    return rc;
}
