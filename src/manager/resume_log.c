/* SPDX-License-Identifier: MIT */
#include "manager/resume_log.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "history/history.h"
#include "json.h"
#include "log/record.h"
#include "manager/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CODE_SIZE 2
#define RECORD_TEXT_MAX ((size_t)64 << 20)

static void
logged_trial_free(struct logged_trial *t)
{
    free(t->id);
    free(t->parameter_id);
    free(t->record);
    free(t->event);
    reported_clear(&t->latest);
    reported_clear(&t->final);
    free(t);
}

void
resume_log_fini(struct resume_log *log)
{
    while (log->first != NULL) {
        struct logged_trial *t = log->first;

        log->first = t->next;
        logged_trial_free(t);
    }
    map_fini(&log->by_parameter);
    map_fini(&log->by_id);
    idset_fini(&log->ended);
    free(log->last_sent.id);
    free(log->last_sent.payload);
    *log = (struct resume_log){0};
}

static struct logged_trial *
add_trial(struct resume_log *log, const char *parameter_id)
{
    struct logged_trial *t = calloc(1, sizeof *t);

    if (t == NULL || (t->parameter_id = strdup(parameter_id)) == NULL ||
        map_put(&log->by_parameter, parameter_id, strlen(parameter_id), t) !=
            0) {
        if (t != NULL)
            logged_trial_free(t);
        log->failed = true;
        return NULL;
    }
    t->previous = log->last;
    *(log->last != NULL ? &log->last->next : &log->first) = t;
    log->last = t;
    return t;
}

static struct logged_trial *
get_trial(struct resume_log *log, const char *parameter_id)
{
    struct logged_trial *t =
        map_get(&log->by_parameter, parameter_id, strlen(parameter_id));

    return t != NULL ? t : add_trial(log, parameter_id);
}

static void
set_text(struct resume_log *log, char **to, const char *text, size_t len)
{
    free(*to);
    *to = strndup(text, len);
    if (*to == NULL)
        log->failed = true;
}

/* Keeps the record of a trial that an AD names: it may come in no TR, and stand
 * in this AD alone while the trial has no folder, or what is left of one. */
static void
keep_added(struct resume_log *log, struct logged_trial *t, struct jval record)
{
    struct buf text;

    buf_init(&text, RECORD_TEXT_MAX);
    jval_write(record, &text);
    if (buf_check(&text, "a record", NULL) == 0)
        set_text(log, &t->record, text.data, text.len);
    else
        log->failed = true;
    buf_fini(&text);
}

bool
resume_log_gave(const struct resume_log *log, const char *parameter_id)
{
    const struct logged_trial *t =
        map_get(&log->by_parameter, parameter_id, strlen(parameter_id));

    return t != NULL && (t->added || t->record != NULL);
}

/* Gives the trial its trial_job_id, which is known from its first start on. */
static void
set_id(struct resume_log *log, struct logged_trial *t, const char *id)
{
    if (t->id != NULL)
        return;
    set_text(log, &t->id, id, strlen(id));
    if (map_put(&log->by_id, id, strlen(id), t) != 0)
        log->failed = true;
}

/* The trial of a fact, by its trial_job_id, or, the first time, by its
 * parameters.  NULL: it was forgotten, or is not known. */
static struct logged_trial *
find_trial(struct resume_log *log, const struct history_fact *f)
{
    struct logged_trial *t = map_get(&log->by_id, f->job, strlen(f->job));
    uint64_t number;

    if (t != NULL || f->trial == NULL || f->trial->suggested.id == NULL ||
        (number_parse_u64(f->job, strlen(f->job), &number) &&
         idset_has(&log->ended, number)))
        return t;
    t = get_trial(log, f->trial->suggested.id);
    if (t != NULL)
        set_id(log, t, f->job);
    return t;
}

static void
add_start(struct resume_log *log, const struct history_fact *f)
{
    struct logged_trial *t = find_trial(log, f);

    if (t == NULL)
        return;
    t->started = true;
    t->interrupted = false;
    if (f->attempt.number > t->attempt) {
        t->attempt = f->attempt.number;
        t->sent = (struct metrics_count){0};
        reported_clear(&t->final);
    }
    if (f->attempt.number == 0)
        log->last_sent.asked = true;
}

