/* SPDX-License-Identifier: MIT */
/* import_into.h - finished trials from elsewhere for an experiment that there
 * is already. */
#ifndef CLI_IMPORT_INTO_H
#define CLI_IMPORT_INTO_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;

struct import_into {
    uint64_t fit; /* trials that fit its search space */
    bool told;    /* its tuner, now; else when it goes on */
};

/* Whether it is the folder of one. */
bool import_is_experiment(const char *folder);

/* Gives the lines (manager/imports.h) to the experiment; what does not fit its
 * search space is told on stderr.  -1: nothing was given. */
int import_into(const char *folder, const struct buf *lines,
                struct import_into *out, struct err *err);

#endif
