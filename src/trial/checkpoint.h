/* SPDX-License-Identifier: MIT */
/* checkpoint.h - how a trial saves the state from which it can go on
 * (trial/files.h): all of it or nothing.  Any thread and any process. */
#ifndef TRIAL_CHECKPOINT_H
#define TRIAL_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* A checkpoint that is complete and on stable storage and has no number yet. */
struct checkpoint_draft {
    char *folder, *home; /* home: the trial's folder of checkpoints */
    bool saving;         /* it is TUNEPIPE_CHECKPOINT_DIR, which is made anew */
};

/* Makes one of copies of these files and folders, which must have different
 * names; or, where there are none, or the one is `saving` itself, of what the
 * trial has written into `saving`, which is TUNEPIPE_CHECKPOINT_DIR.  An empty
 * one is refused. */
int checkpoint_draft(struct checkpoint_draft *d, const char *saving,
                     const char *const paths[], size_t n, struct err *err);

/* Gives the draft its number and tells the manager in the metrics of
 * `trial_folder`: it counts the reports that stand there before, so that a
 * step's checkpoint is published behind its report. */
int checkpoint_publish(struct checkpoint_draft *d, const char *trial_folder,
                       struct err *err);

/* Notes in the trial's folder which of these files and folders lie outside it
 * (trial/files.h, TRIAL_SAVED_FROM); a failure costs the note. */
void checkpoint_note(const char *trial_folder, const char *const paths[],
                     size_t n);

/* Frees a draft, and removes what was copied for one without a number; a zeroed
 * one has nothing. */
void checkpoint_drop(struct checkpoint_draft *d);

/* The highest number in a trial's folder of checkpoints; 0: there is none. */
uint64_t checkpoint_newest(const char *folder);

#endif
