/* SPDX-License-Identifier: MIT */
/* checkpoints_inside.h - what the files named in checkpoints.h share. */
#ifndef MANAGER_CHECKPOINTS_INSIDE_H
#define MANAGER_CHECKPOINTS_INSIDE_H

#include "manager/checkpoints.h"

/* The trial's folder, or, where a name is given, what is in it; to be freed. */
char *checkpoints_place(const struct checkpoints *c, uint64_t trial,
                        const char *name);
char *checkpoints_place_of(const struct checkpoints *c, uint64_t trial,
                           const char *prefix, uint64_t number);

/* NULL: there is no such folder, or no memory. */
struct checkpoint *checkpoints_add(struct checkpoints *c, uint64_t trial,
                                   uint64_t number);
/* Removes whatever no checkpoint is from a trial's folder. */
void checkpoints_clean(struct checkpoints *c, const char *home);

/* checkpoints_keep.c.  Deletes what has to go, of this trial and for the quota;
 * true: it is crowded, and was not before. */
bool checkpoints_prune(struct checkpoints *c, uint64_t trial);
const struct checkpoint_claim *checkpoints_claim(const struct checkpoints *c,
                                                 uint64_t trial);
/* The trial has ended: what was released goes. */
void checkpoints_drop(struct checkpoints *c, uint64_t trial);

/* checkpoints_steps.c: the file that tells of one. */
struct checkpoint_steps {
    uint64_t steps;
    bool given, beyond; /* as in struct checkpoint */
};

/* False: there is no such file. */
bool checkpoints_steps_read(const struct checkpoints *c, uint64_t trial,
                            uint64_t number, struct checkpoint_steps *out);
int checkpoints_steps_write(const struct checkpoints *c, uint64_t trial,
                            uint64_t number, const struct checkpoint_steps *of,
                            struct err *err);
void checkpoints_steps_remove(const struct checkpoints *c, uint64_t trial,
                              uint64_t number);
/* The same where nobody has written it: what earlier attempts at t reported
 * before they told of this number. */
uint64_t checkpoints_steps_find(const struct checkpoints *c,
                                const struct trial *t, uint64_t number);

#endif
