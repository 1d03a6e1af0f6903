/* SPDX-License-Identifier: MIT */
/* draft.h - an experiment while its file is read: what the keys say, before
 * that is checked against each other and the defaults are filled in.  Inside
 * src/config only. */
#ifndef CONFIG_DRAFT_H
#define CONFIG_DRAFT_H

#include "config/experiment.h"

/* The offsets of the top level count from here. */
struct draft {
    struct experiment x;
    int log, final; /* enum log_wish, enum metrics_final */
    int ignored;    /* words with one meaning */
    char *space_file;
    const char *kept_space; /* read instead of either; NULL: none */
    char *constraints;      /* with "; " in between; NULL: none */
    unsigned space_line, space_file_line, constraints_line; /* 0: absent */
};

#endif
