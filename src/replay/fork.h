/* SPDX-License-Identifier: MIT */
/* fork.h - a new log from the beginning of another: its head, in which some
 * things may be changed, and its records up to an arrival number, as they stood
 * when that input had come.  What was still to be answered then is derived when
 * the new session goes on; what stood behind it (a stop, too) never happened.
 *
 * A change is allowed when the records up to there still replay to the same
 * answers, so that the new log is as true as the old one.  Another assessor is
 * taken to have judged alone from the beginning: what the old one said is left
 * out, and what the new one says to trials that ended, too, is on record.
 * One thread. */
#ifndef REPLAY_FORK_H
#define REPLAY_FORK_H

#include "core/map.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log;
struct plugin_paths;

/* What to change; members that are NULL or false leave it as it was. */
struct fork_changes {
    const char *tuner, *assessor;
    struct jval tuner_args, assessor_args; /* objects, or null */
    bool no_assessor, has_seed;
    uint64_t seed;
    const char *early_stopped, *on_error, *ask_error;
};

struct fork_setup {
    const char *path;   /* of the log */
    const char *folder; /* for the new log; is made, or has no log in it */
    uint64_t at;        /* number of the last input to be kept */
    const struct fork_changes *changes;
    const struct plugin_paths *paths;
    const struct log *log; /* for the lines that handlers write */
};

/* Finds the command that ended a trial, which `word` names as logtrial_find()
 * knows it: its EN, the first of them.  -1: there is none, as err says. */
int fork_find_end(const char *path, const char *word, uint64_t *at,
                  struct err *err);

struct fork_report {
    uint64_t inputs;  /* inputs that were kept */
    uint64_t answers; /* answers that were kept */
    uint64_t unsent;  /* answers that follow when the session goes on */
    struct map ended; /* trial_job_id of each trial that has ended: non-NULL */
    uint64_t seed;    /* the seed in the new head */
};

/* Forks a log.  -1: err tells why, and what was made is removed again.
 * fork_report_fini() is to be called in either case. */
int fork_run(const struct fork_setup *setup, struct fork_report *report,
             struct err *err);
void fork_report_fini(struct fork_report *report);

#endif
