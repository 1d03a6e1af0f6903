/* SPDX-License-Identifier: MIT */
#include "manager/past.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "json.h"
#include "log/log.h"
#include "manager/parameters.h"

#include <stdlib.h>
#include <string.h>

#define CODE_SIZE 2
#define RECORD_TEXT_MAX ((size_t)64 << 20)
#define ID_TEXT_MAX 65536

static void
past_trial_free(struct past_trial *t)
{
    free(t->id);
    free(t->parameter_id);
    free(t->record);
    free(t->event);
    free(t);
}

void
past_fini(struct past *p)
{
    while (p->first != NULL) {
        struct past_trial *t = p->first;

        p->first = t->next;
        past_trial_free(t);
    }
    map_fini(&p->by_parameter);
    map_fini(&p->by_id);
    free(p->told.id);
    free(p->told.payload);
    *p = (struct past){0};
}

const struct past_trial *
past_find(const struct past *p, const char *id)
{
    return map_get(&p->by_id, id, strlen(id));
}

static struct past_trial *
append(struct past *p, const char *parameter_id)
{
    struct past_trial *t = calloc(1, sizeof *t);

    if (t == NULL || (t->parameter_id = strdup(parameter_id)) == NULL ||
        map_put(&p->by_parameter, parameter_id, strlen(parameter_id), t) != 0) {
        if (t != NULL)
            past_trial_free(t);
        p->failed = true;
        return NULL;
    }
    if (p->last != NULL)
        p->last->next = t;
    else
        p->first = t;
    p->last = t;
    return t;
}

static struct past_trial *
get(struct past *p, const char *parameter_id)
{
    struct past_trial *t =
        map_get(&p->by_parameter, parameter_id, strlen(parameter_id));

    return t != NULL ? t : append(p, parameter_id);
}

static void
set_text(struct past *p, char **to, const char *text, size_t len)
{
    free(*to);
    *to = strndup(text, len);
    if (*to == NULL)
        p->failed = true;
}

static void
take_trial(struct past *p, const char *payload, size_t len)
{
    struct suggestion s;
    struct past_trial *t;

    if (suggestion_read(payload, len, &s, NULL) != 0)
        return;
    t = get(p, s.id);
    if (t != NULL)
        set_text(p, &t->record, payload, len);
    suggestion_fini(&s);
}

/* Nobody gives these parameters again: the user's wish stands here alone until
 * the trial has a folder. */
static void
keep_repeated(struct past *p, struct past_trial *t, struct jval record)
{
    const char *source = "";
    struct buf text;
    struct jval v;

    if (jval_get(record, "parameter_source", &v))
        jval_string(v, &source, NULL);
    if (strcmp(source, PAST_REPEATED) != 0)
        return;
    buf_init(&text, RECORD_TEXT_MAX);
    jval_write(record, &text);
    if (buf_check(&text, "a record", NULL) == 0)
        set_text(p, &t->record, text.data, text.len);
    else
        p->failed = true;
    buf_fini(&text);
}

static void
take_one_added(struct past *p, struct jval entry)
{
    struct past_trial *t = NULL;
    struct jval id;
    struct buf text;

    buf_init(&text, ID_TEXT_MAX);
    if (jval_get(entry, "parameter_id", &id)) {
        jval_write(id, &text);
        t = text.failed ? NULL : get(p, buf_text(&text));
    }
    if (t != NULL) {
        t->added = true;
        keep_repeated(p, t, entry);
    }
    buf_fini(&text);
}

/* A list, or one alone. */
static void
take_added(struct past *p, const char *payload, size_t len)
{
    struct json *doc = json_parse(payload, len, JSON_STRICT, NULL);
    struct jval all;

    if (doc == NULL)
        return;
    all = json_root(doc);
    if (jval_type(all) == JSON_ARRAY)
        for (size_t i = 0; i < jval_count(all); i++)
            take_one_added(p, jval_at(all, i));
    else
        take_one_added(p, all);
    json_free(doc);
}

bool
past_gave(const struct past *p, const char *parameter_id)
{
    const struct past_trial *t =
        map_get(&p->by_parameter, parameter_id, strlen(parameter_id));

    return t != NULL && (t->added || t->record != NULL);
}

