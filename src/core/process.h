/* SPDX-License-Identifier: MIT */
/* process.h - processes that others have started: an id is given again to
 * another one, an id with the time at which it began is not.  Any thread. */
#ifndef CORE_PROCESS_H
#define CORE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* When it began, in ticks since the machine did, and its parent; 0: there is no
 * such process. */
uint64_t process_start(pid_t pid);
pid_t process_parent(pid_t pid);

/* A pidfd of the one that began then; -1: it is gone. */
int process_open(pid_t pid, uint64_t start);
/* Whether it has ended, be it that nobody has asked for its status yet. */
bool process_ended(int pidfd);
/* Sends it a signal. */
void process_kill(int pidfd, int number);

#endif
