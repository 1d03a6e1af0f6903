/* SPDX-License-Identifier: MIT */
/* ending.h - the end of a trial, told: to the dispatcher, and to people, with
 * the last lines of the first failure's standard error.  Inside src/manager
 * only. */
#ifndef MANAGER_ENDING_H
#define MANAGER_ENDING_H

#include "manager/trial.h"

#include <stdbool.h>

struct manager;
struct result;

/* Sends EN; t is in a state it ends in. */
void ending_send(struct manager *m, const struct trial *t);

/* Counts an end that has been shown before; whether it is a new best one. */
bool ending_count(struct manager *m, const struct result *r, const char *id);

/* The last lines of its standard error; those of the first failure alone. */
void ending_show_stderr(struct manager *m, const struct trial *t);
void ending_show_first(struct manager *m, const struct trial *t);

/* Counts it and shows it. */
void ending_show(struct manager *m, const struct trial *t, double seconds);
/* Counts an interrupted trial and shows it. */
void ending_show_interrupted(struct manager *m, const struct trial *t,
                             double seconds);

/* Whether the trial was tried: it neither failed nor was ended by the user. */
bool ending_counts(enum trial_state state);

#endif