/* Takes a frame as the last one that was sent.  A frame that is sent again,
 * since its answer was not known, changes nothing. */
static void
add_sent(struct resume_log *log, const struct history_fact *f)
{
    const struct last_sent *before = &log->last_sent;

    if (before->payload != NULL && before->len == f->len &&
        memcmp(before->payload, f->payload, f->len) == 0)
        return;
    set_text(log, &log->last_sent.id, f->job, strlen(f->job));
    set_text(log, &log->last_sent.payload, f->payload, f->len);
    log->last_sent.len = f->len;
    log->last_sent.end = f->kind == HISTORY_ENDED;
    log->last_sent.asked = false;
}

static void
count_metric(struct metrics_count *c, const struct history_metric *m)
{
    uint64_t *n = m->final ? &c->finals : &c->intermediates;

    if (m->sequence >= *n)
        *n = m->sequence + 1;
}

/* Of several values the number is read where their names are known. */
static void
keep_value(struct reported *r, const struct history_fact *f)
{
    bool has_number = f->metric.n_values > 0;
    char *said = history_said(f);

    if (has_number || (said != NULL && said[0] == '{'))
        reported_set(r, has_number ? f->metric.values[0].value : (double)NAN,
                     said != NULL ? said : "", said != NULL ? strlen(said) : 0);
    free(said);
}

static void
add_metric(struct resume_log *log, const struct history_fact *f)
{
    struct logged_trial *t = map_get(&log->by_id, f->job, strlen(f->job));
    const struct history_metric *m = &f->metric;

    if (t != NULL && m->standing == HISTORY_COUNTS && !m->final)
        keep_value(&t->latest, f);
    if (t != NULL && t->attempt == m->attempt) {
        count_metric(&t->sent, m);
        if (m->standing == HISTORY_COUNTS && m->final && !t->final.given)
            keep_value(&t->final, f);
    }
    if (t != NULL)
        count_metric(&t->all, m);
    if (!m->final) {
        add_sent(log, f);
        log->last_sent.sequence = m->sequence;
    }
}

static void
add_end(struct resume_log *log, const struct history_fact *f)
{
    struct logged_trial *t = find_trial(log, f);
    uint64_t number;

    if (f->awaited)
        add_sent(log, f);
    if (t != NULL && t->event == NULL)
        set_text(log, &t->event, f->end, strlen(f->end));
    t = map_get(&log->by_id, f->job, strlen(f->job));
    if (t == NULL || !number_parse_u64(t->id, strlen(t->id), &number) ||
        number > RESULTS_TRIAL_MAX)
        return;
    if (idset_add(&log->ended, number) != 0)
        log->failed = true;
}

/* Takes a request, or a frame about the experiment as a whole. */
static void
add_record(struct resume_log *log, const struct record *r)
{
    const char *code =
        r->kind == RECORD_IN && r->len >= CODE_SIZE ? r->payload : "  ";

    if (r->kind == RECORD_SEGMENT)
        log->front_dropped = log->space = true;
    if (memcmp(code, "GE", CODE_SIZE) == 0)
        log->last_sent.asked = true;
    if (memcmp(code, "IN", CODE_SIZE) == 0)
        log->space = true, log->imports = 0;
    if (memcmp(code, "FD", CODE_SIZE) == 0)
        log->imports++;
}

/* Whether a trial that is recorded ran these parameters. */
static bool
has_run(const struct resume_log *log, const char *id)
{
    uint64_t number;

    return log->recorded != NULL && number_parse_u64(id, strlen(id), &number) &&
           idset_has(&log->recorded->parameters, number);
}

