/* SPDX-License-Identifier: MIT */
/* emission.h - an outbound frame on its way: who sends it, because of which
 * inbound frame.  The dispatcher's emitter puts it into the outbox; replay's
 * compares it with the log. */
#ifndef DISPATCHER_EMISSION_H
#define DISPATCHER_EMISSION_H

#include "command.h"

#include <stddef.h>
#include <stdint.h>

enum sender {
    SENDER_DEFAULT,  /* the default worker: tuner */
    SENDER_ASSESSOR, /* the assessor worker */
    SENDER_ROUTER,   /* the thread that reads and writes */
};

/* In place of a code: no frame, but a skipped record for the log, whose text
 * is the payload. */
#define EMISSION_SKIPPED CMD_COUNT
/* No frame either, but its side as snapshot.h has it; empty: it has none, and
 * never will (cause 0: this time). */
#define EMISSION_PART (CMD_COUNT + 1)

struct emission {
    enum sender sender;
    uint64_t cause; /* arrival number */
    enum command_code code;
    const char *payload;
    size_t len;
};

struct logwriter;

/* Collects the record of one that is a frame. */
void emission_record(const struct emission *e, struct logwriter *log);

struct emitter {
    void (*emit)(void *ctx, const struct emission *e); /* copies */
    void *ctx;
};

#endif