static void
name(struct past *p, struct past_trial *t, const char *id)
{
    if (t->id != NULL)
        return;
    set_text(p, &t->id, id, strlen(id));
    if (map_put(&p->by_id, id, strlen(id), t) != 0)
        p->failed = true;
}

/* The trial of a payload with a trial_job_id and, somewhere, a parameter_id. */
static struct past_trial *
find(struct past *p, const char *id, struct jval holder)
{
    struct past_trial *t = map_get(&p->by_id, id, strlen(id));
    struct jval parameter_id;
    struct buf text;

    if (t != NULL || !jval_get(holder, "parameter_id", &parameter_id))
        return t;
    buf_init(&text, ID_TEXT_MAX);
    jval_write(parameter_id, &text);
    if (buf_check(&text, "", NULL) == 0)
        t = get(p, buf_text(&text));
    if (t != NULL)
        name(p, t, id);
    buf_fini(&text);
    return t;
}

static void
take_exit(struct past *p, struct jval root, const char *id)
{
    struct past_trial *t = map_get(&p->by_id, id, strlen(id));
    uint64_t attempt = 0;
    struct jval v;

    if (jval_get(root, "attempt", &v))
        jval_uint(v, &attempt);
    if (t != NULL && attempt == t->attempt)
        t->interrupted =
            strcmp(jval_text_of(root, "status"), PAST_INTERRUPTED) == 0;
}

static void
take_note(struct past *p, struct jval root, const char *id)
{
    const char *event = "";
    struct past_trial *t;
    uint64_t attempt = 0;
    struct jval v;

    if (!jval_get(root, "event", &v) || !jval_string(v, &event, NULL))
        return;
    if (strcmp(event, "exited") == 0) {
        take_exit(p, root, id);
        return;
    }
    if (strcmp(event, "started") != 0 || (t = find(p, id, root)) == NULL)
        return;
    if (jval_get(root, "attempt", &v))
        jval_uint(v, &attempt);
    t->started = true;
    t->interrupted = false;
    if (attempt > t->attempt) {
        t->attempt = attempt;
        t->heard = (struct metrics_count){0};
        t->has_final = false;
    }
    if (attempt == 0)
        p->told.asked = true;
}

/* What is told again, since its answer was not known, changes nothing. */
static void
take_told(struct past *p, const char *id, const char *payload, size_t len,
          bool end)
{
    const struct past_told *before = &p->told;

    if (before->payload != NULL && before->len == len &&
        memcmp(before->payload, payload, len) == 0)
        return;
    set_text(p, &p->told.id, id, strlen(id));
    set_text(p, &p->told.payload, payload, len);
    p->told.len = len;
    p->told.end = end;
    p->told.asked = false;
}

/* Only such an end is answered; those that earlier versions told when they were
 * interrupted in lock step are not. */
static bool
is_awaited(struct jval end)
{
    bool sync = false;
    struct jval v;

    return jval_get(end, "sync", &v) && jval_bool(v, &sync) && sync;
}

static void
count(struct metrics_count *c, const struct metric *m)
{
    uint64_t *n = m->type == METRIC_FINAL ? &c->finals : &c->intermediates;

    if (m->sequence >= *n)
        *n = m->sequence + 1;
}

static void
take_final(struct past_trial *t, const struct metric *m)
{
    if (m->type != METRIC_FINAL || !m->has_value || t->has_final)
        return;
    t->has_final = true;
    t->final = m->value;
}

/* They came in the order of their numbers, without those that were bad. */
static void
take_metric(struct past *p, const struct record *r)
{
    const struct frame frame = {.code = "ME",
                                .payload = r->payload + CODE_SIZE,
                                .len = r->len - CODE_SIZE};
    struct command *cmd = command_decode(&frame, r->number, NULL);
    struct past_trial *t;

    if (cmd == NULL)
        return;
    t = map_get(&p->by_id, cmd->metric.job, strlen(cmd->metric.job));
    if (t != NULL && cmd->metric.type == METRIC_PERIODICAL &&
        cmd->metric.has_value) {
        t->has_latest = true;
        t->latest = cmd->metric.value;
    }
    if (t != NULL && t->attempt == cmd->metric.attempt) {
        count(&t->heard, &cmd->metric);
        take_final(t, &cmd->metric);
    }
    if (t != NULL)
        count(&t->all, &cmd->metric);
    if (cmd->metric.type == METRIC_PERIODICAL) {
        take_told(p, cmd->metric.job, frame.payload, frame.len, false);
        p->told.sequence = cmd->metric.sequence;
    }
    command_free(cmd);
}

