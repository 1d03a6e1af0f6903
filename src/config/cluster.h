/* SPDX-License-Identifier: MIT */
/* cluster.h - what the scheduler of a cluster is asked for each trial's job, as
 * the configuration says.  Immutable once read, as the struct experiment that
 * holds it. */
#ifndef CONFIG_CLUSTER_H
#define CONFIG_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_EXTRA_MAX 64

enum cluster_mode {
    CLUSTER_JOBS,  /* each trial is a job */
    CLUSTER_PILOTS /* jobs have one trial after the other */
};

struct cluster {
    int mode;                        /* enum cluster_mode */
    uint64_t pilots, trials_a_pilot; /* at most, at a time; 0: as many as are
                                        wanted; that it has room for */
    bool shared;                     /* nodes see the experiment's folder */
    int64_t agent_ms; /* a pilot's trials go on so long without a manager */
    /* Options of the submission, as the user wrote them; NULL: not given. */
    char *partition, *account, *qos, *constraint, *nodes;
    char *time, *memory, *gres; /* in place of what follows from trials' limits
                                 */
    char *extra[CLUSTER_EXTRA_MAX]; /* further ones */
    size_t n_extra;
    char *script; /* a file with a line {command}; NULL: none */
    uint64_t cpus;
    int64_t poll_ms;   /* the scheduler is not asked more often */
    int64_t report_ms; /* nor are trials' files looked at */
    int64_t save_ms;   /* a trial's time between word of its job's time limit
                          and that; 0: it has no word of it */
    uint64_t interruptions; /* that a trial may have, one behind the other */
};

/* The values where no key says otherwise. */
#define CLUSTER_DEFAULT                                                       \
    {                                                                         \
        .shared = true, .poll_ms = 5000, .report_ms = 1000, .save_ms = 60000, \
        .agent_ms = 600000, .interruptions = 10                               \
    }

void cluster_fini(struct cluster *c);

#endif
