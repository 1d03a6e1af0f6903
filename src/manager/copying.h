/* SPDX-License-Identifier: MIT */
/* copying.h - a large checkpoint is copied for the clone of a trial by a
 * process of its own, while the loop goes on; the clone waits, and starts when
 * it is done.  Where that fails the start itself tries again and tells why.  In
 * lock step, where a round may not depend on how long a copy takes, the loop
 * does it, as with small ones.  One thread; the process dies with the manager.
 */
#ifndef MANAGER_COPYING_H
#define MANAGER_COPYING_H

#include "manager/attempt_end.h"

#include <stdbool.h>

struct checkpoints;
struct live;
struct sources;
struct trial;

struct copying {
    struct checkpoints *checkpoints;
    const struct sources *sources;
    struct live *live;
    bool by_process; /* else, in lock step, by the loop alone */
};

#define COPYING_WHY "the checkpoint from which it goes on is being copied"

/* Whether t, which waits, has to wait for that; begins with it. */
bool copying_first(struct copying *c, struct trial *t);
/* The process has ended. */
void copying_exited(struct copying *c, struct trial *t);
/* Of any trial, which then needs its copy no more: ctx is the copying. */
attempt_end_hear copying_hear_end;

#endif