static void
take_end(struct past *p, struct jval root, const char *id)
{
    struct json *hint = NULL;
    struct past_trial *t;
    const char *text;
    struct jval v;
    size_t len;

    if (jval_get(root, "hyper_params", &v) && jval_string(v, &text, &len))
        hint = json_parse(text, len, JSON_STRICT, NULL);
    t = find(p, id, hint != NULL ? json_root(hint) : root);
    if (t != NULL && t->event == NULL && jval_get(root, "event", &v) &&
        jval_string(v, &text, &len))
        set_text(p, &t->event, text, len);
    json_free(hint);
}

static void
take_decision(struct past *p, const char *payload, size_t len)
{
    struct json *doc = json_parse(payload, len, JSON_STRICT, NULL);
    const char *id = "", *decision = "";
    struct past_trial *t;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "trial_job_id", &v))
        jval_string(v, &id, NULL);
    if (doc != NULL && jval_get(json_root(doc), "decision", &v))
        jval_string(v, &decision, NULL);
    t = map_get(&p->by_id, id, strlen(id));
    if (t != NULL && strcmp(decision, "release") == 0)
        t->released = true;
    json_free(doc);
}

void
past_add(struct past *p, const struct record *r)
{
    const char *payload = r->payload + CODE_SIZE, *id;
    struct json *doc;
    bool note, end;
    struct jval v;

    p->begun = true;
    if (r->len < CODE_SIZE)
        return;
    if (r->kind == RECORD_SEGMENT)
        p->cut = p->space = true;
    if (r->kind == RECORD_TUNER && memcmp(r->payload, "TR", CODE_SIZE) == 0) {
        take_trial(p, payload, r->len - CODE_SIZE);
        return;
    }
    if (r->kind == RECORD_TUNER && memcmp(r->payload, "DT", CODE_SIZE) == 0) {
        take_decision(p, payload, r->len - CODE_SIZE);
        return;
    }
    if (r->kind == RECORD_IN && memcmp(r->payload, "ME", CODE_SIZE) == 0) {
        take_metric(p, r);
        return;
    }
    if (r->kind == RECORD_IN && memcmp(r->payload, "GE", CODE_SIZE) == 0)
        p->told.asked = true;
    if (r->kind == RECORD_IN && memcmp(r->payload, "IN", CODE_SIZE) == 0)
        p->space = true, p->imports = 0;
    if (r->kind == RECORD_IN && memcmp(r->payload, "FD", CODE_SIZE) == 0)
        p->imports++;
    if (r->kind == RECORD_IN && memcmp(r->payload, "AD", CODE_SIZE) == 0)
        take_added(p, payload, r->len - CODE_SIZE);
    note = r->kind == RECORD_IN && memcmp(r->payload, "NT", CODE_SIZE) == 0;
    end = r->kind == RECORD_IN && memcmp(r->payload, "EN", CODE_SIZE) == 0;
    if (!note && !end)
        return;
    doc = json_parse(payload, r->len - CODE_SIZE, JSON_STRICT, NULL);
    if (doc != NULL && jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &id, NULL)) {
        if (note)
            take_note(p, json_root(doc), id);
        else {
            if (is_awaited(json_root(doc)))
                take_told(p, id, payload, r->len - CODE_SIZE, true);
            take_end(p, json_root(doc), id);
        }
    }
    json_free(doc);
}

int
past_load(struct past *p, const char *folder, struct err *err)
{
    struct log_reader *log = log_open_in(folder, 0, err);
    enum log_status status = LOG_DAMAGED;
    struct record r;

    while (log != NULL && (status = log_next(log, &r, err)) == LOG_RECORD)
        past_add(p, &r);
    log_close(log);
    if (status != LOG_DAMAGED && p->failed)
        return err_set(err, ERR_MEMORY, "out of memory");
    return status == LOG_DAMAGED ? -1 : 0;
}
