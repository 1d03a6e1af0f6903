/* SPDX-License-Identifier: MIT */
/* recipe.h - how exactly a trial was started: its program with all arguments,
 * where, with which environment; the bytes of TRIAL_COMMAND (trial/files.h).
 * No I/O.  One owner. */
#ifndef MANAGER_RECIPE_H
#define MANAGER_RECIPE_H

#include <stddef.h>

struct buf;
struct err;

struct recipe {
    char *bytes; /* in which all texts lie */
    const char *folder;
    char **argv; /* each ends with NULL, for execve(2) */
    char **env;
};

void recipe_write(struct buf *out, const char *folder, const char *const argv[],
                  char *const env[]);

/* Copies.  -1: that is none; *r is then empty. */
int recipe_read(struct recipe *r, const char *bytes, size_t len,
                struct err *err);
void recipe_fini(struct recipe *r);

#endif
