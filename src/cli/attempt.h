/* SPDX-License-Identifier: MIT */
/* attempt.h - the attempt at a trial that a word of the command line means. */
#ifndef CLI_ATTEMPT_H
#define CLI_ATTEMPT_H

#include <stdbool.h>

struct err;

struct attempt {
    char trial[24]; /* "00003"; "" where the word is no number */
    char name[64];  /* of its folder: "00003.1" */
    char *folder;   /* owned; NULL: not found */
    bool last;      /* what is on record of the trial is of this attempt */
};

/* Whether it can be such a word: "3", "00003", "3.0", "3.1". */
bool attempt_is_word(const char *word);

/* Finds it in the experiment's folder; a trial alone means its last attempt.
 * -1: there is none. */
int attempt_find(const char *experiment, const char *word, struct attempt *out,
                 struct err *err);

#endif
