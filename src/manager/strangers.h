/* SPDX-License-Identifier: MIT */
/* strangers.h - who else uses the machine, and when to look again.  A process
 * that holds a device is waited for by its end; what tells of nothing, free
 * memory for one, by a timer whose pauses grow.  Parts of struct resources.
 * One thread. */
#ifndef MANAGER_STRANGERS_H
#define MANAGER_STRANGERS_H

#include <stdbool.h>
#include <sys/types.h>

struct err;
struct resources;

/* Makes r->fd. */
int strangers_open(struct resources *r, struct err *err);
void strangers_close(struct resources *r);

/* Whether a process is one of a trial that holds something; `r` is the struct
 * resources. */
bool strangers_is_ours(void *r, pid_t pid);

/* r->fd becomes readable when it is time to look again. */
void strangers_arm(struct resources *r);
/* Something has changed by itself: no need to. */
void strangers_disarm(struct resources *r);
/* It is readable. */
void strangers_awake(struct resources *r);

#endif
