/* SPDX-License-Identifier: MIT */
/* supervise.h - a trial from its first process to the end of its last. */
#ifndef WRAPPER_SUPERVISE_H
#define WRAPPER_SUPERVISE_H

struct lease;
struct options;
struct outcome;
struct outputs;

/* Starts the trial and returns 0 when no process of it is left, *outcome
 * saying how it went: also when it could not be started.  -1 with errno set
 * and the trial not started when the wrapper itself cannot work.
 * SIGTERM, SIGINT, SIGHUP and SIGCHLD must be blocked and have their default
 * dispositions; this process must be a subreaper without other children. */
int supervise(const struct options *options, const struct outputs *outputs,
              struct lease *lease, struct outcome *outcome);

#endif
