/* SPDX-License-Identifier: MIT */
/* environment.h - what NNI's managers say in environment variables. */
#ifndef NNI_ENVIRONMENT_H
#define NNI_ENVIRONMENT_H

#include "core/log.h"

#include <stdbool.h>

/* Texts are borrowed from the environment; an empty one counts as absent. */
struct nni_environment {
    const char *channel;    /* NNI_TUNER_COMMAND_CHANNEL; NULL: fds 3 and 4 */
    const char *checkpoint; /* NNI_CHECKPOINT_DIRECTORY; NULL: not given */
    const char *log_folder; /* NNI_LOG_DIRECTORY; ".": not given */
    enum log_level level;   /* NNI_LOG_LEVEL: fatal, critical, error, warning,
                               info, debug, trace; anything else is info */
    bool resume;            /* NNI_MODE is `resume` */
    bool intermediate;      /* NNI_INCLUDE_INTERMEDIATE_RESULTS is `true`,
                               exactly */
};

/* Reads the environment by `get`, which is getenv() except in tests.  Before
 * any thread is started. */
void nni_environment_read(struct nni_environment *out,
                          const char *(*get)(const char *name));

#endif
