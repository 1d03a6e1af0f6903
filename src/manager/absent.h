/* SPDX-License-Identifier: MIT */
/* absent.h - parameters that trials asked for and do not have (trial/files.h,
 * TRIAL_ABSENT).  One that the search space has, under a choice that the trial
 * was not given, is no mistake; of one that it lacks people are told, once, as
 * the trial goes on with a value of its own.  One thread. */
#ifndef MANAGER_ABSENT_H
#define MANAGER_ABSENT_H

#include "manager/attempt_end.h"

#include <stddef.h>

struct experiment;
struct progress;
struct trial;

/* A zeroed one but for the first two. */
struct absent {
    const struct experiment *x;
    struct progress *progress;
    char **names; /* that the search space has, once they are needed */
    size_t n, cap;
    char *told[8]; /* names that people were told of */
    size_t n_told;
};

/* Looks at what the trial has asked for so far. */
void absent_look(struct absent *a, const struct trial *t);
/* Hears the end of any attempt: ctx is the struct absent. */
attempt_end_hear absent_hear_end;
void absent_close(struct absent *a);

#endif