void
resume_log_add(struct resume_log *log, const struct history_fact *f)
{
    struct logged_trial *t;

    log->any = true;
    switch (f->kind) {
    case HISTORY_RECORD:
        add_record(log, f->record);
        break;
    case HISTORY_SUGGESTED:
        t = get_trial(log, f->suggestion->id);
        if (t != NULL)
            set_text(log, &t->record, f->payload, f->len);
        break;
    case HISTORY_ADDED:
        t = has_run(log, f->suggestion->id) ? NULL
                                            : get_trial(log, f->suggestion->id);
        if (t != NULL) {
            t->added = true;
            keep_added(log, t, f->object);
        }
        break;
    case HISTORY_BEGUN:
        if (f->runs)
            add_start(log, f);
        break;
    case HISTORY_REPORTED:
        add_metric(log, f);
        break;
    case HISTORY_DECIDED:
        t = map_get(&log->by_id, f->job, strlen(f->job));
        if (t != NULL && strcmp(f->decision.what, "release") == 0)
            t->released = true;
        break;
    case HISTORY_EXITED:
        t = map_get(&log->by_id, f->job, strlen(f->job));
        if (t != NULL && f->status != NULL && f->attempt.number == t->attempt)
            t->interrupted = strcmp(f->status, STATUS_INTERRUPTED) == 0;
        break;
    case HISTORY_ENDED:
        add_end(log, f);
        break;
    case HISTORY_RESUMED:
    case HISTORY_NOTE:
        break;
    }
}

/* Reads "NUMBER" up to its end mark, as a manager writes it. */
static bool
read_number(const char *at, const char *end, char mark, uint64_t *out)
{
    const char *to = memchr(at, mark, (size_t)(end - at));

    return to != NULL && number_parse_u64(at, (size_t)(to - at), out) &&
           *out <= RESULTS_TRIAL_MAX;
}

/* Whether a record tells of a trial that is recorded, or suggests what one ran,
 * as we write it; its end is taken. */
static bool
is_recorded(void *ctx, const struct record *r)
{
    static const char id[] = "TR{\"parameter_id\""
                             ": ",
                      job[] = "\"trial_job_id\""
                              ": \"";
    const size_t id_len = sizeof id - 1, job_len = sizeof job - 1;
    struct resume_log *log = ctx;
    const char *p = r->payload, *end = p + r->len, *at;
    uint64_t number;

    if (r->kind == RECORD_TUNER)
        return r->len > id_len && memcmp(p, id, id_len) == 0 &&
               read_number(p + id_len, end, ',', &number) &&
               idset_has(&log->recorded->parameters, number);
    if (r->kind != RECORD_IN || r->len < CODE_SIZE + 1 ||
        (memcmp(p, "ME", CODE_SIZE) != 0 && memcmp(p, "NT", CODE_SIZE) != 0 &&
         memcmp(p, "EN", CODE_SIZE) != 0))
        return false;
    at = memmem(p, r->len, job, job_len);
    if (at == NULL || !read_number(at + job_len, end, '"', &number) ||
        !idset_has(&log->recorded->trials, number))
        return false;
    log->any = true;
    if (p[0] == 'E' && idset_add(&log->ended, number) != 0)
        log->failed = true;
    return true;
}

/* Whether the log lacks the end of a trial that is recorded. */
static bool
lacks_end(const struct resume_log *log)
{
    const struct idset *all = &log->recorded->trials;

    for (uint64_t n = 0; n < all->n_words * 64; n++)
        if (idset_has(all, n) && !idset_has(&log->ended, n))
            return true;
    return false;
}

int
resume_log_load(struct resume_log *log, const char *folder, struct err *err)
{
    struct history_reader *h = history_open(folder, err);
    struct history_fact fact;
    int rc = h == NULL ? -1 : 1;

    if (h != NULL)
        history_read_plainly(h);
    if (h != NULL && log->recorded != NULL)
        history_leave_out_records(h, is_recorded, log);
    while (rc == 1 && (rc = history_next(h, &fact, err)) == 1)
        resume_log_add(log, &fact);
    history_close(h);
    if (rc == 0 && log->failed)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (rc != 0 || log->recorded == NULL ||
        !(log->front_dropped || lacks_end(log)))
        return rc;
    resume_log_fini(log); /* what was left out is needed */
    return resume_log_load(log, folder, err);
}
