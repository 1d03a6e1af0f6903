/* SPDX-License-Identifier: MIT */
/* origin.h - what a trial goes on from, by the tuner's word: another trial,
 * whose newest checkpoint it is given when it is started (checkpoints.h); and
 * what became of that (TRIAL_ORIGIN of trial/files.h).  One thread. */
#ifndef MANAGER_ORIGIN_H
#define MANAGER_ORIGIN_H

#include "manager/attempt_end.h"

#include <stdbool.h>
#include <stddef.h>

struct err;
struct manager;
struct resume_log;
struct trial;

/* Writes the file into the trial's folder, by t->origin, restore and step,
 * where it goes on from anything; the other sets the latter two.  False: there
 * is no such file. */
int origin_write(const struct trial *t, struct err *err);
bool origin_load(struct trial *t);

/* It cannot start before the other one has ended, which is to save what it
 * goes on from; `why` then says so. */
bool origin_waits(const struct manager *m, const struct trial *t, char *why,
                  size_t size);

/* The trial is live: what it goes on from is to stay. */
void origin_taken(struct manager *m, const struct trial *t);
/* It is started, or will not be any more. */
void origin_settled(struct manager *m, struct trial *t, bool started);
/* Of any trial: ctx is the manager. */
attempt_end_hear origin_hear_end;

/* What an earlier manager was told that nobody needs any more, when all trials
 * are there that it had begun. */
void origin_restore(struct manager *m, const struct resume_log *log);
/* The same of a dispatcher that died, perhaps with such words on their way, and
 * is to go on; they count once it is known what it repeats. */
void origin_repeat(struct manager *m);

#endif
