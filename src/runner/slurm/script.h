/* SPDX-License-Identifier: MIT */
/* script.h - the batch script of jobs: one for a batch of them, in which each
 * becomes the wrapper of its trial (trial/files.h).  Any thread. */
#ifndef RUNNER_SLURM_SCRIPT_H
#define RUNNER_SLURM_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct runner_setup;
struct runner_task;

#define SCRIPT_MAX ((size_t)3 << 20) /* bytes; Slurm takes 4 MiB */

/* What one says that begins a second time, and nothing else. */
#define SCRIPT_RESTARTED "put back into the queue"

struct script {
    char *head, *foot; /* of the user's, around the line {command} */
    char *wrapper;     /* the program's path */
    int64_t grace_ms;
    uint64_t max_output;
};

/* -1: the wrapper is not there, or the user's script is none (ERR_CONFIG). */
int script_init(struct script *s, const struct runner_setup *setup,
                struct err *err);
void script_fini(struct script *s); /* a zeroed one, too */

/* The part of one trial, to be freed: its variables, and its wrapper's words.
 * `home`: its phase's folder; `alive`: TRIAL_ALIVE's path.  NULL: too long. */
char *script_describe(const struct script *s, const struct runner_task *task,
                      const char *home, const char *alive, struct err *err);

/* A script is a begin, lines that are comments, a guard (it begins nothing
 * where this file is gone, nor a second time; `words`: the path of what Slurm
 * says to its jobs, without its ending, which then goes), the n parts in their
 * order, an end. */
void script_begin(const struct script *s, struct buf *out);
void script_guard(const char *file, const char *words, struct buf *out);
void script_part(const char *part, size_t i, size_t n, struct buf *out);
void script_end(const struct script *s, size_t n, struct buf *out);

#endif
