/* SPDX-License-Identifier: MIT */
/* syncing.h - results.jsonl goes to stable storage as the command log does, by
 * the same policy: one sync for all results of the meantime, by a thread of its
 * own, so that nobody waits for the disk.  Until then the log has them.  One
 * thread but for that. */
#ifndef MANAGER_SYNCING_H
#define MANAGER_SYNCING_H

#include "core/log_policy.h"
#include "core/wake.h"
#include "manager/deadlines.h"

#include <stdbool.h>

struct errand;

/* Zeroed but for the borrowed first three: idle. */
struct syncing {
    struct deadlines *deadlines;
    const struct sync_policy *policy;
    const int *fd; /* of the file */
    struct errand *errand;
    struct wake wake; /* nobody looks: the next deadline does */
    struct deadline due;
    bool more, busy; /* appended since the last sync; one is under way */
};

/* Something was appended to the file. */
void syncing_appended(struct syncing *s);
/* With a last sync, where one is due. */
void syncing_close(struct syncing *s);

#endif
