/* SPDX-License-Identifier: MIT */
/* finish_past.h - what counts for an experiment's goals, of the time before
 * this manager.  Inside src/manager only; one thread. */
#ifndef MANAGER_FINISH_PAST_H
#define MANAGER_FINISH_PAST_H

struct founds;
struct manager;
struct results;

/* Tells m->finish of the ends on record and of the attempts before them. */
void finish_past(struct manager *m, const struct results *results,
                 const struct founds *found);

#endif
