/* SPDX-License-Identifier: MIT */
/* options.h - a verb's options as a table: `--name VALUE`, `--name=VALUE`,
 * `--flag`; `--` ends them.  Unknown ones are errors with the nearest name. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>

struct err;

enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char *: borrowed from argv */
    OPTION_UINT,     /* uint64_t */
    OPTION_SIZE,     /* size_t: bytes, with k, M or G (powers of 1024) */
    OPTION_DURATION, /* int64_t: milliseconds, see number.h */
    OPTION_LIST,     /* struct option_list: may be given several times */
};

#define OPTION_LIST_MAX 16

struct option_list {
    const char *words[OPTION_LIST_MAX]; /* in order, borrowed from argv */
    size_t n;
};

struct option {
    const char *name; /* without the dashes */
    enum option_kind kind;
    size_t offset; /* of its value in the verb's struct of options */
    const char
        /* what the option takes, for the shells' completion: FILE, FOLDER,
         * FOLDERS, TUNER, ASSESSOR, "a|b|c"; any other word: nothing can be
         * proposed.  FLAG: NULL */
        *value;
};

/* Stores the options in the struct at `words`, moves the operands to the
 * front of argv[1..] and sets *argc to the number of words left (argv[0]
 * included). */
int options_parse(const struct option *options, size_t n, void *words,
                  int *argc, char **argv, struct err *err);

#endif
