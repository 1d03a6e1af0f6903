/* SPDX-License-Identifier: MIT */
#include "manager/past.h"

#include "core/buf.h"
#include "core/err.h"
#include "history/history.h"
#include "json.h"
#include "log/record.h"

#include <stdlib.h>
#include <string.h>

#define CODE_SIZE 2
#define RECORD_TEXT_MAX ((size_t)64 << 20)

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

/* The trial of a fact; one that is not known yet is by its parameters. */
static struct past_trial *
find(struct past *p, const struct history_fact *f)
{
    struct past_trial *t = map_get(&p->by_id, f->job, strlen(f->job));

    if (t != NULL || f->trial == NULL || f->trial->suggested.id == NULL)
        return t;
    t = get(p, f->trial->suggested.id);
    if (t != NULL)
        name(p, t, f->job);
    return t;
}

static void
add_start(struct past *p, const struct history_fact *f)
{
    struct past_trial *t = find(p, f);

    if (t == NULL)
        return;
    t->started = true;
    t->interrupted = false;
    if (f->attempt.number > t->attempt) {
        t->attempt = f->attempt.number;
        t->heard = (struct metrics_count){0};
        t->has_final = false;
    }
    if (f->attempt.number == 0)
        p->told.asked = true;
}

/* What is told again, since its answer was not known, changes nothing. */
static void
add_told(struct past *p, const struct history_fact *f)
{
    const struct past_told *before = &p->told;

    if (before->payload != NULL && before->len == f->len &&
        memcmp(before->payload, f->payload, f->len) == 0)
        return;
    set_text(p, &p->told.id, f->job, strlen(f->job));
    set_text(p, &p->told.payload, f->payload, f->len);
    p->told.len = f->len;
    p->told.end = f->kind == HISTORY_ENDED;
    p->told.asked = false;
}

static void
count(struct metrics_count *c, const struct history_metric *m)
{
    uint64_t *n = m->final ? &c->finals : &c->intermediates;

    if (m->sequence >= *n)
        *n = m->sequence + 1;
}

/* They came in the order of their numbers, without those that were bad. */
static void
add_metric(struct past *p, const struct history_fact *f)
{
    struct past_trial *t = map_get(&p->by_id, f->job, strlen(f->job));
    const struct history_metric *m = &f->metric;

    if (t != NULL && !m->final && m->n_values > 0) {
        t->has_latest = true;
        t->latest = m->values[0].value;
    }
    if (t != NULL && t->attempt == m->attempt) {
        count(&t->heard, m);
        if (m->final && m->n_values > 0 && !t->has_final) {
            t->has_final = true;
            t->final = m->values[0].value;
        }
    }
    if (t != NULL)
        count(&t->all, m);
    if (!m->final) {
        add_told(p, f);
        p->told.sequence = m->sequence;
    }
}

static void
add_end(struct past *p, const struct history_fact *f)
{
    struct past_trial *t = find(p, f);

    if (f->awaited)
        add_told(p, f);
    if (t != NULL && t->event == NULL)
        set_text(p, &t->event, f->end, strlen(f->end));
}

/* What the manager asked for, and what it told of the experiment. */
static void
add_record(struct past *p, const struct record *r)
{
    const char *code =
        r->kind == RECORD_IN && r->len >= CODE_SIZE ? r->payload : "  ";

    if (r->kind == RECORD_SEGMENT)
        p->cut = p->space = true;
    if (memcmp(code, "GE", CODE_SIZE) == 0)
        p->told.asked = true;
    if (memcmp(code, "IN", CODE_SIZE) == 0)
        p->space = true, p->imports = 0;
    if (memcmp(code, "FD", CODE_SIZE) == 0)
        p->imports++;
}

void
past_add(struct past *p, const struct history_fact *f)
{
    struct past_trial *t;

    p->any = true;
    switch (f->kind) {
    case HISTORY_RECORD:
        add_record(p, f->record);
        break;
    case HISTORY_SUGGESTED:
        t = get(p, f->suggestion->id);
        if (t != NULL)
            set_text(p, &t->record, f->payload, f->len);
        break;
    case HISTORY_ADDED:
        t = get(p, f->suggestion->id);
        if (t != NULL) {
            t->added = true;
            keep_repeated(p, t, f->object);
        }
        break;
    case HISTORY_BEGUN:
        if (f->runs)
            add_start(p, f);
        break;
    case HISTORY_REPORTED:
        add_metric(p, f);
        break;
    case HISTORY_DECIDED:
        t = map_get(&p->by_id, f->job, strlen(f->job));
        if (t != NULL && strcmp(f->decision.what, "release") == 0)
            t->released = true;
        break;
    case HISTORY_EXITED:
        t = map_get(&p->by_id, f->job, strlen(f->job));
        if (t != NULL && f->status != NULL && f->attempt.number == t->attempt)
            t->interrupted = strcmp(f->status, PAST_INTERRUPTED) == 0;
        break;
    case HISTORY_ENDED:
        add_end(p, f);
        break;
    case HISTORY_RESUMED:
    case HISTORY_NOTE:
        break;
    }
}

int
past_load(struct past *p, const char *folder, struct err *err)
{
    struct history_reader *h = history_open(folder, err);
    struct history_fact fact;
    int rc = h == NULL ? -1 : 1;

    while (rc == 1 && (rc = history_next(h, &fact, err)) == 1)
        past_add(p, &fact);
    history_close(h);
    return rc == 0 && p->failed ? err_set(err, ERR_MEMORY, "out of memory")
                                : rc;
}
