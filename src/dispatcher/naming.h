/* SPDX-License-Identifier: MIT */
/* naming.h - how lines for people name a trial.  Any thread. */
#ifndef DISPATCHER_NAMING_H
#define DISPATCHER_NAMING_H

struct parameter_id;

#define NAMING_MAX 160

/* Writes "trial 'A' (parameter_id 7)" to out, long names cut; returns out. */
const char *naming_trial(char out[NAMING_MAX], const char *job,
                         const struct parameter_id *id);

#endif
