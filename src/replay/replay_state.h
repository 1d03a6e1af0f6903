/* SPDX-License-Identifier: MIT */
/* replay_state.h - what replay.c (the walks, the comparison) and
 * replay_handle.c (what the records do to the session) share.  Nobody else
 * includes it. */
#ifndef REPLAY_REPLAY_STATE_H
#define REPLAY_REPLAY_STATE_H

#include "core/buf.h"
#include "core/err.h"
#include "dispatcher/queue.h"
#include "dispatcher/session.h"
#include "log/record.h"
#include "replay/pending.h"
#include "replay/replay.h"
#include "replay/skips.h"

#include <stdbool.h>
#include <stdint.h>

struct json;
struct log_reader;

struct replay {
    const struct replay_setup *setup;
    struct replay_report *report;
    struct log_reader *file;
    struct json *head;
    uint32_t head_sum; /* snapshot_head() of it */
    struct session *session;
    struct pending pending;
    struct pending early; /* recorded, of commands that are not handled yet */
    struct buf text;      /* of the recorded frame in hand */
    struct skips skips;
    struct session_setup session_setup;
    uint64_t have[3];     /* by sender: that side came out of a snapshot, as it
                             was behind this input; 0: it did not */
    uint64_t upto[3];     /* the same, in segments */
    uint64_t passed;      /* segment of one that was outdated; 0: none was */
    bool outdated;        /* so is the one in use */
    struct chain left[2]; /* by sender: commands an end left */
    uint64_t last_cause[3]; /* by sender */
    bool failed[2];         /* by sender: that side ended */
    bool reached;          /* the end, or the first input behind setup->until */
    struct err difference; /* from what was recorded early; or none */
};

/* Makes the session, as a snapshot has it where one is to be used.  -1: err
 * tells. */
int replay_restore(struct replay *r, struct err *err);

/* Whether that side had handled this input when it was saved. */
bool replay_has(const struct replay *r, uint64_t arrival, enum sender side);

/* The calls of this input are barred, as a record in that segment says: a
 * snapshot that was taken before knows nothing of it. */
void replay_bar(struct replay *r, uint64_t arrival, enum sender side,
                uint64_t segment);

/* Where frames that replay derives go. */
struct emitter replay_emitter(struct replay *r);

/* What the log says of that half of the cause; NULL: nothing. */
struct skip *replay_skip(const struct replay *r, uint64_t cause,
                         enum sender sender);

/* A frame of the manager's, of a program; what else became of a program. */
int replay_command(struct replay *r, const struct record *record,
                   struct err *err);
int replay_program(struct replay *r, const struct record *record,
                   enum sender side, struct err *err);
int replay_event(struct replay *r, const struct record *record,
                 enum sender side, struct err *err);

/* The session ended; the session goes on. */
void replay_ended(struct replay *r, const struct record *record);
void replay_resumed(struct replay *r);

#endif
