/* SPDX-License-Identifier: MIT */
/* budget.h - how long an experiment has run under all its managers, how far it
 * may go, and what was changed while it ran: budget.json in its folder.  The
 * clock is the monotonic one, so that setting the clock of the day, or a
 * machine that is off, costs nothing.  One thread. */
#ifndef MANAGER_BUDGET_H
#define MANAGER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct progress;

#define FOLDER_BUDGET "budget.json"

struct budget {
    int64_t used_ns;      /* by all managers so far */
    uint64_t max_trials;  /* 0: no limit */
    int64_t max_ms;       /* 0: no limit */
    uint64_t concurrency; /* set while it ran; 0: the configuration's */
    bool paused;          /* by the user, no trials are begun: coordinator.h */
    bool halted;     /* no trials are begun because trials failed: failing.h;
                        shown while this manager lives, and not kept by a resume */
    int64_t at_ns;   /* the monotonic time up to which used_ns counts */
    int64_t save_ns; /* when it is to be saved again */
};

/* Reads what the folder keeps; false: it keeps nothing, or something damaged,
 * and *b is as before. */
bool budget_load(struct budget *b, const char *folder);

/* The clock starts; what earlier managers used is in used_ns. */
void budget_start(struct budget *b, int64_t now_ns);
/* Adds the time that has passed to used_ns. */
void budget_count(struct budget *b, int64_t now_ns);
/* When no more trials may be begun; INT64_MAX: never. */
int64_t budget_deadline(const struct budget *b);

/* Replaces the file and sets save_ns. */
int budget_save(struct budget *b, const char *folder, struct err *err);
/* Saves what is used by now, and warns where that fails: it costs what is
 * counted of it, and nothing else. */
void budget_keep(struct budget *b, const char *folder, struct progress *p);

#endif
