/* SPDX-License-Identifier: MIT */
/* torture.h - what happens when memory runs out: a case is run again and
 * again, each time with another of its allocations failing, until none is
 * left to fail.  Each time it must fail with an error, leave nothing behind
 * and work when it is run again. */
#ifndef TESTS_TORTURE_H
#define TESTS_TORTURE_H

#include <stddef.h>

struct err;

struct torture_case {
    const char *name; /* NULL ends a table */
    /* 0, or -1 with err filled; has freed all it allocated. */
    int (*run)(struct err *err);
    int may_pass; /* it has a second way: then the failure may not show */
};

extern const struct torture_case torture_core[], torture_pack[],
    torture_protocol[], torture_space[], torture_log[], torture_history[],
    torture_plugin[], torture_config[], torture_session[], torture_state[],
    torture_saving[], torture_plugins[], torture_objectives[];

/* ---- failing.c ---- */

/* From here on the n-th allocation fails (0: none does). */
void failing_arm(unsigned long n);
/* Whether it has; disarms. */
int failing_fired(void);
/* Allocations that are not freed yet; 0 where a leak checker counts. */
long failing_live(void);

#endif
