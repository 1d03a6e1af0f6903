/* SPDX-License-Identifier: MIT */
/* nni_start.h - from what an NNI manager says (argument and environment) to a
 * dispatcher that runs: `tunepipe nni` without its process and its channel.
 *
 * One struct for one session; the main thread's. */
#ifndef CLI_NNI_START_H
#define CLI_NNI_START_H

#include "cli/nni_crashes.h"
#include "core/log.h"
#include "core/wake.h"
#include "nni/environment.h"
#include "nni/exp_params.h"
#include "nni/journal.h"
#include "replay/resumption.h"

#include <stdatomic.h>

struct err;
struct json;
struct plugin_paths;

#define NNI_GRACE_MS 10000

struct nni_start {
    const char *text; /* of --exp_params */
    struct nni_environment environment;
    struct journal journal;
    struct log log; /* on stderr, and in the journal */
    atomic_ulong lost;
    struct exp_params params;
    struct plugin_paths *paths;
    struct json *args[2]; /* translated or made: the tuner's, the assessor's */
    struct resumption resumption;
    struct nni_crashes crashes; /* that it goes on behind */
    struct wake wanted;         /* as dispatcher.h has it, where it is open */
    bool at_work; /* a plugin may still be running when the session is over:
                     the process is to be ended by _exit() */
};

/* Reads the environment and opens dispatcher.log: where that cannot be, a
 * warning says so.  *n stays where it is. */
void nni_start_begin(struct nni_start *n, const char *exp_params);
void nni_start_end(struct nni_start *n);

/* Runs a session on these descriptors, taken, to its end.  The exit status;
 * where that is not EXIT_DONE err has the reason in one line, which is told on
 * stderr and in the journal by then. */
int nni_start_run(struct nni_start *n, int in_fd, int out_fd, struct err *err);

#endif
