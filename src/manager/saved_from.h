/* SPDX-License-Identifier: MIT */
/* saved_from.h - files outside their own folders of which trials saved copies
 * as checkpoints (trial/files.h, TRIAL_SAVED_FROM).  Where two that ran at the
 * same time saved the same one, either may have saved what the other had
 * written: people are told, once.  One thread. */
#ifndef MANAGER_SAVED_FROM_H
#define MANAGER_SAVED_FROM_H

#include "manager/attempt_end.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress;

/* A zeroed one but for the first. */
struct saved_from {
    struct progress *progress;
    struct saved_file {
        char *path;
        char trial[24];   /* that saved it and ended last, */
        int64_t ended_ns; /* then */
    } last[32];           /* of different paths; the oldest makes room */
    size_t n;             /* that there have been */
    bool told;
};

/* Hears the end of any attempt: ctx is the struct saved_from. */
attempt_end_hear saved_from_hear_end;
void saved_from_close(struct saved_from *s);

#endif
