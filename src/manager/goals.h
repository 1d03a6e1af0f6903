/* SPDX-License-Identifier: MIT */
/* goals.h - the goals that end an experiment besides maxTrialNumber and
 * maxExperimentDuration: a value that is good enough (stopValue), too many
 * trials that were no better (maxTrialsWithoutImprovement), trials that ran
 * long enough all together (maxTrialHours); with several objectives the value
 * is the hypervolume, and there are goals of theirs.  Counting alone, no I/O,
 * no clock of its own: told the ends in their order, also those of an earlier
 * manager, it says the same.  One thread. */
#ifndef MANAGER_GOALS_H
#define MANAGER_GOALS_H

#include "manager/pareto.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first six are what the owner wants. */
struct goals {
    const struct objectives *of; /* NULL: results are one number */
    bool minimize, has_stop_value;
    double stop_value;
    uint64_t max_without;   /* trials without an improvement; 0: no limit */
    double max_hours;       /* 0: no limit */
    bool has_best, reached; /* stop_value is reached */
    double best, reached_value;
    char reached_by[24];  /* the trial that reached it, */
    bool by_goals;        /* or the goals of all objectives */
    struct pareto front;  /* with objectives, */
    double hypervolume;   /* and of that, where they have references; NaN:
                             pareto_hypervolume() says when */
    uint64_t without;     /* trials that ended since the best one */
    int64_t ended_ns;     /* how long all trials that ended have run */
    uint64_t running;     /* trials that run, */
    uint64_t started_sum; /* and the sum of their beginnings, modulo 2^64 */
};

/* How a trial ended, as far as goals depend on it. */
struct goals_trial {
    const char *trial;
    bool counts; /* it was tried: neither failed nor ended from outside */
    bool has_value;
    double value; /* its final result */
    /* With objectives, where it is compared with others; else NULL. */
    const struct objective_values *values;
    double budget;
    double seconds;
};

void goals_fini(struct goals *f);

void goals_trial_began(struct goals *f, int64_t started_ns);
/* The trial runs no more; its time counts from goals_trial_ended() on. */
void goals_trial_left(struct goals *f, int64_t started_ns);
void goals_trial_ended(struct goals *f, const struct goals_trial *end);

/* Whether a goal is reached; `why` is then one line for people. */
bool goals_reached(const struct goals *f, int64_t now_ns, char *why,
                   size_t size);
/* Whether an experiment ended for this reason, as goals_reached() words it:
 * then it takes no more trials when it is resumed. */
bool goals_named(const char *reason);
/* When maxTrialHours will be over, if no trial begins or ends until then.
 * INT64_MAX: never. */
int64_t goals_deadline(const struct goals *f, int64_t now_ns);

#endif
