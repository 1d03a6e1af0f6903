/* SPDX-License-Identifier: MIT */
/* peer.h - the dispatcher as the manager has it: started, started again from
 * its log when it dies, given up.  Inside src/manager only. */
#ifndef MANAGER_PEER_H
#define MANAGER_PEER_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct frame;
struct manager;

/* A new session; m->exchange is empty.  0 also where it is tried again. */
int peer_start(struct manager *m, struct err *err);

/* A dispatcher that goes on from the log, where there is one; what is sent is
 * held until its ID.  0 also where it is tried again. */
int peer_resume(struct manager *m, struct err *err);

/* Tries again what is due; if that is over, so is the experiment. */
void peer_retry(struct manager *m, int64_t now_ns);
/* INT64_MAX: nothing is to be tried again. */
int64_t peer_deadline(const struct manager *m);

/* The ID of one that goes on: what its log lacks is sent again. */
void peer_resumed(struct manager *m, const struct frame *id);

/* It goes on without a search space: whoever was to say yes to it died with
 * the one before.  Sends it again. */
void peer_ask_again(struct manager *m);

/* Its process has ended, its words are read. */
void peer_ended(struct manager *m);

/* " while tuner NAME was at command N" (or the assessor, or " and" both), as
 * far as its lock file tells, or "was being set up"; "": neither. */
void peer_blame(const struct manager *m, char *text, size_t size);

#endif
