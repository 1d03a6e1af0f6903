/* SPDX-License-Identifier: MIT */
/* events.h - a bus inside the manager: who wants to know what happens, is
 * told.
 *
 * A listener hears the events whose names match its glob, in the order in
 * which listeners came.  It may add and remove listeners, itself too, and
 * emit, while it is called: who is added hears from the next event on, who is
 * removed hears no more.  A listener's error is told to `complain` with the
 * listener's name and stops neither it nor the others.
 *
 * With nobody who wants an event, emitting it is one test of a bit.
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
    const char *text;
    double number;
    uint64_t count;
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

/* As a listener hears it; borrowed for the call. */
struct event {
    enum event_name name;
    const char *json; /* {"event": "trial.ended", "time": ..., ...} */
    size_t len;
    const char *trial; /* the field `trial`; NULL: none */
    bool has_value;
    double value; /* the number `value` */
};

enum events_over { EVENTS_TIMEOUT, EVENTS_CLOSED };

struct events_listener {
    const char *glob; /* of config/eventname.h */
    const char *who;  /* for complaints; copied */
    /* -1 with err: a complaint. */
    int (*hear)(void *ctx, const struct event *event, struct err *err);
    /* Nothing is heard any more, though more was wanted, or nobody said how
     * much; it is unregistered before.  May be NULL. */
    void (*over)(void *ctx, enum events_over why);
    void *ctx;
    uint64_t times;      /* it is unregistered before the last of so many
                            calls; 0: no limit */
    int64_t deadline_ns; /* monotonic; 0: none */
};

struct events {
    struct listener *first;
    uint32_t wanted; /* by anybody: bits of enum event_name */
    uint64_t last_id;
    unsigned depth;   /* of emits within emits */
    uint64_t written; /* events that somebody wanted */
    bool closed;
    void (*complain)(void *ctx, const char *text);
    void *ctx;
};

void events_init(struct events *b,
                 void (*complain)(void *ctx, const char *text), void *ctx);
/* Tells each listener that it is over, but none that emits meanwhile. */
void events_close(struct events *b);

/* The listener's number, from 1; 0 with err: no such event, no memory, or the
 * bus is closed. */
uint64_t events_listen(struct events *b, const struct events_listener *l,
                       struct err *err);
/* As events_listen(), for ever. */
uint64_t events_on(struct events *b, const char *glob, const char *who,
                   int (*hear)(void *, const struct event *, struct err *),
                   void *ctx, struct err *err);
/* False when there is none; `over` is not called. */
bool events_off(struct events *b, uint64_t id);

/* fields ends with EVENT_FIELDS_END. */
void events_emit(struct events *b, enum event_name name,
                 const struct event_field *fields);

/* The JSON object that listeners are told. */
/* Adds them as members of the object that is open. */
void events_write_fields(struct json_writer *w,
                         const struct event_field *fields);
void events_write(struct buf *out, enum event_name name,
                  const struct event_field *fields);

/* Whether it is worth while to find out more about it. */
bool events_wanted(const struct events *b, enum event_name name);

/* The nearest deadline, or INT64_MAX; whose is past, is over. */
int64_t events_deadline(const struct events *b);
void events_expire(struct events *b, int64_t now_ns);

#endif
