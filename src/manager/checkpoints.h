/* SPDX-License-Identifier: MIT */
/* checkpoints.h - what trials have saved (trial/files.h, checkpoints): which
 * one an attempt is given, and which ones are deleted, when.  The files are the
 * truth; here is what they would be asked for at each turn.  One thread. */
#ifndef MANAGER_CHECKPOINTS_H
#define MANAGER_CHECKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checkpoint_policy;
struct err;
struct trial;

struct checkpoint {
    uint64_t trial, number, bytes;
    bool valued;
    double value; /* the trial's last report before it */
    bool ended;   /* its trial has */
};

/* A zeroed one has nothing and does nothing. */
struct checkpoints {
    char *folder; /* EXPERIMENT/checkpoints, absolute */
    const struct checkpoint_policy *policy;
    bool minimize;
    struct checkpoint *items; /* in the order of their saving, about */
    size_t n, cap;
    uint64_t bytes; /* of all */
    bool crowded;   /* all that are left are needed, and above the quota */
};

/* Takes stock of what an earlier manager has left; each counts as one of a
 * trial that has not ended.  The policy is borrowed. */
int checkpoints_open(struct checkpoints *c, const char *experiment_folder,
                     const struct checkpoint_policy *policy, bool minimize,
                     struct err *err);
void checkpoints_close(struct checkpoints *c);

/* Makes what an attempt of the trial needs to save, for each of its phases,
 * without what another one has left unfinished; sets t->restore to the newest
 * number, 0: none. */
int checkpoints_begin(const struct checkpoints *c, struct trial *t,
                      struct err *err);

/* TUNEPIPE_CHECKPOINT_DIR and TUNEPIPE_RESTORE_DIR of an attempt, to be freed;
 * NULL: out of memory, or, of the latter, there is none. */
char *checkpoints_saving(const struct checkpoints *c, const struct trial *t);
char *checkpoints_restore(const struct checkpoints *c, const struct trial *t);

/* The trial has told of one; others may go.  Of one told before, or deleted,
 * only the value is learnt.  True: the quota is exceeded for the first time by
 * what has to stay. */
bool checkpoints_saved(struct checkpoints *c, const struct trial *t,
                       uint64_t number);

/* The trial with this number has ended for good. */
void checkpoints_ended(struct checkpoints *c, uint64_t trial);

#endif
