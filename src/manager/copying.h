/* SPDX-License-Identifier: MIT */
/* copying.h - a large checkpoint is copied for the clone of a trial by a
 * process of its own, while the loop goes on; the clone waits, and starts when
 * it is done.  Where that fails the start itself tries again and tells why.  In
 * lock step, where a round may not depend on how long a copy takes, the loop
 * does it, as with small ones.  One thread; the process dies with the manager.
 */
#ifndef MANAGER_COPYING_H
#define MANAGER_COPYING_H

#include <stdbool.h>

struct manager;
struct trial;

#define COPYING_WHY "the checkpoint from which it goes on is being copied"

/* Whether t, which waits, has to wait for that; begins with it. */
bool copying_first(struct manager *m, struct trial *t);
/* The process has ended. */
void copying_exited(struct manager *m, struct trial *t);
/* The trial does not start any more. */
void copying_stop(struct manager *m, struct trial *t);

#endif
