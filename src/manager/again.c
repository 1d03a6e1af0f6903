/* SPDX-License-Identifier: MIT */
#include "manager/again.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/map.h"
#include "core/number.h"
#include "manager/coordinator.h"
#include "manager/live.h"
#include "manager/parameters.h"
#include "manager/resume_log.h"
#include "manager/placing.h"
#include "manager/results.h"
#include "manager/state.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAX ((size_t)16 << 20)
#define IDS_MAX ((size_t)48 << 20)
#define FRAME_BYTES ((size_t)1 << 20) /* about so many in one AD */
#define ID_GAP 1000 /* parameter_ids: more than may be under way to us */

/* What is begun by one request. */
struct again {
    struct manager *m;
    struct buf told;        /* the array for the dispatcher's AD, not closed */
    struct json_writer ids; /* of the trials that were begun */
    uint64_t id;            /* the next parameter_id */
};

/* Above all that were given and all that may be on their way.  The dispatcher
 * counts on behind it. */
static uint64_t
free_id(const struct manager *m)
{
    uint64_t most = 0, number;

    for (size_t i = 0; i < m->taken.n_slots; i++) {
        const struct map_slot *slot = &m->taken.slots[i];

        if (slot->key != NULL &&
            number_parse_u64(slot->key, slot->len, &number) && number > most)
            most = number;
    }
    return most + m->scheduler.owed + ID_GAP;
}

static int
check_open(const struct manager *m, struct err *err)
{
    int64_t now = clock_monotonic_ns();
    char why[200];

    if (m->x->deterministic)
        return err_set(err, ERR_INPUT,
                       "retry: not in a deterministic experiment, whose course "
                       "no clock may decide");
    if (m->end_known)
        return err_set(err, ERR_INPUT, "the experiment takes no more trials");
    if (finish_reached(&m->finish, now, why, sizeof why))
        return err_set(err, ERR_INPUT,
                       "the experiment takes no more trials: %s", why);
    if (m->experiment_deadline_ns <= now)
        return err_set(err, ERR_INPUT,
                       "the experiment takes no more trials: "
                       "maxExperimentDuration is over");
    return 0;
}

/* -1: the greater limit cannot be kept. */
static int
begin(struct again *a, struct manager *m, struct buf *ids, size_t n,
      struct err *err)
{
    uint64_t most = m->scheduler.max_trials;

    *a = (struct again){.m = m, .ids = json_begin(ids), .id = free_id(m)};
    buf_init(&a->told, 4 * RECORD_MAX);
    return most == 0 || n == 0 ? 0 : coordinator_limit(m, most + n, 0, err);
}

/* As of trials that an earlier run gave out: their results are to be learnt
 * from. */
static void
tell_dispatcher(struct again *a)
{
    if (a->told.len == 0)
        return;
    buf_add_char(&a->told, ']');
    if (buf_check(&a->told, "the parameters", NULL) == 0)
        exchange_send(&a->m->exchange, "AD", a->told.data, a->told.len);
    buf_clear(&a->told);
}

static void
end(struct again *a)
{
    tell_dispatcher(a);
    buf_fini(&a->told);
}

static void
add(struct again *a, struct trial *t, const struct buf *record)
{
    struct manager *m = a->m;

    buf_add_text(&a->told, a->told.len == 0 ? "[" : ", ");
    buf_add(&a->told, record->data, record->len);
    if (a->told.len > FRAME_BYTES)
        tell_dispatcher(a);
    json_add_text(&a->ids, NULL, t->id);
    m->n_trials++;
    manager_taken(m, t->parameter_id);
    scheduler_found(&m->scheduler, true);
    if (live_add(m, t) != 0)
        manager_end(m, MANAGER_UNABLE, "out of memory");
    placing_add(m, t);
}

static int
add_new(struct again *a, const char *parameters, struct err *err)
{
    struct trial *t = NULL;
    struct json_writer w;
    struct buf record;
    char id[32];

    snprintf(id, sizeof id, "%llu", (unsigned long long)a->id++);
    buf_init(&record, 2 * RECORD_MAX);
    w = json_begin_object(&record);
    json_add_raw(&w, "parameter_id", id);
    json_add_text(&w, "parameter_source", SOURCE_REPEATED);
    json_add_raw(&w, "parameters", parameters);
    json_add_unsigned(&w, "parameter_index", 0);
    json_close(&w);
    if (buf_check(&record, "the parameters", err) == 0) {
        t = trial_new(a->m->n_trials, buf_text(&record), record.len, id,
                      parameters);
        if (t == NULL)
            err_set(err, ERR_MEMORY, "out of memory");
    }
    if (t != NULL)
        add(a, t, &record);
    buf_fini(&record);
    return t != NULL ? 0 : -1;
}

/* ---- by their numbers ---- */

