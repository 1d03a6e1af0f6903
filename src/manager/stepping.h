/* SPDX-License-Identifier: MIT */
/* stepping.h - what waits for the dispatcher's word: synchronous reports, and,
 * in lock step (m->lockstep.on), everything.  Inside src/manager only. */
#ifndef MANAGER_STEPPING_H
#define MANAGER_STEPPING_H

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct manager;
struct metric_line;
struct trial;

/* AK: whoever waits for it goes on. */
void stepping_acknowledged(struct manager *m, const struct frame *frame);

/* The rest is for lock step alone. */

/* Does what is to be done now. */
void stepping_go(struct manager *m);

/* A trial runs; it has reported; its processes are gone; it was stopped. */
void stepping_started(struct manager *m, struct trial *t);
void stepping_take(struct manager *m, struct trial *t,
                   const struct metric_line *metric);
void stepping_exited(struct manager *m, struct trial *t);
void stepping_stopped(struct manager *m, struct trial *t);

/* Gives up lock step: what trials have reported counts, who has ended has. */
void stepping_release(struct manager *m);

/* The price: a line for people. */
void stepping_say(struct manager *m);

#endif
