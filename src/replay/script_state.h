/* SPDX-License-Identifier: MIT */
/* script_state.h - what script.c, which walks the log, and script_needs.c,
 * which finds the causes, share.  Internal to them. */
#ifndef REPLAY_SCRIPT_STATE_H
#define REPLAY_SCRIPT_STATE_H

#include "replay/script.h"

/* What the log has shown of a parameter_id, a trial. */
struct script_id {
    size_t trial;
};
struct script_job {
    bool killed, paused, ended;
    size_t acks;
};

/* The entry of that key, made when it is new; NULL: out of memory. */
void *script_entry(struct map *m, const void *key, size_t len, size_t size);
struct script_job *script_job_of(struct script *s, const char *job);

/* Fills what the step needs of what the log has shown before it. */
int script_needs(struct script *s, struct script_step *step, struct err *err);

#endif
