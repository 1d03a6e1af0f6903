/* SPDX-License-Identifier: MIT */
/* pilots.h - trials on agents that Slurm starts: jobs which stay, and have one
 * trial after the other. */
#ifndef RUNNER_SLURM_PILOTS_H
#define RUNNER_SLURM_PILOTS_H

struct err;
struct runner;
struct runner_setup;

/* As open() of a kind of runner. */
int pilots_open(struct runner **out, const struct runner_setup *setup,
                struct err *err);

#endif
