/* SPDX-License-Identifier: MIT */
/* origin.h - what a trial goes on from, by the tuner's word: another trial,
 * whose newest checkpoint it is given when it is started.  That checkpoint is
 * kept until then (checkpoints.h).  One thread. */
#ifndef MANAGER_ORIGIN_H
#define MANAGER_ORIGIN_H

#include "manager/attempt_end.h"

#include <stdbool.h>
#include <stddef.h>

struct checkpoints;
struct map;
struct progress;
struct resume_log;
struct trial;

/* Whether the trial has to wait for the end of the one that it goes on from,
 * which is to save what it goes on from; `why` then says so.  `from` is that
 * trial, NULL where it has ended. */
bool origin_waits(const struct trial *from, const struct trial *t, char *why,
                  size_t size);

/* The trial is live: what it goes on from has to stay. */
void origin_pin(struct checkpoints *c, const struct trial *t);
/* What the trial goes on from need not stay for it any more: it is started, and
 * p is told, once, where there was no checkpoint, or one that was saved before
 * its step was reported; or, where p is NULL, it will never be. */
void origin_unpin(struct checkpoints *c, struct progress *p, struct trial *t);
/* Hears the end of any trial, whose origin need not stay: ctx is the
 * checkpoints. */
attempt_end_hear origin_hear_end;

/* Releases the checkpoints that, by the log of an earlier manager, nobody needs
 * any more; all trials that it had begun are there.  `live` has the trials that
 * have not ended by their numbers. */
void origin_release(struct checkpoints *c, const struct map *live,
                    const struct resume_log *log);
/* The dispatcher died, perhaps with such words on their way, and is to go on:
 * releases what the log in this folder says, which counts once it is known what
 * the dispatcher repeats (checkpoints_settle()). */
void origin_release_again(struct checkpoints *c, const struct map *live,
                          const char *folder);

#endif
