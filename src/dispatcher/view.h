/* SPDX-License-Identifier: MIT */
/* view.h - the state of the sides and the router between two commands, for
 * `tunepipe log --at` and recovery.  All of it is lent until the next
 * command. */
#ifndef DISPATCHER_VIEW_H
#define DISPATCHER_VIEW_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trials;

struct tuning_view {
    bool has_space;
    uint64_t next_id; /* the first id of the next request */
    const struct trials *trials;
};

/* A trial that has reported and not ended, as the router knows it. */
struct living_view {
    const char *job; /* job_len long, no NUL behind */
    size_t job_len;
    const struct parameter_id *parameter;
    uint64_t attempt;
    bool killed;    /* our KI for it has been written */
    bool has_marks; /* it has reported a number */
    struct mark latest;
};

struct viewer {
    /* Is told the ids that are owed, in the order in which they will be
     * served. */
    void (*owed)(void *ctx, uint64_t first, uint64_t count);
    /* Is told the living trials, in no order. */
    void (*living)(void *ctx, const struct living_view *v);
    void *ctx;
};

#endif
