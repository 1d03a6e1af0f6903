/* SPDX-License-Identifier: MIT */
/* events.h - the event bus inside the manager.
 *
 * Listeners hear the events whose names match their globs, in the order in
 * which they were added.  While a listener is called it may add and remove
 * listeners, itself too, and emit events: one that is added hears the next
 * event first, one that is removed hears no more.  A listener's error is told
 * to `complain` with the listener's name and stops neither it nor the others.
 *
 * Emitting an event that no listener wants is one test of a bit.
 *
 * One thread. */
#ifndef MANAGER_EVENTS_H
#define MANAGER_EVENTS_H

#include "config/eventname.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json_writer;
struct listener;

/* One member of the event's JSON object. */
struct event_field {
    const char *name; /* NULL: the last one */
    enum {
        FIELD_TEXT,   /* NULL: left out */
        FIELD_JSON,   /* JSON text; NULL: left out */
        FIELD_NUMBER, /* null when it is not finite */
        FIELD_COUNT,
        FIELD_BOOL,
    } kind;
    const char *text; /* of FIELD_TEXT and FIELD_JSON */
    double number;    /* of FIELD_NUMBER */
    uint64_t count;   /* of FIELD_COUNT and FIELD_BOOL */
};

#define EVENT_TEXT(n, value)                             \
    {                                                    \
        .name = (n), .kind = FIELD_TEXT, .text = (value) \
    }
#define EVENT_JSON(n, value)                             \
    {                                                    \
        .name = (n), .kind = FIELD_JSON, .text = (value) \
    }
#define EVENT_NUMBER(n, value)                               \
    {                                                        \
        .name = (n), .kind = FIELD_NUMBER, .number = (value) \
    }
#define EVENT_COUNT(n, value)                              \
    {                                                      \
        .name = (n), .kind = FIELD_COUNT, .count = (value) \
    }
#define EVENT_BOOL(n, value)                              \
    {                                                     \
        .name = (n), .kind = FIELD_BOOL, .count = (value) \
    }
#define EVENT_FIELDS_END \
    {                    \
        .name = NULL     \
    }

/* An event as a listener hears it; borrowed for the call. */
struct event {
    enum event_name name;
    const char *json; /* {"event": "trial.ended", "time": ..., ...} */
    size_t len;
    const char *trial; /* the field `trial`; NULL: none */
    bool has_value;
    double value; /* the number `value` */
};

/* Why a listener hears nothing any more. */
enum events_over { EVENTS_TIMEOUT, EVENTS_CLOSED };

struct events_listener {
    const char *glob; /* of config/eventname.h */
    const char *who;  /* its name in complaints; copied */
    /* Called with each event; -1 with err: a complaint. */
    int (*hear)(void *ctx, const struct event *event, struct err *err);
    /* Called where the deadline, or the bus's end, comes before the last of
     * `times` calls; the listener is removed before.  May be NULL. */
    void (*over)(void *ctx, enum events_over why);
    void *ctx;
    uint64_t times; /* it is removed before the last of so many calls; 0: no
                       limit */
    int64_t deadline_ns; /* monotonic; 0: none */
};

struct events {
    struct listener *first;
    uint32_t wanted; /* events that a listener wants: bits of enum event_name */
    uint64_t last_id;
    unsigned depth;   /* how many emits are under way, one within another */
    uint64_t written; /* how many events a listener wanted */
    bool closed;
    void (*complain)(void *ctx, const char *text);
    void *ctx;
};

void events_init(struct events *b,
                 void (*complain)(void *ctx, const char *text), void *ctx);
/* Tells each listener that it is over, and adds none any more. */
void events_close(struct events *b);

/* Adds a listener and returns its number, from 1; 0 with err: no such event, no
 * memory, or the bus is closed. */
uint64_t events_listen(struct events *b, const struct events_listener *l,
                       struct err *err);
/* Adds a listener that hears each event, with no end. */
uint64_t events_on(struct events *b, const char *glob, const char *who,
                   int (*hear)(void *, const struct event *, struct err *),
                   void *ctx, struct err *err);
/* Removes a listener, whose `over` is not called; false: there is none with
 * this number. */
bool events_off(struct events *b, uint64_t id);

/* Calls the listeners that want the event; `fields` ends with EVENT_FIELDS_END.
 */
void events_emit(struct events *b, enum event_name name,
                 const struct event_field *fields);

/* Adds the fields as members of the object that is open. */
void events_write_fields(struct json_writer *w,
                         const struct event_field *fields);
/* Appends the JSON object that listeners are told. */
void events_write(struct buf *out, enum event_name name,
                  const struct event_field *fields);

/* Whether a listener wants the event, so that it is worth while to find out
 * what belongs into its fields. */
bool events_wanted(const struct events *b, enum event_name name);

/* The nearest deadline of a listener, or INT64_MAX. */
int64_t events_deadline(const struct events *b);
/* Removes the listeners whose deadline has passed. */
void events_expire(struct events *b, int64_t now_ns);

#endif
