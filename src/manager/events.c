/* SPDX-License-Identifier: MIT */
/* DESIGN.  Listeners stand in a list in the order of their numbers.  Who is
 * removed is only marked and leaves the list when no emit is under way, so
 * that an emit can go on from a listener that removed itself or its
 * neighbour.  An emit looks at no number above the highest that it found. */
#include "manager/events.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JSON_MAX ((size_t)64 << 20)

struct listener {
    struct listener *next;
    uint64_t id;
    uint32_t wants;
    bool gone;
    struct events_listener of; /* of.glob is not kept */
    char who[];
};

void
events_init(struct events *b, void (*complain)(void *ctx, const char *text),
            void *ctx)
{
    *b = (struct events){.complain = complain, .ctx = ctx};
}

static void
recount(struct events *b)
{
    b->wanted = 0;
    for (const struct listener *l = b->first; l != NULL; l = l->next)
        if (!l->gone)
            b->wanted |= l->wants;
}

static void
sweep(struct events *b)
{
    struct listener **link = &b->first;

    if (b->depth > 0)
        return;
    while (*link != NULL) {
        struct listener *l = *link;

        if (!l->gone) {
            link = &l->next;
            continue;
        }
        *link = l->next;
        free(l);
    }
}

static void
leave(struct events *b, struct listener *l)
{
    l->gone = true;
    recount(b);
}

uint64_t
events_listen(struct events *b, const struct events_listener *of,
              struct err *err)
{
    uint32_t wants = event_names_like(of->glob, err);
    size_t size = strlen(of->who) + 1;
    struct listener **link = &b->first, *l;

    if (wants == 0)
        return 0;
    if (b->closed) {
        err_set(err, ERR_INPUT, "%s: nothing happens any more", of->who);
        return 0;
    }
    l = malloc(sizeof *l + size);
    if (l == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return 0;
    }
    *l = (struct listener){.id = ++b->last_id, .wants = wants, .of = *of};
    memcpy(l->who, of->who, size);
    l->of.who = l->who;
    l->of.glob = NULL;
    while (*link != NULL)
        link = &(*link)->next;
    *link = l;
    b->wanted |= wants;
    return l->id;
}

uint64_t
events_on(struct events *b, const char *glob, const char *who,
          int (*hear)(void *, const struct event *, struct err *), void *ctx,
          struct err *err)
{
    return events_listen(
        b,
        &(struct events_listener){
            .glob = glob, .who = who, .hear = hear, .ctx = ctx},
        err);
}

bool
events_off(struct events *b, uint64_t id)
{
    for (struct listener *l = b->first; l != NULL; l = l->next)
        if (l->id == id && !l->gone) {
            leave(b, l);
            sweep(b);
            return true;
        }
    return false;
}

static void
complain(struct events *b, const char *who, const char *text)
{
    char line[ERR_TEXT_MAX + 256];

    snprintf(line, sizeof line, "%.200s: %s", who, text);
    if (b->complain != NULL)
        b->complain(b->ctx, line);
}

/* Seconds since 1970. */
static double
wall_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)(now.tv_nsec / 1000000) / 1e3;
}

static void
write_field(struct json_writer *w, const struct event_field *f)
{
    if (f->kind <= FIELD_JSON && f->text == NULL)
        return;
    switch (f->kind) {
    case FIELD_TEXT:
        json_add_text(w, f->name, f->text);
        break;
    case FIELD_JSON:
        json_add_raw(w, f->name, f->text);
        break;
    case FIELD_NUMBER:
        json_add_number(w, f->name, f->number);
        break;
    case FIELD_COUNT:
        json_add_unsigned(w, f->name, f->count);
        break;
    case FIELD_BOOL:
        json_add_bool(w, f->name, f->count != 0);
        break;
    }
}

void
events_write_fields(struct json_writer *w, const struct event_field *fields)
{
    for (const struct event_field *f = fields; f->name != NULL; f++)
        write_field(w, f);
}

void
events_write(struct buf *out, enum event_name name,
             const struct event_field *fields)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "event", event_name(name));
    json_add_number(&w, "time", wall_clock());
    events_write_fields(&w, fields);
    json_close(&w);
}

static void
take_fields(struct event *e, const struct event_field *fields)
{
    for (const struct event_field *f = fields; f->name != NULL; f++) {
        if (f->kind == FIELD_TEXT && strcmp(f->name, "trial") == 0)
            e->trial = f->text;
        if (f->kind == FIELD_NUMBER && strcmp(f->name, "value") == 0 &&
            isfinite(f->number)) {
            e->has_value = true;
            e->value = f->number;
        }
    }
}

static void
tell(struct events *b, struct listener *l, const struct event *e)
{
    struct err err = {0};

    if (l->of.times > 0 && --l->of.times == 0)
        leave(b, l); /* before: what it emits does not come back to it */
    if (l->of.hear(l->of.ctx, e, &err) != 0)
        complain(b, l->who, err.text);
}

bool
events_wanted(const struct events *b, enum event_name name)
{
    return (b->wanted >> name & 1) != 0;
}

void
events_emit(struct events *b, enum event_name name,
            const struct event_field *fields)
{
    uint32_t bit = UINT32_C(1) << name;
    uint64_t last = b->last_id;
    struct event e = {.name = name};
    struct err err = {0};
    struct buf json;

    if (!events_wanted(b, name))
        return;
    buf_init(&json, JSON_MAX);
    events_write(&json, name, fields);
    take_fields(&e, fields);
    e.json = buf_text(&json);
    e.len = json.len;
    b->written++;
    if (buf_check(&json, event_name(name), &err) != 0) {
        complain(b, "event", err.text);
    } else {
        b->depth++;
        for (struct listener *l = b->first; l != NULL && l->id <= last;
             l = l->next)
            if (!l->gone && (l->wants & bit) != 0)
                tell(b, l, &e);
        b->depth--;
    }
    buf_fini(&json);
    sweep(b);
}

int64_t
events_deadline(const struct events *b)
{
    int64_t nearest = INT64_MAX;

    for (const struct listener *l = b->first; l != NULL; l = l->next)
        if (!l->gone && l->of.deadline_ns > 0 && l->of.deadline_ns < nearest)
            nearest = l->of.deadline_ns;
    return nearest;
}

static void
end(struct events *b, struct listener *l, enum events_over why)
{
    leave(b, l);
    if (l->of.over != NULL)
        l->of.over(l->of.ctx, why);
}

void
events_expire(struct events *b, int64_t now_ns)
{
    uint64_t last = b->last_id;

    b->depth++;
    for (struct listener *l = b->first; l != NULL && l->id <= last; l = l->next)
        if (!l->gone && l->of.deadline_ns > 0 && l->of.deadline_ns <= now_ns)
            end(b, l, EVENTS_TIMEOUT);
    b->depth--;
    sweep(b);
}

void
events_close(struct events *b)
{
    b->closed = true;
    b->depth++;
    for (struct listener *l = b->first; l != NULL; l = l->next)
        if (!l->gone)
            end(b, l, EVENTS_CLOSED);
    b->depth--;
    sweep(b);
}
