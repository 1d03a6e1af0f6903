/* SPDX-License-Identifier: MIT */
/* ending.h - the end of a trial, told to the dispatcher, recorded, and shown to
 * people, with the last lines of the first failure's standard error.  Inside
 * src/manager only. */
#ifndef MANAGER_ENDING_H
#define MANAGER_ENDING_H

#include "manager/trial.h"
#include "manager/attempt_end.h"

#include <stdbool.h>

struct manager;
struct result;

/* They hear of ends, ctx being the manager.  EN is sent, the result written (or
 * held, while the disk has no room), the end counted and shown. */
attempt_end_hear ending_send, ending_record, ending_show;

/* Counts an end that has been shown before; whether it is a new best one. */
bool ending_count(struct manager *m, const struct result *r, const char *id);

/* The last lines of its standard error; those of the first failure alone. */
void ending_show_stderr(struct manager *m, const struct trial *t);
void ending_show_first(struct manager *m, const struct trial *t);

/* Whether the trial was tried: it neither failed nor was ended by the user. */
bool ending_counts(enum trial_state state);

#endif
