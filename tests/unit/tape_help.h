/* SPDX-License-Identifier: MIT */
/* tape_help.h - whole sessions as lists of frames: from a log, or made up from
 * a seed, with everything a manager may do and much that it should not. */
#ifndef TESTS_TAPE_HELP_H
#define TESTS_TAPE_HELP_H

#include "dispatcher_help.h"

#include "log/log.h"

#define TAPE_MAX 1000
#define TAPE_IDS 1000

struct tape_frame {
    char code[3];
    uint64_t arrival;
    char *payload;
    size_t len;
};

struct tape {
    struct tape_frame frames[TAPE_MAX];
    size_t n;
    /* Of those made up: */
    uint64_t seed;
    bool labels;           /* suggestions are named "0-ID" */
    bool several;          /* results are of `acc` and `ms` */
    bool nni;              /* the manager is started again now and then */
    bool pauses;           /* trials may end as paused, or have a base */
    const char *spaces[2]; /* of IN and SS, by turns */
    const char *points[2]; /* something in each of them */
    uint64_t issued;       /* ids asked for, or more */
    uint64_t attempts[TAPE_IDS], sequences[TAPE_IDS]; /* by id */
    size_t space;
};

static inline void
tape_add(struct tape *t, uint64_t arrival, const char *code,
         const char *payload, size_t len)
{
    struct tape_frame *f = &t->frames[t->n++];

    CHECK(t->n <= TAPE_MAX);
    memcpy(f->code, code, 2);
    f->arrival = arrival;
    f->payload = malloc(len + 1);
    memcpy(f->payload, payload, len);
    f->len = len;
}

static inline void
tape_fini(struct tape *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->frames[i].payload);
}

/* The manager's frames of a log; its head is parsed, the caller's. */
static inline struct json *
tape_read(struct tape *t, const char *path)
{
    struct json *head = NULL;
    struct err err;
    struct log_reader *f = log_open(path, 0, &err);
    struct record r;

    CHECK(f != NULL);
    while (log_next(f, &r, &err) == LOG_RECORD)
        if (r.kind == RECORD_HEAD)
            head = json_parse(r.payload, r.len, JSON_STRICT, &err);
        else if (r.kind == RECORD_IN)
            tape_add(t, r.number, r.payload, r.payload + 2, r.len - 2);
    CHECK(head != NULL);
    log_close(f);
    return head;
}

/* ---- made up ---- */

static inline void
tape_say(struct tape *t, const char *code, const char *fmt, ...)
{
    char text[2000];
    va_list ap;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    CHECK(len >= 0 && (size_t)len < sizeof text);
    tape_add(t, t->n + 1, code, text, (size_t)len);
}

/* As JSON; borrowed until the next call. */
static inline const char *
tape_id(const struct tape *t, uint64_t id)
{
    static char text[40];

    snprintf(text, sizeof text, t->labels ? "\"0-%" PRIu64 "\"" : "%" PRIu64,
             id);
    return text;
}

/* Mostly one that was given out. */
static inline uint64_t
tape_some_id(struct tape *t)
{
    uint64_t n = t->issued + 2, back = help_below(&t->seed, 12);

    if (help_below(&t->seed, 3) == 0)
        return help_below(&t->seed, n);
    return back < n ? n - 1 - back : 0;
}

/* What a trial reports, inside of a text; borrowed until the next call. */
static inline const char *
tape_value(struct tape *t, const char *before, int value)
{
    static char text[80];

    if (t->several && before[0] != 'n')
        snprintf(text, sizeof text, "{\\\"acc\\\": %s%d, \\\"ms\\\": %d}",
                 before, value, (int)help_below(&t->seed, 30));
    else
        snprintf(text, sizeof text, "%s%d", before, value);
    return text;
}

static inline void
tape_report(struct tape *t)
{
    uint64_t id = tape_some_id(t), odd = help_below(&t->seed, 20);
    uint64_t sequence = t->sequences[id] + help_below(&t->seed, 3);
    uint64_t base = t->pauses ? help_below(&t->seed, 3) : 0;

    if (odd == 0) {
        t->attempts[id]++;
        t->sequences[id] = sequence = 0;
    }
    if (odd == 1)
        sequence = 0;
    tape_say(t, "ME",
             "{\"parameter_id\": %s, \"trial_job_id\": \"J%" PRIu64
             "\", \"type\": \"PERIODICAL\", \"sequence\": %" PRIu64
             ", \"attempt\": %" PRIu64 ", \"base\": %" PRIu64
             ", \"sync\": %s, \"value\": \"%s\"}",
             tape_id(t, id), id, sequence, t->attempts[id], base,
             odd % 3 == 0 ? "true" : "false",
             tape_value(t, odd == 5 ? "none" : "0.",
                        (int)help_below(&t->seed, 1000)));
    t->sequences[id] += help_below(&t->seed, 4) != 0;
}

