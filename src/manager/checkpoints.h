/* SPDX-License-Identifier: MIT */
/* checkpoints.h - what trials have saved (trial/files.h, checkpoints): which
 * one an attempt is given, and which ones are deleted, when.  The files are the
 * truth; here is what they would be asked for at each turn.
 * One thread. */
#ifndef MANAGER_CHECKPOINTS_H
#define MANAGER_CHECKPOINTS_H

#include "manager/attempt_end.h"
#include "manager/trash.h"

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
    bool ended;   /* its trial has, and is not paused */
    bool given;   /* by another trial */
    bool beyond;  /* saved when the trial had used up its budget */
    bool deleted; /* its row is to go, too */
};

/* Somebody else's word about what a trial has saved. */
struct checkpoint_claim {
    uint64_t trial;
    uint64_t pins; /* trials to come that go on from there */
    bool released; /* by the tuner: nobody else will */
    bool ended;    /* the trial has, since it was released */
};

/* A zeroed one has nothing and does nothing. */
struct checkpoints {
    char *folder; /* EXPERIMENT/checkpoints, absolute */
    const struct checkpoint_policy *policy;
    bool minimize;
    bool lockstep; /* an attempt is given what the first one was */
    bool deferred; /* trials to come are not known yet: nothing is released */
    struct checkpoint *items; /* in the order of their saving, about */
    size_t n, cap;
    struct checkpoint_claim *claims;
    size_t n_claims, claims_cap;
    uint64_t bytes; /* of all items */
    struct trash trash;
    bool crowded; /* all that are left are needed, and above the quota */
};

/* Takes stock of what an earlier manager has left; each counts as one of a
 * trial that has not ended.  The policy is borrowed. */
int checkpoints_open(struct checkpoints *c, const char *experiment_folder,
                     const struct checkpoint_policy *policy, bool minimize,
                     struct err *err);
void checkpoints_close(struct checkpoints *c);

/* Makes what an attempt of the trial needs to save, for each of its phases,
 * without what another one has left unfinished, and, where it goes on from
 * another trial, gives it that one's newest checkpoint, whole or not at all.
 * Sets t->restore to the number it goes on from, 0: none, and t->step. */
int checkpoints_begin(struct checkpoints *c, struct trial *t, struct err *err);

/* Gives t what it goes on from beforehand; it may be another process that does.
 * -1: not, and nothing is left of it that anybody would be given. */
int checkpoints_inherit(struct checkpoints *c, const struct trial *t,
                        struct err *err);
/* How many bytes that would copy; 0: there is nothing to give, or it is there
 * already, or links do. */
uint64_t checkpoints_to_copy(const struct checkpoints *c,
                             const struct trial *t);
/* Another process has done it. */
void checkpoints_inherited(struct checkpoints *c, const struct trial *t);

/* TUNEPIPE_CHECKPOINT_DIR and TUNEPIPE_RESTORE_DIR of an attempt, to be freed;
 * NULL: out of memory, or, of the latter, there is none. */
char *checkpoints_saving(const struct checkpoints *c, const struct trial *t);
char *checkpoints_restore(const struct checkpoints *c, const struct trial *t);

/* The trial has told of one, having reported so many intermediate results in
 * this attempt; others may go.  Of one told before, or deleted, only the value
 * is learnt.  True: the quota is exceeded for the first time by what has to
 * stay. */
bool checkpoints_saved(struct checkpoints *c, const struct trial *t,
                       uint64_t number, uint64_t reports);

/* The trial has ended for good; of a paused one the newest stays. */
void checkpoints_ended(struct checkpoints *c, const struct trial *t);
/* Of any trial: ctx is its checkpoints. */
attempt_end_hear checkpoints_hear_end;
/* The same of one that an earlier manager has seen to its end. */
void checkpoints_known(struct checkpoints *c, uint64_t trial, bool paused);

/* A trial to come needs the newest of this one; it has come, or will not.
 * `done`: nobody else will, either. */
void checkpoints_pin(struct checkpoints *c, uint64_t trial);
void checkpoints_unpin(struct checkpoints *c, uint64_t trial, bool done);
/* All of the trial's go once no trial to come needs them and it has ended,
 * unless all are kept. */
void checkpoints_release(struct checkpoints *c, uint64_t trial, bool ended);
/* All that lies there for the trial goes at once. */
void checkpoints_delete(struct checkpoints *c, uint64_t trial);
/* What was deferred. */
void checkpoints_settle(struct checkpoints *c);
/* The experiment is over: what is paused will not go on. */
void checkpoints_over(struct checkpoints *c);

#endif
