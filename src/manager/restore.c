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
 * Where first segments of the log were dropped see earlier_trial.c.
 * Metrics that the log has are not sent again; those that are there twice all
 * the same do no harm, being known by their positions.
 * Parameters that came and are in no folder the dispatcher sends again; those
 * that its log has lost it is told of, in AD. */
#include "manager/restore.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/idset.h"
#include "core/number.h"
#include "manager/earlier_trial.h"
#include "manager/imports.h"
#include "manager/origin.h"
#include "manager/parameters.h"
#include "manager/resume_log.h"
#include "manager/results.h"
#include "manager/state.h"
#include "manager/trial_folder.h"
#include "manager/trial_step.h"
#include "pack/packs.h"
#include "runner/runner.h"
#include "trial/files.h"
#include "trial/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STOP_MAX 65536
#define RECORDS_MAX ((size_t)48 << 20) /* below what a frame can be */

struct restoring {
    struct manager *m;
    struct results *results;
    struct results_numbers recorded;
    struct resume_log log;
    struct earlier_trials trials;
    struct packs *packs; /* where their files are */
};

static void
append(struct manager *m, struct trial *t)
{
    live_add(&m->live, t);
    origin_pin(&m->checkpoints, t);
    scheduler_restored(&m->scheduler, true);
}

/* It was started, whether its manager came to tell that or not. */
static void
tell_started(struct manager *m, struct trial *t)
{
    origin_unpin(&m->checkpoints, &m->progress, t);
    if (!t->past.start_told && !t->past.end_told)
        attempts_note(&m->attempts, "started", t,
                      (struct event_field[]){
                          EVENT_COUNT("pid", (uint64_t)run_pid(t->run)),
                          EVENT_FIELDS_END});
}

static void
restore_living(struct manager *m, struct trial *t)
{
    struct err err = {0};

    live_step(&m->live, t, TRIAL_ON_RUN);
    tell_started(m, t);
    m->attempts.recovered.adopted++;
    resources_adopt(&m->resources, t);
    running_since(&m->running, t, t->run->started_ns);
    m->delivery.ops->began(&m->delivery, t);
    if (launch_has_programs(&m->launch) &&
        unanswered_open(&t->unanswered, t->folder, m->needs.elsewhere, &err) !=
            0)
        progress_warn(&m->progress, "tunepipe: warning: %s", err.text);
    running_watch(&m->running, t);
    reading_begin(&m->reading, t);
    if (t->stop != STOP_NOT)
        running_press_late(&m->running, t);
}