static inline void
tape_result(struct tape *t)
{
    uint64_t id = tape_some_id(t);

    tape_say(t, "ME",
             "{\"parameter_id\": %s, \"trial_job_id\": \"J%" PRIu64
             "\", \"type\": \"FINAL\", \"sequence\": 0, \"value\": \"%s\"}",
             tape_id(t, id), id,
             tape_value(t, "", (int)help_below(&t->seed, 100)));
}

static inline void
tape_end(struct tape *t)
{
    static const char *const events[] = {"SUCCEEDED", "FAILED", "EARLY_STOPPED",
                                         "USER_CANCELED"};
    uint64_t id = tape_some_id(t);
    const char *event = events[help_below(&t->seed, 4)];

    if (t->pauses && help_below(&t->seed, 2) == 0)
        event = "PAUSED";

    if (t->labels)
        tape_say(t, "EN",
                 "{\"trial_job_id\": \"J%" PRIu64 "\", \"event\": \"%s\", "
                 "\"hyper_params\": \"{\\\"parameter_id\\\": \\\"0-%" PRIu64
                 "\\\"}\"}",
                 id, event, id);
    else
        tape_say(t, "EN",
                 "{\"trial_job_id\": \"J%" PRIu64 "\", \"event\": \"%s\", "
                 "\"hyper_params\": \"{\\\"parameter_id\\\": %" PRIu64 "}\"}",
                 id, event, id);
}

static inline void
tape_ask(struct tape *t)
{
    uint64_t n = 1 + help_below(&t->seed, 4);

    tape_say(t, "GE", "%" PRIu64, n);
    t->issued += n;
}

static inline void
tape_rare(struct tape *t)
{
    switch (help_below(&t->seed, 8)) {
    case 0:
        t->space = 1 - t->space;
        tape_say(t, "SS", "%s", t->spaces[t->space]);
        return;
    case 1:
        tape_say(t, "FD", "[{\"parameter\": %s, \"value\": %s}]",
                 t->points[t->space],
                 t->several ? "{\"acc\": 0.5, \"ms\": 9}" : "0.5");
        return;
    case 2:
        tape_say(t, "AD",
                 "[{\"parameter_id\": %" PRIu64 ", \"parameters\": %s}]",
                 t->issued, t->points[t->space]);
        t->issued++;
        return;
    case 3:
        tape_say(t, "ME", "{\"parameter_id\": %" PRIu64 "}", t->issued);
        return;
    case 4:
        tape_say(t, "GE", "many");
        return;
    default:
        tape_say(t, "NT", "{\"event\": \"started\", \"parameter_id\": %s}",
                 tape_id(t, tape_some_id(t)));
    }
}

/* Of trials some, in FD and in AD, that it may or may not have had. */
static inline void
tape_restart(struct tape *t)
{
    uint64_t a = tape_some_id(t), b = tape_some_id(t), c = tape_some_id(t);
    char ids[2][40];

    snprintf(ids[0], sizeof ids[0], "%s", tape_id(t, b));
    snprintf(ids[1], sizeof ids[1], "%s", tape_id(t, c));
    if (help_below(&t->seed, 4) == 0)
        t->space = 1 - t->space;
    tape_say(t, "IN", "%s", t->spaces[t->space]);
    if (help_below(&t->seed, 8) != 0)
        tape_say(t, "FD",
                 "[{\"parameter\": %s, \"value\": \"0.5\", \"trialJobId\": "
                 "\"J%" PRIu64 "\"}, {\"parameter\": %s, \"value\": 0.5}, "
                 "{\"parameter\": %s, \"value\": \"2\", \"trialJobId\": "
                 "\"K%" PRIu64 "\"}]",
                 t->points[t->space], a, t->points[t->space],
                 t->points[t->space], a);
    if (help_below(&t->seed, 2) == 0)
        tape_say(t, "AD",
                 "[{\"parameter_id\": %s, \"parameters\": %s}, "
                 "{\"parameter_id\": null}, {\"parameter_id\": %s, "
                 "\"parameters\": %s}]",
                 ids[0], t->points[t->space], ids[1], t->points[t->space]);
    if (help_below(&t->seed, 4) != 0)
        tape_ask(t);
}

static inline void
tape_make(struct tape *t, size_t n)
{
    tape_say(t, "GE", "1"); /* too early */
    tape_say(t, "IN", "%s", t->spaces[0]);
    while (t->n < n) {
        uint64_t what = help_below(&t->seed, 20);

        if (what < 3)
            tape_ask(t);
        else if (what < 12)
            tape_report(t);
        else if (what < 15)
            tape_result(t);
        else if (what < 18)
            tape_end(t);
        else if (t->nni && help_below(&t->seed, 2) == 0)
            tape_restart(t);
        else
            tape_rare(t);
    }
}

#endif
