/* SPDX-License-Identifier: MIT */
/* emission.h - what the dispatcher says: an outbound frame on its way, who
 * sends it, because of which inbound frame.  The fact that it states stands in
 * typed fields beside its bytes, so that nobody has to read what we wrote.
 * The dispatcher's emitter puts it into the outbox; replay's compares it with
 * the log. */
#ifndef DISPATCHER_EMISSION_H
#define DISPATCHER_EMISSION_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct logwriter;
struct record;

enum sender {
    SENDER_DEFAULT,  /* the default worker: tuner */
    SENDER_ASSESSOR, /* the assessor worker */
    SENDER_ROUTER,   /* the thread that reads and writes */
};

enum emission_kind {
    EMISSION_FRAME,
    EMISSION_SKIPPED, /* no frame, but a skipped record for the log, whose text
                         is the payload */
    EMISSION_PART,    /* no frame either, but its side's part of a snapshot;
                         empty: it has none, and never will (cause 0: this
                         time) */
};

struct emission {
    struct emission *next, *previous; /* of the list that a copy is in */
    enum emission_kind kind;
    enum sender sender;
    uint64_t cause; /* arrival number */

    /* Of a frame: what it states, by its code.  Texts are borrowed. */
    enum command_code code;
    struct parameter_id parameter; /* TR: of the suggestion; NO: the first of
                                      those that are refused */
    const char *job;               /* KI, DT, AK: trial_job_id */
    enum trial_decision decision;  /* DT, AK: on that trial */
    bool ends;             /* AK: it answers the trial's end, not a report */
    uint64_t number;       /* AK: sequence of the report; ID: of the frame that
                              it answers, among the manager's */
    enum no_reason reason; /* NO */
    uint64_t units;        /* NO: so many are refused, or owed */
    /* TR: the suggestion, until the frame is written.  Borrowed. */
    const struct parameter_record *gives;

    const char *payload;
    size_t len;
};

/* Writes the frame that states the fact in e's fields into *payload, where e
 * borrows its bytes; *payload holds nothing else.  -1: out of memory. */
int emission_encode(struct emission *e, bool extensions, struct buf *payload);

/* Reads the fields of a TR, a KI or a DT back from the bytes of a frame that an
 * earlier process wrote, as a log or a snapshot has it; nothing asks that of
 * other frames.  For recovery and replay alone: who has just written a frame
 * has its fields.  One that does not say it names no suggestion, or no trial.
 * Texts lie in *text until it is changed.  -1: out of memory. */
int emission_read(struct emission *e, struct buf *text);
/* Fills *e from the record of an outbound frame, whose bytes are borrowed.
 * -1: out of memory, or it has no code of ours. */
int emission_of_record(const struct record *record, struct emission *e,
                       struct buf *text);

/* In one block, to be freed; NULL: out of memory. */
struct emission *emission_copy(const struct emission *e);

/* Collects the record of one that is a frame. */
void emission_record(const struct emission *e, struct logwriter *log);

struct emitter {
    void (*emit)(void *ctx, const struct emission *e); /* copies */
    void *ctx;
};

#endif
