/* SPDX-License-Identifier: MIT */
/* old_words.h - how NNI's managers before --exp_params hand over what is to be
 * run: --tuner_class_name TPE --tuner_args JSON --tuner_directory DIR
 * --tuner_class_filename FILE, the same for an assessor or an advisor, and
 * --multi_thread.  A word's value may stand behind a "=".  Any thread. */
#ifndef NNI_OLD_WORDS_H
#define NNI_OLD_WORDS_H

#include <stdbool.h>

struct err;

/* Whether there is a tuner or an advisor among the words. */
bool old_words_are_there(int argc, char **argv);

/* These arguments as the value of --exp_params, to be freed.  NULL: err
 * (ERR_CONFIG) names the argument whose value is no JSON. */
char *old_words_convert(int argc, char **argv, struct err *err);

#endif
