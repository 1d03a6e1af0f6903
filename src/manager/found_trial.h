/* SPDX-License-Identifier: MIT */
/* found_trial.h - a trial as another manager left it.  Inside src/manager only;
 * one thread. */
#ifndef MANAGER_FOUND_TRIAL_H
#define MANAGER_FOUND_TRIAL_H

struct found;
struct manager;
struct trial;

/* Its last attempt, waiting, without a folder; the caller's.  NULL: what it is
 * to run with is not known any more, or out of memory. */
struct trial *found_trial(const struct manager *m, const struct found *f);

#endif
