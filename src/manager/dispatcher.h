/* SPDX-License-Identifier: MIT */
/* dispatcher.h - the manager's dispatcher: its process, which is started,
 * started again from its log when it dies, or given up; and what it answers.
 * Inside src/manager only. */
#ifndef MANAGER_DISPATCHER_H
#define MANAGER_DISPATCHER_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct frame;
struct manager;

/* Starts a dispatcher for a new session; m->exchange is empty.  0 also where
 * that will be tried again. */
int dispatcher_start(struct manager *m, struct err *err);

/* Starts a dispatcher that goes on from the log, where there is one; what is
 * sent is held until its ID comes.  0 also where that will be tried again. */
int dispatcher_resume(struct manager *m, struct err *err);

/* Tries a start again that is due; where it is not to be tried any more the
 * experiment ends. */
void dispatcher_retry(struct manager *m, int64_t now_ns);
/* When that is due; INT64_MAX: nothing is to be tried again. */
int64_t dispatcher_deadline(const struct manager *m);

/* The dispatcher goes on without a search space, since the process that was to
 * accept it died: sends it again. */
void dispatcher_send_space(struct manager *m);

/* Writes at what the dispatcher's workers were, as far as its lock file tells:
 * " while tuner NAME was at command N" (or the assessor, or " and" both), or "
 * was being set up"; "": at nothing. */
void dispatcher_blame(const struct manager *m, char *text, size_t size);

/* The pipe of its frames is readable: takes what it answers. */
void dispatcher_read_frames(struct manager *m);
/* Its standard error is readable: what it says is for people. */
void dispatcher_read_stderr(struct manager *m);
/* Its process has ended: takes what it said before, and starts another one
 * where that may help. */
void dispatcher_exited(struct manager *m);

#endif
