/* SPDX-License-Identifier: MIT */
/* What is done to single trials.  All that are named are looked at before the
 * first is touched. */
#include "manager/commands_table.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "manager/coordinator.h"
#include "manager/live.h"
#include "manager/parameters.h"
#include "manager/past.h"
#include "manager/state.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAX ((size_t)16 << 20)
#define ID_GAP 1000 /* parameter_ids: more than may be under way to us */

/* "trials": how many; each is checked by `check`. */
static int
read_trials(const struct manager *m, struct jval request, struct jval *list,
            int (*check)(const struct manager *, uint64_t, struct err *),
            struct err *err)
{
    if (!jval_get(request, "trials", list) || jval_type(*list) != JSON_ARRAY ||
        jval_count(*list) == 0)
        return err_set(err, ERR_INPUT,
                       "trials: expected an array of their numbers");
    for (size_t i = 0; i < jval_count(*list); i++) {
        uint64_t number;

        if (!jval_uint(jval_at(*list, i), &number))
            return err_set(err, ERR_INPUT, "trials: expected numbers, not %s",
                           jval_type_name(jval_at(*list, i)));
        if (check(m, number, err) != 0)
            return -1;
    }
    return 0;
}

static int
check_begun(const struct manager *m, uint64_t number, struct err *err)
{
    if (number < m->n_trials)
        return 0;
    return err_set(err, ERR_INPUT,
                   "trial %05llu: there is none, expected one of %llu trials "
                   "from 00000",
                   (unsigned long long)number, (unsigned long long)m->n_trials);
}

static int
check_live(const struct manager *m, uint64_t number, struct err *err)
{
    if (check_begun(m, number, err) != 0)
        return -1;
    if (live_by_number(m, number) != NULL)
        return 0;
    return err_set(err, ERR_INPUT, "trial %05llu has ended",
                   (unsigned long long)number);
}

int
commands_kill(struct manager *m, struct jval request, struct buf *reply,
              struct err *err)
{
    struct jval list;

    if (read_trials(m, request, &list, check_live, err) != 0)
        return -1;
    for (size_t i = 0; i < jval_count(list); i++) {
        uint64_t number = 0;
        struct trial *t;

        jval_uint(jval_at(list, i), &number);
        t = live_by_number(m, number);
        if (t != NULL) /* else it was named twice */
            running_cancel(m, t);
    }
    buf_add_text(reply, "{}");
    return 0;
}

/* ---- again ---- */

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
    free(path);
    buf_fini(&text);
    return rc;
}

static int
check_again(const struct manager *m, uint64_t number, struct err *err)
{
    struct suggestion s;

    if (check_begun(m, number, err) != 0)
        return -1;
    if (live_by_number(m, number) != NULL)
        return err_set(err, ERR_INPUT, "trial %05llu has not ended",
                       (unsigned long long)number);
    if (read_record(m, number, &s, err) != 0)
        return err_place(err, "trial %05llu", (unsigned long long)number);
    suggestion_fini(&s);
    return 0;
}

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

/* As of one that an earlier run gave out: its result is one to learn from. */
static void
tell_dispatcher(struct manager *m, const struct buf *record)
{
    struct buf list;

    buf_init(&list, record->len + 2);
    buf_add_char(&list, '[');
    buf_add(&list, record->data, record->len);
    buf_add_char(&list, ']');
    if (buf_check(&list, "the parameters", NULL) == 0)
        exchange_send(&m->exchange, "AD", list.data, list.len);
    buf_fini(&list);
}

/* A new trial with the parameters of that one, on top of maxTrialNumber. */
static int
begin_again(struct manager *m, uint64_t number, struct buf *reply,
            struct err *err)
{
    struct trial *t = NULL;
    struct suggestion s;
    struct buf record;
    char id[32];

    if (read_record(m, number, &s, err) != 0)
        return -1;
    snprintf(id, sizeof id, "%llu", (unsigned long long)free_id(m));
    buf_init(&record, 2 * RECORD_MAX);
    buf_printf(&record,
               "{\"parameter_id\": %s, \"parameter_source\": \"" PAST_REPEATED
               "\", "
               "\"parameters\": %s, \"parameter_index\": 0}",
               id, s.parameters);
    if (buf_check(&record, "the parameters", err) == 0)
        t = trial_new(m->n_trials, buf_text(&record), record.len, id,
                      s.parameters);
    suggestion_fini(&s);
    if (t != NULL) {
        tell_dispatcher(m, &record);
        buf_printf(reply, "\"%s\"", t->id);
        m->n_trials++;
        manager_taken(m, id);
        scheduler_found(&m->scheduler, true);
        running_take(m, t);
    }
    buf_fini(&record);
    return t != NULL ? 0 : err_set(err, ERR_MEMORY, "out of memory");
}

/* -1: it cannot be kept. */
static int
raise_limit(struct manager *m, uint64_t n, struct err *err)
{
    uint64_t most = m->scheduler.max_trials;

    return most == 0 ? 0 : coordinator_limit(m, most + n, 0, err);
}

int
commands_retry(struct manager *m, struct jval request, struct buf *reply,
               struct err *err)
{
    struct jval list;
    size_t n;

    if (m->lockstep.on)
        return err_set(err, ERR_INPUT,
                       "retry: not in a deterministic experiment, whose course "
                       "no clock may decide");
    if (m->phase != PHASE_RUNNING || m->end_known)
        return err_set(err, ERR_INPUT, "the experiment takes no more trials");
    if (read_trials(m, request, &list, check_again, err) != 0)
        return -1;
    n = jval_count(list);
    if (raise_limit(m, n, err) != 0)
        return -1;
    buf_add_text(reply, "{\"trials\": [");
    for (size_t i = 0; i < n; i++) {
        uint64_t number = 0;

        jval_uint(jval_at(list, i), &number);
        buf_add_text(reply, i > 0 ? ", " : "");
        if (begin_again(m, number, reply, err) != 0)
            return -1;
    }
    buf_add_text(reply, "]}");
    return 0;
}