static int
read_record(const struct manager *m, uint64_t number, struct suggestion *out,
            struct err *err)
{
    char *path = NULL;
    struct buf text;
    int rc = -1;

    buf_init(&text, 2 * RECORD_MAX);
    if (asprintf(&path, "%s/" FOLDER_TRIALS "/%05llu/" TRIAL_NNI_PARAMETERS,
                 m->folder.path, (unsigned long long)number) < 0) {
        path = NULL;
        err_set(err, ERR_MEMORY, "out of memory");
    } else if (file_read(path, RECORD_MAX, &text, err) == 0) {
        rc = suggestion_read(buf_text(&text), text.len, out, err);
    }
    if (rc != 0)
        err_place(err, "trial %05llu", (unsigned long long)number);
    free(path);
    buf_fini(&text);
    return rc;
}

static int
read_named(const struct manager *m, struct jval list,
           struct suggestion *suggestions, size_t *n, struct err *err)
{
    for (; *n < jval_count(list); (*n)++) {
        uint64_t number = 0;

        jval_uint(jval_at(list, *n), &number);
        if (live_by_number(m, number) != NULL)
            return err_set(err, ERR_INPUT, "trial %05llu has not ended",
                           (unsigned long long)number);
        if (read_record(m, number, &suggestions[*n], err) != 0)
            return -1;
    }
    return 0;
}

int
again_named(struct manager *m, struct jval list, struct buf *ids,
            struct err *err)
{
    struct suggestion *all = calloc(jval_count(list), sizeof *all);
    struct again a;
    size_t n = 0;
    int rc;

    if (all == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    rc = check_open(m, err);
    if (rc == 0)
        rc = read_named(m, list, all, &n, err);
    if (rc == 0 && (rc = begin(&a, m, ids, n, err)) == 0) {
        for (size_t i = 0; i < n && rc == 0; i++)
            rc = add_new(&a, all[i].parameters, err);
        end(&a);
    }
    for (size_t i = 0; i < n; i++)
        suggestion_fini(&all[i]);
    free(all);
    return rc;
}

/* ---- all that failed ---- */

static uint64_t
number_of(const char *trial)
{
    uint64_t number = 0;

    number_parse_u64(trial, strlen(trial), &number);
    return number;
}

/* By their parameters, the last trial that had them: JSON text -> its number,
 * and one. */
static int
note_last(struct map *last, const char *parameters, uint64_t number)
{
    size_t len = strlen(parameters);

    if (number + 1 <= (uintptr_t)map_get(last, parameters, len))
        return 0;
    return map_put(last, parameters, len, (void *)(uintptr_t)(number + 1));
}

/* Moves them to the front; returns how many they are. */
static size_t
pick(struct results *r, const struct map *last)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        struct result one = r->items[i];

        if (!trial_is_failure(trial_state_of(one.status)) ||
            (uintptr_t)map_get(last, one.parameters, strlen(one.parameters)) !=
                number_of(one.trial) + 1)
            continue;
        r->items[i] = r->items[n];
        r->items[n++] = one;
    }
    return n;
}

static int
note_all(struct map *last, const struct manager *m, const struct results *r,
         struct err *err)
{
    int rc = 0;

    for (const struct trial *t = m->live; t != NULL && rc == 0; t = t->next)
        rc = note_last(last, t->parameters, t->number);
    for (size_t i = 0; i < r->n && rc == 0; i++)
        rc = note_last(last, r->items[i].parameters,
                       number_of(r->items[i].trial));
    return rc == 0 ? 0 : err_set(err, ERR_MEMORY, "out of memory");
}

int
again_failed(struct manager *m, struct buf *ids, size_t *n, struct err *err)
{
    struct map last = {0};
    struct results *r;
    struct again a;
    int rc;

    *n = 0;
    if (check_open(m, err) != 0 ||
        (r = results_load(m->folder.path, err)) == NULL)
        return -1;
    rc = note_all(&last, m, r, err);
    if (rc == 0)
        *n = pick(r, &last);
    if (rc == 0 && (rc = begin(&a, m, ids, *n, err)) == 0) {
        for (size_t i = 0; i < *n && rc == 0; i++)
            rc = add_new(&a, r->items[i].parameters, err);
        end(&a);
    }
    map_fini(&last);
    results_free(r);
    return rc;
}

int
again_all(struct manager *m, struct err *err)
{
    struct buf ids;
    size_t n;
    int rc;

    buf_init(&ids, IDS_MAX);
    rc = again_failed(m, &ids, &n, err);
    if (rc == 0)
        progress_say(&m->progress,
                     "tunepipe: %zu trials that failed run again%s%s", n,
                     n > 0 ? ": " : "", buf_text(&ids));
    buf_fini(&ids);
    return rc;
}
