/* SPDX-License-Identifier: MIT */
/* stepping.h - what waits for the dispatcher's word: synchronous reports, and,
 * in lock step (m->lockstep.on), everything.  Inside src/manager only. */
#ifndef MANAGER_STEPPING_H
#define MANAGER_STEPPING_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct frame;
struct manager;
struct metric_line;
struct resume_log;
struct trial;

/* AK: whoever waits for it goes on. */
void stepping_acknowledged(struct manager *m, const struct frame *frame);

/* Whether new trials may be started now; those that are started again have
 * their turn in any case. */
bool stepping_may_start(const struct manager *m);

/* The rest is for lock step alone. */

/* Does what is to be done now. */
void stepping_go(struct manager *m);

/* A trial runs; it has reported; its processes are gone; it was stopped. */
void stepping_started(struct manager *m, struct trial *t);
void stepping_take(struct manager *m, struct trial *t,
                   struct metric_line *metric);
void stepping_exited(struct manager *m, struct trial *t);
void stepping_stopped(struct manager *m, struct trial *t);

/* Goes on where an earlier manager was. */
void stepping_resume(struct manager *m, const struct resume_log *log);
/* The dispatcher goes on from its log of `last` commands. */
void stepping_resumed(struct manager *m, uint64_t last, uint64_t owed,
                      uint64_t served, uint64_t asked);

/* The price: a line for people. */
void stepping_say(struct manager *m);

#endif
