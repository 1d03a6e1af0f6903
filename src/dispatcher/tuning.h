/* SPDX-License-Identifier: MIT */
/* tuning.h - the default worker's side: the tuner, the search space, the
 * trials given out, the ids owed, and what an advisor decides on trials; one
 * handler per command.  PROTOCOL.md, "To the dispatcher".
 *
 * One owner thread: the default worker, or replay.  What it answers is a
 * function of its arguments and the commands it was given, in their order. */
#ifndef DISPATCHER_TUNING_H
#define DISPATCHER_TUNING_H

#include "dispatcher/emission.h"
#include "dispatcher/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct explainer;
struct log;
struct tuner;
struct tuning_view;
struct unpack;
struct viewer;

struct tuning;

/* Borrows all until tuning_free(). */
struct tuning *tuning_new(struct tuner *tuner, const struct policy *policy,
                          struct emitter emitter, const struct log *log,
                          struct err *err);
void tuning_free(struct tuning *t);

/* Borrowed; NULL, as at first: nobody wants to know. */
void tuning_listen(struct tuning *t, const struct explainer *explainer);

/* Handles one command of the default queue.  -1: err says why it costs more
 * than itself: the session (policy ERROR_FAIL, or out of memory).  What costs
 * one command is told to the log and is 0. */
int tuning_handle(struct tuning *t, const struct command *cmd, struct err *err);

/* See view.h. */
void tuning_see(const struct tuning *t, struct tuning_view *out,
                const struct viewer *viewer);

/* From now on requests and owed ids are dropped: the session is ending. */
void tuning_close(struct tuning *t);
/* A trial that is out and was not asked for: the payload of its TR. */
void tuning_adopt(struct tuning *t, const char *payload, size_t len);

/* The session goes on after all: what was owed is void. */
void tuning_reopen(struct tuning *t);
/* Whether it has a search space. */
bool tuning_is_set(const struct tuning *t);
/* Ids that are owed. */
uint64_t tuning_owed(const struct tuning *t);
/* Whether handling cmd now would drop a request. */
bool tuning_drops(const struct tuning *t, const struct command *cmd);

/* Between two commands: appends all that later answers depend on, the tuner's
 * part included.  1; 0: nothing, because tuner_save() cannot now; -1: err
 * tells.  `out` keeps its length but for 1, or when it is full. */
int tuning_save(const struct tuning *t, struct buf *out, struct err *err);

/* Reads that into a new one whose tuner is as new, and of the same arguments.
 * -1: err tells; both are then of no use any more. */
int tuning_load(struct tuning *t, struct unpack *in, struct err *err);

#endif