static void
restore_ended(struct manager *m, struct trial *t)
{
    struct err err = {0};

    if (t->folder != NULL && outcome_read(t->folder, &t->outcome, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    if (t->folder != NULL && t->outcome.kind == OUTCOME_LOST &&
        !t->past.end_told)
        launch_clear(&m->launch, t, false);
    if (t->folder != NULL && !t->past.end_told && !t->past.recorded &&
        outcome_is_torn(t->folder, &t->outcome))
        t->outcome.kind = OUTCOME_LOST;
    live_step(&m->live, t, TRIAL_ON_RUN);
    live_step(&m->live, t, TRIAL_ON_EXIT);
    attempts_ended(&m->attempts, t);
    if (t->folder != NULL)
        resources_adopt(&m->resources, t);
    if (!t->past.interrupted && attempts_unseen(&m->attempts, t))
        t->stop = STOP_INTERRUPT;
    else if (t->past.interrupted || attempts_unwitnessed(&m->attempts, t)) {
        attempts_restart_or_leave(&m->attempts, t);
        return;
    }
    if (t->stop == STOP_INTERRUPT && t->past.end == TRIAL_WAITING)
        m->attempts.recovered.again++;
    else
        m->attempts.recovered.finished++;
    tell_started(m, t);
    if (!t->past.end_told)
        m->delivery.ops->began(&m->delivery, t);
    unread_add(&m->reading, t); /* settle() reads it to its end */
}

/* Whether the power has left less of its files than there was. */
static bool
has_lost_reports(const struct trial *t)
{
    struct outcome o;

    return t->folder == NULL || outcome_read(t->folder, &o, NULL) != 0 ||
           o.kind == OUTCOME_LOST || outcome_is_torn(t->folder, &o);
}

/* The result of a trial that has no files stands there alone. */
static void
tell_recorded(struct manager *m, struct trial *t, const struct result *result)
{
    if (t->past.end_told || t->past.told.finals > 0 ||
        trial_state_of(result->status) != TRIAL_SUCCEEDED || !result->has_value)
        return;
    tell_started(m, t); /* or it is not known whose it is, should we die now */
    t->past.start_told = true;
    reported_set(&t->final, result->value, result->values,
                 strlen(result->values));
    reading_tell(&m->reading, t, &t->final);
}

/* Nobody knows whose the folders of its attempts are, the newest and those
 * before: its parameters come again, and another trial may have its number. */
static void
discard(const struct restoring *r, const struct earlier_trial *e)
{
    struct trial t = {.attempt = e->attempt};

    memcpy(t.id, e->id, sizeof t.id);
    while (trial_place(&t, r->m->folder.path, NULL) == 0) {
        bool there = access(t.folder, F_OK) == 0;

        folder_remove(t.folder);
        if (t.attempt == 0)
            break;
        t.attempt = there ? t.attempt - 1 : 0;
    }
    free(t.folder);
}

/* The files of a trial are needed again: they come out of the pack. */
static int
unpack(const struct restoring *r, struct earlier_trial *e, struct err *err)
{
    struct trial t = {.attempt = 0};
    int rc = 0;

    if (!e->packed)
        return 0;
    memcpy(t.id, e->id, sizeof t.id);
    for (; rc == 0 && t.attempt <= e->attempt; t.attempt++) {
        rc = trial_place(&t, r->m->folder.path, err);
        if (rc == 0 && packs_is_packed(r->packs, t.folder))
            rc = packs_unpack(r->packs, t.folder, t.folder, true, err);
    }
    free(t.folder);
    if (rc == 0 || err->code != ERR_INPUT)
        return rc;
    progress_warn(&r->m->progress, "tunepipe: warning: trial %s: %s", e->id,
                  err->text);
    e->has_folder &= e->in_place; /* what is damaged is lost */
    err_clear(err);
    return 0;
}

/* Whether it was told to pause. */
static bool
is_told_to_pause(const struct restoring *r, const struct earlier_trial *e)
{
    static const char pause[] = TRIAL_STOP_PAUSE " ";
    struct trial t = {.attempt = e->attempt};
    char *path = NULL;
    struct buf text;
    bool told;

    memcpy(t.id, e->id, sizeof t.id);
    buf_init(&text, RECORDS_MAX);
    told = trial_place(&t, r->m->folder.path, NULL) == 0 &&
           (path = file_join(t.folder, TRIAL_STOP)) != NULL &&
           packs_read(r->packs, path, STOP_MAX, &text, NULL) == 0 &&
           strncmp(buf_text(&text), pause, sizeof pause - 1) == 0;
    buf_fini(&text);
    free(path);
    free(t.folder);
    return told;
}

/* As in checkpoints_ended(). */
static bool
was_paused(const struct restoring *r, const struct earlier_trial *e)
{
    enum trial_state state = trial_state_of(e->result->status);

    return state == TRIAL_PAUSED ||
           (state == TRIAL_SUCCEEDED && e->has_folder &&
            r->m->checkpoints.n > 0 && is_told_to_pause(r, e));
}

/* Since when nothing of ours comes into the folder, or goes. */
static int64_t
left_ago(const struct manager *m, const struct earlier_trial *e)
{
    struct trial t = {.attempt = e->attempt};
    struct stat st;
    int64_t ago = 0;

    memcpy(t.id, e->id, sizeof t.id);
    if (trial_place(&t, m->folder.path, NULL) == 0 && lstat(t.folder, &st) == 0)
        ago = clock_realtime_ns() -
              ((int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    free(t.folder);
    return ago > 0 ? ago : 0;
}

/* What is in place of a trial that ended long ago may still be to be packed. */
static void
pack_later(struct manager *m, const struct earlier_trial *e)
{
    enum trial_state state = trial_state_of(e->result->status);

    if (e->in_place)
        packing_found(&m->packing, e->number, e->attempt,
                      trial_is_failure(state) || state == TRIAL_TIMED_OUT,
                      left_ago(m, e));
}

/* Its end is recorded, and told. */
static void
restore_done(void *ctx, uint64_t number, const struct result *result)
{
    struct manager *m = ctx;

    ending_count(&m->ending, result, result->trial);
    m->attempts.recovered.finished++;
    live_note(&m->live, number, result->parameter_id);
    scheduler_restored(&m->scheduler, false);
}

static int
restore_trial(struct restoring *r, struct earlier_trial *e, struct err *err)
{
    struct manager *m = r->m;
    struct trial *t;

    if (e->result != NULL && e->end_told) {
        restore_done(m, e->number, e->result);
        checkpoints_ended_before(&m->checkpoints, e->number, was_paused(r, e));
        pack_later(m, e);
        return 0;
    }
    if (e->result != NULL)
        ending_count(&m->ending, e->result, e->id);
    if (unpack(r, e, err) != 0)
        return -1;
    t = earlier_trial_restore(e, m->x, m->folder.path, r->packs);
    if (t == NULL) {
        discard(r, e);
        return 0;
    }
    if ((e->has_folder || !launch_has_programs(&m->launch)) &&
        trial_place(t, m->folder.path, err) != 0) {
        trial_free(t);
        return -1;
    }
    failing_found(t, m->folder.path, !launch_has_programs(&m->launch));
    append(m, t);
    if (e->result != NULL &&
        (!launch_has_programs(&m->launch) || has_lost_reports(t)))
        tell_recorded(m, t, e->result);
    if (t->folder != NULL)
        trial_folder_stop(t);
    if (t->folder != NULL &&
        trial_folder_read_origin(t)) /* it was given that */
        origin_unpin(&m->checkpoints, &m->progress, t);
    if (t->folder != NULL && !t->past.end_told && !t->past.recorded &&
        preparing_restore(&m->preparing, t))
        return 0;
    if (t->folder != NULL && !t->past.end_told && !t->past.recorded &&
        launch_adopt(&m->launch, t, false))
        restore_living(m, t);
    else
        restore_ended(m, t);
    return 0;
}

/* Counts an end on record for the goals, in the order of the results, so that a
 * goal is reached as it was or would have been. */
static bool
count_end(void *ctx, const struct result *item)
{
    struct manager *m = ctx;
    struct goals_trial end = {.trial = item->trial,
                              .counts =
                                  ending_counts(trial_state_of(item->status)),
                              .has_value = item->has_value,
                              .value = item->value,
                              .budget = item->budget,
                              .seconds = item->duration_s};
    struct objective_values values;
    double value;

    if (m->goals.of != NULL && results_value(item, &value) &&
        results_values(m->goals.of, item, &values))
        end.values = &values;
    goals_trial_ended(&m->goals, &end);
    return true;
}

/* Whether of a trial that has ended no more is wanted than its result: no
 * attempt of it is looked into, and it has no checkpoint to be given or
 * deleted. */
static bool
needs_results_alone(const struct manager *m)
{
    char *folder = file_join(m->folder.path, TRIAL_CHECKPOINTS);
    bool empty = folder != NULL && folder_is_empty(folder);

    free(folder);
    return empty && m->x->max_trial_hours <= 0 && !m->x->deterministic;
}

/* Counts the time of the attempts before the last one, which no result has: it
 * stands in the exit files of their folders. */
static void
count_attempts(const struct restoring *r, const struct earlier_trial *e)
{
    struct manager *m = r->m;
    struct trial before = {.attempt = e->attempt};
    bool there = true;

    memcpy(before.id, e->id, sizeof before.id);
    while (before.attempt > 0 && there) {
        struct outcome o;

        before.attempt--;
        if (trial_place(&before, m->folder.path, NULL) != 0)
            return;
        there = packs_has(r->packs, before.folder);
        if (outcome_read_of(r->packs, before.folder, &o, NULL) == 0 &&
            o.started_ns > 0 && o.ended_ns > o.started_ns)
            goals_trial_ended(
                &m->goals,
                &(struct goals_trial){
                    .trial = before.id,
                    .seconds = (double)(o.ended_ns - o.started_ns) / 1e9});
    }
    free(before.folder);
}

static int
read_witnesses(struct restoring *r, struct err *err)
{
    struct manager *m = r->m;

    if (supervisor_await_earlier(m->folder.path, err) != 0)
        return -1;
    r->trials.done = restore_done;
    r->trials.each = count_end;
    r->trials.ctx = m;
    r->results = results_load(m->folder.path, RESULTS_NONE, err);
    if (r->results == NULL)
        return -1;
    r->trials.results_alone = needs_results_alone(m);
    if (r->trials.results_alone) {
        if (results_numbers(m->folder.path, &r->recorded, err) != 0)
            return -1;
        r->log.recorded = &r->recorded;
    }
    if (resume_log_load(&r->log, m->folder.path, err) != 0 ||
        earlier_trials_gather(&r->trials, r->results, &r->log, m->folder.path,
                              m->scheduler.concurrency + m->scheduler.ahead,
                              err) != 0)
        return -1;
    for (size_t i = 0; m->x->max_trial_hours > 0 && i < r->trials.n; i++)
        count_attempts(r, r->trials.items[i]);
    return 0;
}

/* What was given out and the log has lost, as after the loss of power: the
 * tuner is to know of it before it hears what became of it. */
static void
send_unlogged(const struct restoring *r)
{
    struct manager *m = r->m;
    struct buf list;

    buf_init(&list, RECORDS_MAX);
    for (size_t i = 0; i < r->trials.n; i++) {
        const struct earlier_trial *e = r->trials.items[i];
        char *record =
            earlier_trial_unlogged(e, &r->log, m->folder.path, r->packs);

        if (record != NULL) {
            buf_add_text(&list, list.len == 0 ? "[" : ", ");
            buf_add_text(&list, record);
        }
        free(record);
    }
    if (list.len > 0) {
        buf_add_char(&list, ']');
        if (buf_check(&list, "the trials that the log lacks", NULL) == 0)
            exchange_send(&m->exchange, "AD", list.data, list.len);
    }
    buf_fini(&list);
}

/* Given to trials that were not begun: others may have their numbers now. */
static void
forget_gifts(const struct restoring *r)
{
    struct checkpoints *c = &r->m->checkpoints;
    char id[24];

    for (size_t i = c->n; i > 0; i--) {
        uint64_t number;

        if (i > c->n)
            continue; /* they went with another of their trial */
        number = c->items[i - 1].trial;
        snprintf(id, sizeof id, "%05llu", (unsigned long long)number);
        if (map_get(&r->trials.by_id, id, strlen(id)) == NULL)
            checkpoints_delete(c, number);
    }
}

/* What the user added, or wants once more, and was not begun yet. */
static void
restore_custom(const struct restoring *r)
{
    struct manager *m = r->m;

    for (const struct logged_trial *p = r->log.first; p != NULL; p = p->next) {
        struct suggestion s;
        struct trial *t;

        if (!p->added || p->id != NULL || p->record == NULL ||
            live_knows_id(&m->live, p->parameter_id, NULL) ||
            suggestion_read(p->record, strlen(p->record), &s, NULL) != 0)
            continue;
        t = trial_of(m->live.n_numbers, p->record, strlen(p->record), &s);
        suggestion_fini(&s);
        if (t == NULL)
            continue;
        append(m, t);
        placing_add(&m->placing, t);
    }
}

static int
restore_experiment(struct restoring *r, struct err *err)
{
    struct manager *m = r->m;
    uint64_t n;

    m->exchange.held = true;
    m->checkpoints.deferred = true; /* until it is known what comes again */
    m->delivery.ops->resume(&m->delivery, &r->log);
    if (!r->log.space)
        dispatcher_send_space(&m->dispatcher);
    else if (!r->log.front_dropped &&
             imports_send_kept(&m->exchange, m->folder.path, r->log.imports,
                               err) != 0)
        return -1;
    if (imports_accept(&m->exchange, m->folder.path, &n, err) != 0)
        return -1;
    if (n > 0)
        progress_say(&m->progress, "tunepipe: %llu trials are imported",
                     (unsigned long long)n);
    send_unlogged(r);
    for (size_t i = 0; i < r->trials.n; i++)
        if (restore_trial(r, r->trials.items[i], err) != 0)
            return -1;
    forget_gifts(r);
    restore_custom(r);
    origin_release(&m->checkpoints, &m->live.by_number, &r->log);
    if (m->options->retry_failed && repeat_all(&m->repeat, err) != 0)
        return -1;
    if (!r->log.any && !m->folder.begun) /* `tunepipe run --batch` made it */
        return dispatcher_resume(&m->dispatcher, err);
    progress_say(&m->progress,
                 "tunepipe: resumed: %llu trials finished, %llu adopted, "
                 "%llu started again",
                 (unsigned long long)m->attempts.recovered.finished,
                 (unsigned long long)m->attempts.recovered.adopted,
                 (unsigned long long)m->attempts.recovered.again);
    if (!r->log.any)
        progress_say(&m->progress,
                     "tunepipe: the dispatcher died before it had recorded "
                     "anything: a new session begins");
    return dispatcher_resume(&m->dispatcher, err);
}

int
restore(struct manager *m, struct err *err)
{
    struct restoring r = {.m = m, .packs = packs_new()};
    int rc = r.packs == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                             : read_witnesses(&r, err);

    if (rc == 0)
        rc = restore_experiment(&r, err);
    if (rc == 0) {
        m->folder.counted = r.results;
        r.results = NULL;
    }
    earlier_trials_fini(&r.trials);
    resume_log_fini(&r.log);
    results_numbers_fini(&r.recorded);
    results_free(r.results);
    packs_free(r.packs);
    return rc;
}
