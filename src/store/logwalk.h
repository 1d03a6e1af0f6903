/* SPDX-License-Identifier: MIT */
/* logwalk.h - the records of an experiment's log that came from its manager,
 * one after the other.  One thread. */
#ifndef STORE_LOGWALK_H
#define STORE_LOGWALK_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct record;

/* One from the manager with the code that was asked for; payload: behind the
 * code.  -1 ends the walk. */
typedef int logwalk_take(void *ctx, const struct record *r, const char *payload,
                         size_t len, struct err *err);

/* All that are there now; a log that is not there has none.  *lacks: its first
 * segments are gone.  -1: `take` says so, or the log is damaged (ERR_LOG). */
int logwalk(const char *folder, const char code[2], logwalk_take *take,
            void *ctx, bool *lacks, struct err *err);

#endif
