/* SPDX-License-Identifier: MIT */
/* emission.h - an outbound frame on its way: who sends it and because of which
 * inbound frame.  The fact that it states stands in typed fields beside its
 * bytes, so that nobody has to parse what we wrote.  The dispatcher's emitter
 * puts it into the outbox; replay's compares it with the log. */
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
    EMISSION_SKIPPED, /* no frame, but a record for the log that a command, or
                         half of one, was not handled as usual; its text is the
                         payload */
    EMISSION_PART, /* no frame either, but a side's part of a snapshot; an empty
                      one: the side has none, which with the cause 0 the next
                      snapshot may have, and with another can never be saved */
};

struct emission {
    /* Neighbours in the list that a copy is in. */
    struct emission *next, *previous;
    enum emission_kind kind;
    enum sender sender;
    /* Arrival number of the inbound frame that it follows from. */
    uint64_t cause;

    /* Of a frame: the fact that it states; which fields count depends on its
     * code.  Texts are borrowed. */
    enum command_code code;
    /* TR: of the suggestion; NO: the first one refused. */
    struct parameter_id parameter;
    const char *job;              /* KI, DT, AK: trial_job_id */
    enum trial_decision decision; /* DT, AK: what is decided on that trial */
    bool ends;       /* AK: it answers the trial's end (EN), not a report */
    uint64_t number; /* AK: sequence of the report; ID: which of the manager's
                        frames it answers */
    enum no_reason reason; /* NO: why */
    uint64_t units;        /* NO: how many suggestions are refused, or owed */
    /* TR: what is suggested; borrowed, and NULL once the frame is written. */
    const struct parameter_record *gives;

    const char *payload;
    size_t len;
    struct buf *part; /* PART: its bytes, which may be many: never copied, and
                         owned by the copy of this; NULL: an empty part */
};

/* Writes the frame that states the fact in e's fields into *payload, where e
 * borrows its bytes; *payload holds nothing else.  -1: out of memory. */
int emission_encode(struct emission *e, bool extensions, struct buf *payload);

/* Reads the fields of a TR, a KI or a DT back from the bytes of a frame that an
 * earlier process wrote, as a log or a snapshot has it; the fields of other
 * frames are not needed then.  For recovery and replay alone: the process that
 * has just written a frame still has its fields.  A frame that makes no sense
 * leaves them empty.  Texts lie in *text until it is changed.  -1: out of
 * memory. */
int emission_read(struct emission *e, struct buf *text);
/* Fills *e from the record of an outbound frame, whose bytes are borrowed. -1:
 * out of memory, or the frame's code is none of ours. */
int emission_of_record(const struct record *record, struct emission *e,
                       struct buf *text);

/* A copy; NULL: out of memory.  It takes e->part, also then. */
struct emission *emission_copy(const struct emission *e);
void emission_free(struct emission *e);

/* Collects the record of an emission that is a frame, for the next flush. */
void emission_record(const struct emission *e, struct logwriter *log);

struct emitter {
    /* Copies what it keeps. */
    void (*emit)(void *ctx, const struct emission *e);
    void *ctx;
};

#endif
