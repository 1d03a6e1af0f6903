/* SPDX-License-Identifier: MIT */
/* packing.h - the folders of trials that have ended for good go into packs
 * (pack/packer.h), or are removed, as keepTrialFiles and trialOutput say; by a
 * thread, so that the loop never waits for the disk.  Nothing is removed for
 * good before the trial's end is in results.jsonl and in the dispatcher's log,
 * both on stable storage.  What fails, as on a full disk, is tried again, and
 * by the next manager.  One thread. */
#ifndef MANAGER_PACKING_H
#define MANAGER_PACKING_H

#include "core/err.h"
#include "core/wake.h"
#include "manager/attempt_end.h"
#include "manager/deadlines.h"
#include "pack/packer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errand;
struct exchange;
struct experiment;
struct experiment_folder;
struct hooks;
struct progress;
struct sources;

/* Whether what has this name in the folder of an attempt is ours. */
packer_is_ours packing_is_ours;

/* A trial whose folders are due. */
struct packing_trial {
    uint64_t number, attempts;
    bool failed;
    uint64_t frame; /* its end, as exchange_logged() counts */
    int64_t due_ns;
};

/* In the order in which they come due. */
struct packing_list {
    struct packing_trial *items;
    size_t front, n, cap; /* those before `front` are done */
};

#define PACKING_BATCH 256

/* What the thread is at: the thread's while an errand is under way. */
struct packing_errand {
    char *folder, *trials;
    struct packer *packer;
    struct pack_trial trials_of[PACKING_BATCH]; /* by number */
    size_t n;
    bool removes;   /* for good, at least one file */
    int results_fd; /* borrowed */
    int rc;
    struct err err, left, aside;
};

struct packing {
    const struct experiment *x;
    struct experiment_folder *folder;
    const struct exchange *exchange;
    const struct hooks *hooks;
    struct progress *progress;
    struct sources *sources;
    struct deadlines *deadlines;

    struct packing_list files;  /* ours, with output that is packed */
    struct packing_list output; /* that is dropped */
    struct packing_list spared; /* the same, but that it was the best's */
    struct packing_list *taken; /* from its front the errand has its trials */
    struct errand *errand;      /* NULL: none was needed yet */
    struct wake wake;
    bool busy;       /* an errand is under way */
    bool fails;      /* the last one failed, which was told */
    bool left_told;  /* that something had to stay where it is */
    bool all_logged; /* the dispatcher has ended well */
    struct deadline due;
    struct packing_errand at;
};

void packing_close(struct packing *p);

/* Hears the end of any trial: ctx is the packing. */
attempt_end_hear packing_hear_end;
/* The trial ended under an earlier manager, so long ago, and both witnesses
 * have it. */
void packing_found(struct packing *p, uint64_t number, uint64_t attempts,
                   bool failed, int64_t ago_ns);

/* Begins what is due, if nothing is under way; for each turn of the loop. */
void packing_go(struct packing *p);
/* The thread has said that it is done. */
void packing_take(struct packing *p);

/* Nothing comes any more: does what is due, and what would have been soon, and
 * waits for it.  `logged`: the dispatcher has logged all that it was sent. */
void packing_finish(struct packing *p, bool logged);

#endif
