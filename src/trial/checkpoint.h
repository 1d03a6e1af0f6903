/* SPDX-License-Identifier: MIT */
/* checkpoint.h - a trial saves what it needs to go on (trial/files.h): all of
 * it or nothing.  Any thread and any process. */
#ifndef TRIAL_CHECKPOINT_H
#define TRIAL_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Of `saving`, which is TUNEPIPE_CHECKPOINT_DIR: what the trial wrote into it
 * becomes a checkpoint, and it is empty again.  An empty one is refused.
 * *number is then the checkpoint's; the manager is told in the metrics of
 * `trial_folder`. */
int checkpoint_commit(const char *saving, const char *trial_folder,
                      uint64_t *number, struct err *err);

/* The same of copies of these files and folders, which must have different
 * names. */
int checkpoint_save(const char *saving, const char *trial_folder,
                    char *const paths[], size_t n, uint64_t *number,
                    struct err *err);

/* The highest number in a trial's folder of checkpoints; 0: there is none. */
uint64_t checkpoint_newest(const char *folder);

#endif
