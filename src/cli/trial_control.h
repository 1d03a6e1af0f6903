/* SPDX-License-Identifier: MIT */
/* trial_control.h - the words of `tunepipe trial` for people, about the trials
 * of an experiment: ls, output, add, kill, retry.  Each returns an exit status,
 * or -1. */
#ifndef CLI_TRIAL_CONTROL_H
#define CLI_TRIAL_CONTROL_H

#include "cli/options.h"

#include <stdbool.h>

struct err;

struct trial_control_words {
    bool json, failed, stderr_only, follow;
};

/* Rows for the table of options of the verb. */
#define TRIAL_CONTROL_JSON                                                    \
    {                                                                         \
        "json", OPTION_FLAG, offsetof(struct trial_control_words, json), NULL \
    }
#define TRIAL_CONTROL_FAILED                                                 \
    {                                                                        \
        "failed", OPTION_FLAG, offsetof(struct trial_control_words, failed), \
            NULL                                                             \
    }

#define TRIAL_CONTROL_STDERR                                        \
    {                                                               \
        "stderr", OPTION_FLAG,                                      \
            offsetof(struct trial_control_words, stderr_only), NULL \
    }
#define TRIAL_CONTROL_FOLLOW                                                 \
    {                                                                        \
        "follow", OPTION_FLAG, offsetof(struct trial_control_words, follow), \
            NULL                                                             \
    }

int trial_control_ls(int argc, char **argv, struct err *err);
int trial_control_output(int argc, char **argv, struct err *err);
int trial_control_add(int argc, char **argv, struct err *err);
int trial_control_kill(int argc, char **argv, struct err *err);
int trial_control_retry(int argc, char **argv, struct err *err);

#endif
