/* SPDX-License-Identifier: MIT */
/* jobs.h - Slurm by its own commands, sbatch, squeue and scancel, whose texts
 * are all that is known of it: what they are called with, what they say.  They
 * are found along PATH, and are waited for.  Any thread. */
#ifndef RUNNER_SLURM_JOBS_H
#define RUNNER_SLURM_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct cluster;
struct err;
struct runner_setup;

/* A command that is put together word by word.  A zeroed one is empty. */
struct jobs_command {
    char **words; /* ends with NULL */
    size_t n, cap;
    bool failed; /* out of memory */
};

void jobs_add(struct jobs_command *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void jobs_clear(struct jobs_command *c);

/* Ours, without what tells of a job that we are in: it would be an option of
 * another one's.  To be freed, not its texts; NULL: out of memory. */
char **jobs_environment(void);

/* Runs it to its end, without the SLURM_ variables of a job that this process
 * may be in; its standard output is appended to out.  -1: it failed, and err
 * has what it said, verbatim (ERR_INPUT), or it could not be started. */
int jobs_run(const struct jobs_command *c, struct buf *out, struct err *err);

/* jobs_run() at the start: a controller that does not answer is waited for, a
 * while, and that is said. */
int jobs_run_patiently(const struct runner_setup *setup,
                       const struct jobs_command *c, struct buf *out,
                       struct err *err);

/* Whether that was for want of an answer: its controller may come back. */
bool jobs_unreached(const struct err *err);

/* The options of sbatch by which all jobs of an experiment are submitted. */
void jobs_options(struct jobs_command *c, const struct runner_setup *setup);

/* Whether Slurm would take such jobs, before the first trial needs one; that no
 * node does for now is said.  ERR_CONFIG: it would not, and why. */
int jobs_try(const struct runner_setup *setup, struct err *err);

/* The beginning of srun for a job of this name and its one task, with the same
 * options. */
void jobs_allocate(struct jobs_command *c, const char *name,
                   const struct runner_setup *setup);

/* The beginning of srun, for one task on that node of a job that runs, beside
 * what does so there. */
void jobs_step(struct jobs_command *c, const char *job, const char *node);

/* Appends the option by which they begin on none of the machines that are left
 * out, nor where the user's own option says so; nothing: they may on any. */
void jobs_exclude(struct jobs_command *c, const struct runner_setup *setup);
/* The command by which jobs that are queued, whose ids stand between commas, do
 * not begin there either. */
void jobs_exclude_queued(struct jobs_command *c,
                         const struct runner_setup *setup, const char *ids);

/* How long a job may last, in minutes; 0: as long as the partition lets it. */
uint64_t jobs_minutes(const struct runner_setup *setup);

/* All jobs of the user, those that ended of late, too: a line each for
 * jobs_line().  */
void jobs_look(struct jobs_command *c);
/* Those of this name alone. */
void jobs_find(struct jobs_command *c, const char *name);

enum job_stage {
    JOB_QUEUED,
    JOB_RUNS,
    JOB_OVER, /* its script has ended */
    JOB_CUT,  /* Slurm, or somebody by its means, has ended it */
};

/* What a line tells; the texts borrow. */
struct job_line {
    const char *id, *state, *reason, *node, *script;
    enum job_stage stage;
};

/* Takes a line, which it changes; false: it is none. */
bool jobs_line(char *line, struct job_line *out);

#endif
