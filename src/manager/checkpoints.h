/* SPDX-License-Identifier: MIT */
/* checkpoints.h - what trials have saved (trial/files.h, checkpoints): which
 * checkpoint an attempt is given, and which ones are deleted, when.  The files
 * are the truth; this is a table of them, so that they need not be read at each
 * turn.  One thread. */
#ifndef MANAGER_CHECKPOINTS_H
#define MANAGER_CHECKPOINTS_H

#include "manager/attempt_end.h"
#include "manager/trash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checkpoint_policy;
struct err;
struct pareto;
struct trial;

struct checkpoint {
    uint64_t trial, number, bytes;
    uint64_t steps;   /* intermediate results before it was saved; 0: also where
                         that is not known yet */
    uint64_t reached; /* of the trial that saved it when that, or its attempt,
                         ended, as far as its budget; 0: it has not */
    bool valued;      /* the trial had reported before it was saved: */
    double value;     /* its last intermediate result then */
    bool ended;       /* its trial has ended, and is not paused */
    bool given;       /* another trial saved it, and this one goes on from it */
    bool beyond;      /* saved when the trial had used up its budget */
    bool deleted;     /* the files are gone, and the row will be */
};

/* The newest checkpoint that is kept of a trial, saved by that trial itself, to
 * be freed; NULL: there is none. */
char *checkpoints_kept(const char *experiment_folder, const char *trial);

/* What the tuner and other trials want of what a trial has saved. */
struct checkpoint_claim {
    uint64_t trial;
    uint64_t pins; /* how many trials to come go on from it */
    bool released; /* the tuner says that no further trial will */
    bool ended;    /* the trial has ended since it was released */
};

/* A zeroed one has nothing and does nothing. */
struct checkpoints {
    char *folder; /* EXPERIMENT/checkpoints, absolute */
    const struct checkpoint_policy *policy;
    bool minimize;
    /* With objectives the best are the trials on the front, of which alone
     * CHECKPOINTS_BEST keeps something behind their ends; NULL: there are none.
     */
    const struct pareto *front;
    bool lockstep; /* an attempt is given what the first one was */
    bool told; /* an attempt is given what an earlier one told of alone: that
                  may live on elsewhere, and save as if it still counted */
    bool deferred; /* trials to come are not known yet: nothing is deleted
                      before checkpoints_settle() */
    struct checkpoint *items; /* in about the order in which they were saved */
    size_t n, cap;
    struct checkpoint_claim *claims;
    size_t n_claims, claims_cap;
    uint64_t bytes; /* that all items take */
    struct trash trash;
    bool crowded; /* all that are left are needed, and take more than the
                     quota */
};

/* Takes stock of the checkpoints that an earlier manager has left; each counts
 * as one of a trial that has not ended.  The policy is borrowed. */
int checkpoints_open(struct checkpoints *c, const char *experiment_folder,
                     const struct checkpoint_policy *policy, bool minimize,
                     struct err *err);
void checkpoints_close(struct checkpoints *c);

/* Makes the folder that an attempt of the trial saves into, the same for each
 * of its phases (unless `make` is not set: whoever saves makes it), and removes
 * what another attempt has left unfinished.  A trial that goes on from another
 * one is given that one's newest checkpoint, whole or not at all.  Sets
 * t->restore to the number of the checkpoint that the attempt goes on from, 0:
 * none, and t->step. */
int checkpoints_begin(struct checkpoints *c, struct trial *t, bool make,
                      struct err *err);

/* Gives t the checkpoint that it goes on from before it begins, where that
 * takes long perhaps in another process.  -1: it could not be given, and
 * nothing is left of it that anybody would take for a checkpoint. */
int checkpoints_inherit(struct checkpoints *c, const struct trial *t,
                        struct err *err);
/* How many bytes checkpoints_inherit() would copy; 0: there is nothing to give,
 * it is there already, or links are enough. */
uint64_t checkpoints_to_copy(const struct checkpoints *c,
                             const struct trial *t);
/* Another process has given t what it goes on from. */
void checkpoints_inherited(struct checkpoints *c, const struct trial *t);

/* TUNEPIPE_CHECKPOINT_DIR and TUNEPIPE_RESTORE_DIR of an attempt, to be freed;
 * NULL: out of memory, or there is nothing that the attempt goes on from. */
char *checkpoints_saving(const struct checkpoints *c, const struct trial *t);
char *checkpoints_restore(const struct checkpoints *c, const struct trial *t);

/* The trial says that it has saved the checkpoint of this number, after it had
 * reported so many intermediate results in this attempt; older ones may be
 * deleted for it.  Where it has said so before only the value is taken.  True:
 * for the first time what has to stay takes more than the quota. */
bool checkpoints_saved(struct checkpoints *c, const struct trial *t,
                       uint64_t number, uint64_t reports);

/* Whether the attempt, which begins, goes on from a checkpoint that was saved
 * one report before the last of the trial, or of the attempt, that saved it: as
 * by a program that saves a step before it reports it.  That step is done
 * twice. */
bool checkpoints_are_early(const struct checkpoints *c, const struct trial *t);

/* The trial has ended for good; of a paused one the newest checkpoint stays. */
void checkpoints_ended(struct checkpoints *c, const struct trial *t);
/* Hears the end of any trial: ctx is the checkpoints. */
attempt_end_hear checkpoints_hear_end;
/* The trial of this number ended under an earlier manager. */
void checkpoints_ended_before(struct checkpoints *c, uint64_t trial,
                              bool paused);

/* A trial to come goes on from this trial's newest checkpoint, which stays
 * until that trial has begun, or will not begin any more.  `done`: nobody else
 * will go on from it, either. */
void checkpoints_pin(struct checkpoints *c, uint64_t trial);
void checkpoints_unpin(struct checkpoints *c, uint64_t trial, bool done);
/* The tuner needs this trial's checkpoints no more: they are deleted, unless
 * the policy keeps all, once no trial to come goes on from them and the trial
 * has ended, as it has already where `ended`. */
void checkpoints_release(struct checkpoints *c, uint64_t trial, bool ended);
/* Deletes all checkpoints of the trial at once. */
void checkpoints_delete(struct checkpoints *c, uint64_t trial);
/* Trials to come are known: deletes what was deferred. */
void checkpoints_settle(struct checkpoints *c);
/* The experiment is over: trials that are paused will not go on. */
void checkpoints_over(struct checkpoints *c);

#endif
