/* SPDX-License-Identifier: MIT */
/* dispatcher.h - the dispatcher as the manager has it: started, started again
 * from its log when it dies, given up.  Inside src/manager only. */
#ifndef MANAGER_DISPATCHER_H
#define MANAGER_DISPATCHER_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct frame;
struct manager;

/* A new session; m->exchange is empty.  0 also where it is tried again. */
int dispatcher_start(struct manager *m, struct err *err);

/* A dispatcher that goes on from the log, where there is one; what is sent is
 * held until its ID.  0 also where it is tried again. */
int dispatcher_resume(struct manager *m, struct err *err);

/* Tries again what is due; if that is over, so is the experiment. */
void dispatcher_retry(struct manager *m, int64_t now_ns);
/* INT64_MAX: nothing is to be tried again. */
int64_t dispatcher_deadline(const struct manager *m);

/* It goes on without a search space: whoever was to say yes to it died with
 * the one before.  Sends it again. */
void dispatcher_ask_again(struct manager *m);

/* " while tuner NAME was at command N" (or the assessor, or " and" both), as
 * far as its lock file tells, or "was being set up"; "": neither. */
void dispatcher_blame(const struct manager *m, char *text, size_t size);

/* The pipe of its frames is readable: takes what it answers. */
void dispatcher_read_frames(struct manager *m);
/* Its standard error is readable: what it says is for people. */
void dispatcher_read_words(struct manager *m);
/* Its process has ended: takes what it said before, and starts another one
 * where that may help. */
void dispatcher_exited(struct manager *m);

#endif
