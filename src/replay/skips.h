/* SPDX-License-Identifier: MIT */
/* skips.h - what a log's skipped records say of its commands, collected before
 * the commands are handled, because these records stand behind them.
 * PROTOCOL.md, "The log".  One thread. */
#ifndef REPLAY_SKIPS_H
#define REPLAY_SKIPS_H

#include "core/map.h"
#include "dispatcher/emission.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct record;

/* What is said of one half of a command, by enum sender. */
struct skip {
    bool dropped; /* not handled, and never will be */
    bool barred;  /* its calls of the plugin fail */
    /* How often an end left it: it is handled behind the last end. */
    unsigned left;
};

struct skips_of {
    struct skip half[2];
    bool closes; /* requests are dropped from this command on */
};

struct skips {
    struct map by_arrival; /* struct skips_of */
};

/* A zeroed struct skips is empty. */
void skips_fini(struct skips *s);

/* Takes in a skipped record.  -1: out of memory. */
int skips_add(struct skips *s, const struct record *record, struct err *err);

/* Bars the command's half, as a record with "x" does. */
int skips_bar(struct skips *s, uint64_t arrival, enum sender side,
              struct err *err);

/* What is said of the command, which may be changed; NULL: nothing. */
struct skips_of *skips_find(const struct skips *s, uint64_t arrival);

#endif
