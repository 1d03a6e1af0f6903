/* SPDX-License-Identifier: MIT */
/* agent.h - what carries out a manager's trials on the machine that this is.
 *
 * It is reached through a socket in a folder of its own, and tells where that
 * is by a file, AGENT_ADDRESS, in a folder which the manager sees.  Trials are
 * started as on the manager's own machine; what came of them is kept until the
 * manager, or one that comes again, has taken it.  Where none has been heard of
 * for the timeout it ends its trials, and itself. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* "JOB NODE SOCKET<LF>", which appears once the agent listens; JOB is Slurm's
 * number of it, "-": none. */
#define AGENT_ADDRESS "address"
/* Where the two share no folder it is said on standard output, behind this, and
 * the agent's own path in a line behind that. */
#define AGENT_SAYS_ADDRESS "tunepipe-agent at "
/* There its programs and the code of trials come in one folder: the code, and
 * in AGENT_OURS what is ours. */
#define AGENT_OURS ".tunepipe-node"
#define AGENT_PROGRAMS AGENT_OURS "/bin"
#define AGENT_PYTHON AGENT_OURS "/python"

struct agent_setup {
    const char *folder; /* for AGENT_ADDRESS; borrowed, as is what follows */
    /* Folders of the manager's machine, which are elsewhere on this one: the
     * experiment's, that of trials' code, of tunepipe's programs, of its Python
     * package.  NULL: the two share them. */
    const char *experiment, *code, *programs, *python;
    int64_t timeout_ms, grace_ms;
    uint64_t max_output; /* of each trial's outputs; 0: no limit */
};

/* Returns when it has ended, be it by SIGTERM. */
int agent_run(const struct agent_setup *setup, struct err *err);

#endif
