/* SPDX-License-Identifier: MIT */
/* checkpoint.h - how a trial saves the state from which it can go on
 * (trial/files.h): all of it or nothing.  Any thread and any process. */
#ifndef TRIAL_CHECKPOINT_H
#define TRIAL_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Makes a checkpoint of what the trial has written into `saving`, which is
 * TUNEPIPE_CHECKPOINT_DIR and is empty again then; an empty one is refused.
 * *number becomes the checkpoint's; the manager is told in the metrics of
 * `trial_folder`. */
int checkpoint_commit(const char *saving, const char *trial_folder,
                      uint64_t *number, struct err *err);

/* Makes a checkpoint of copies of these files and folders, which must have
 * different names; as checkpoint_commit(). */
int checkpoint_save(const char *saving, const char *trial_folder,
                    char *const paths[], size_t n, uint64_t *number,
                    struct err *err);

/* The highest number in a trial's folder of checkpoints; 0: there is none. */
uint64_t checkpoint_newest(const char *folder);

#endif
