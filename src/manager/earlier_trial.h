/* SPDX-License-Identifier: MIT */
/* earlier_trial.h - the trials that earlier managers left, as three witnesses
 * know them: results, command log, folders.  Inside src/manager only; one
 * thread. */
#ifndef MANAGER_EARLIER_TRIAL_H
#define MANAGER_EARLIER_TRIAL_H

#include "core/idset.h"
#include "core/map.h"
#include "manager/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct experiment;
struct packs;
struct logged_trial;
struct resume_log;
struct trial;

struct earlier_trial {
    char id[24];
    uint64_t number, attempt;
    bool has_folder;                   /* its last attempt, be it in a pack */
    bool in_place;                     /* an attempt in the folder of trials, */
    bool packed;                       /* or in a pack, or in both */
    struct result *result;             /* owned; NULL: no end is recorded */
    uint64_t place;                    /* of the result among all */
    const struct logged_trial *logged; /* NULL: the log has no start of it */
    bool end_told;                     /* the dispatcher knows of its end */
    bool dropped; /* its TR stood in a segment that was dropped */
};

/* Hears of a trial whose end is recorded and known to the dispatcher. */
typedef void earlier_trial_done(void *ctx, uint64_t number,
                                const struct result *result);

/* A zeroed one but for the first four is empty. */
struct earlier_trials {
    bool results_alone; /* of these nothing else is kept but of those that have
                           a folder in place */
    earlier_trial_done *done;
    results_take *each; /* hears of all ends on record, in their order, first */
    void *ctx;
    struct earlier_trial **items; /* owned; by number, once gathered */
    size_t n, cap;
    struct map by_id;
    struct idset over; /* those that are done */
    bool failed;       /* out of memory */
};

/* `folder` is the experiment's, which runs so many trials at a time; results
 * and log are borrowed until earlier_trials_fini(). */
int earlier_trials_gather(struct earlier_trials *all, struct results *results,
                          const struct resume_log *log, const char *folder,
                          uint64_t concurrency, struct err *err);
void earlier_trials_fini(struct earlier_trials *all);

/* The payload of its TR, to be freed, when the log knows nothing of its
 * parameters, but its folder or its result does; else NULL. */
char *earlier_trial_unlogged(const struct earlier_trial *e,
                             const struct resume_log *log, const char *folder,
                             struct packs *k);

/* Its last attempt, waiting, without a folder; the caller's.  NULL: what it is
 * to run with is not known any more, or out of memory. */
struct trial *earlier_trial_restore(const struct earlier_trial *e,
                                    const struct experiment *x,
                                    const char *folder, struct packs *k);

#endif
