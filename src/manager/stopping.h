/* SPDX-License-Identifier: MIT */
/* stopping.h - a trial's program is told to end: SIGTERM, and behind its grace
 * the runner's last resort.  Inside src/manager only; one thread. */
#ifndef MANAGER_STOPPING_H
#define MANAGER_STOPPING_H

#include <stdint.h>

struct dues;
struct trial;

struct stopping {
    const struct dues *dues;
    int64_t grace_ms;
};

/* Once: said again it changes nothing. */
void stopping_terminate(const struct stopping *s, struct trial *t);
/* A second SIGTERM, which ends its grace. */
void stopping_hurry(const struct stopping *s, struct trial *t);
/* Told to end by itself it has reported another intermediate result. */
void stopping_defied(const struct stopping *s, struct trial *t);
/* It reported to be done: it is ended as one that has succeeded. */
void stopping_done(const struct stopping *s, struct trial *t);

#endif
