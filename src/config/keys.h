/* SPDX-License-Identifier: MIT */
/* keys.h - the one table of all keys a configuration may have: NNI's v2 and
 * ours, with their types and whether they have an effect.
 *
 * A new one: its row, its member in experiment.h, its sentence in docs.c, its
 * lines in run's --help and in man/tunepipe-experiment.5; tests say which of
 * them is missing. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include "config/experiment.h"
#include "config/reader.h"

struct yaml_node;

/* The keys of the top level, with offsets in struct draft; ends with a NULL
 * name. */
extern const struct key config_keys[];

/* An experiment while its file is read: what the keys say, before that is
 * checked against each other and the defaults are filled in.  The offsets of
 * the top level count from here. */
struct draft {
    struct experiment x;
    int log, final; /* enum log_wish, enum metrics_final */
    int ignored;    /* words that have one meaning only */
    char *space_file;
    const char *kept_space; /* a text read instead of either; NULL: none */
    char *constraints; /* the constraints with "; " in between; NULL: none */
    unsigned space_line, space_file_line, constraints_line; /* 0: absent */
};

#define FAILURE_BACKOFF_MS_DEFAULT 1000

/* Fills search_space and space_place of the draft, from the file if that is
 * what is named.  What is wrong becomes a problem of the reader. */
void spacekey_check(struct reader *r, struct draft *d,
                    const struct yaml_node *root);

/* Reads the keys by which results are judged into the experiment, and checks
 * those that name values, when the direction is known. */
void objectivekeys_check(struct reader *r, struct draft *d,
                         const struct yaml_node *root);

/* What the keys for memory and devices say together. */
void wishes_check(struct reader *r, const struct wishes *w);

#endif
