/* SPDX-License-Identifier: MIT */
/* peer.h - the dispatcher's process: started, started again from its log
 * when it dies, given up.  Inside src/manager only. */
#ifndef MANAGER_PEER_H
#define MANAGER_PEER_H

#include <stddef.h>
#include <sys/types.h>

struct err;
struct frame;
struct manager;

/* A new session; m->exchange is empty. */
int peer_start(struct manager *m, struct err *err);

/* One that goes on from the log, where there is one; what is sent is held
 * until its ID. */
int peer_resume(struct manager *m, struct err *err);

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

/* Remembers its process, before anything is sent to it. */
void peer_record(const struct manager *m, pid_t pid);

/* Waits until the one of an earlier manager has ended; its input is closed
 * already.  -1: it does not. */
int peer_await_end(const struct manager *m, struct err *err);

#endif
