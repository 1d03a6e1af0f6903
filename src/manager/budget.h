/* SPDX-License-Identifier: MIT */
/* budget.h - how long an experiment has run, and how far it may go, whoever
 * its manager was, and what was changed while it ran: budget.json in its
 * folder.  The clock is the monotonic one,
 * so what the clock of the day does, or a machine that is off, costs nothing.
 * One thread. */
#ifndef MANAGER_BUDGET_H
#define MANAGER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define FOLDER_BUDGET "budget.json"

struct budget {
    int64_t used_ns;        /* by all managers so far */
    uint64_t max_trials;    /* 0: no limit */
    int64_t max_ms;         /* 0: no limit */
    uint64_t concurrency;   /* set while it ran; 0: the configuration's */
    bool paused;            /* no trials are begun: coordinator.h */
    bool halted;            /* the same, because trials failed: failing.h; shown
                               while this manager lives, and not taken up */
    int64_t at_ns, save_ns; /* of the monotonic clock: used_ns is as it was at
                               the one; to be saved at the other */
};

/* What is kept in the folder; false, and *b is not touched: nothing is. */
bool budget_load(struct budget *b, const char *folder);

/* The clock starts, with what was used before. */
void budget_start(struct budget *b, int64_t now_ns);
/* Counts what has passed since. */
void budget_count(struct budget *b, int64_t now_ns);
/* When no more may be begun; INT64_MAX: never. */
int64_t budget_deadline(const struct budget *b);

/* Replaces the file; when it is to be done next is in save_ns. */
int budget_save(struct budget *b, const char *folder, struct err *err);

#endif
