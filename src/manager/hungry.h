/* SPDX-License-Identifier: MIT */
/* hungry.h - the trials that are to be looked at again in the next round, since
 * their files may hold more than was read: nobody else is looked at.  Inside
 * src/manager only; one thread. */
#ifndef MANAGER_HUNGRY_H
#define MANAGER_HUNGRY_H

struct manager;
struct trial;

/* Not twice when it is said twice. */
void hungry_add(struct manager *m, struct trial *t);
/* All whose programs have ended, whatever they wait for. */
void hungry_add_ended(struct manager *m);
void hungry_drop(struct manager *m, struct trial *t); /* if it is one */

/* Reads on, or to the end; may free them. */
void hungry_feed(struct manager *m);

#endif
