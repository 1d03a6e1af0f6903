/* SPDX-License-Identifier: MIT */
/* lineage.h - the line of trials that led to one, each of which went on from
 * the state of the one before, from an experiment's log.  One thread. */
#ifndef STORE_LINEAGE_H
#define STORE_LINEAGE_H

#include "json.h"

#include <stddef.h>
#include <stdint.h>

struct err;

struct lineage_trial {
    char *job;               /* trial_job_id */
    struct json *parameters; /* that it was given */
    uint64_t from; /* how many intermediate results the line had before it */
};

struct lineage {
    struct lineage_trial *trials; /* the first one first */
    size_t n;
};

/* Reads the line that led to a trial.  `word` is a trial_job_id, with or
 * without zeros in front, or a parameter_id.  A trial that was to go on from
 * a state and reported as one that had none begins a line, where there are
 * others that had.  -1: err tells; no such trial is ERR_CONFIG, a damaged
 * log ERR_LOG. */
int lineage_read(struct lineage *l, const char *folder, const char *word,
                 struct err *err);
void lineage_fini(struct lineage *l);

/* The parameters that the trial was given, as an object; or null. */
struct jval lineage_parameters(const struct lineage_trial *t);

#endif
