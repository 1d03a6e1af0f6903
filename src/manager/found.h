/* SPDX-License-Identifier: MIT */
/* found.h - the trials that an earlier manager left, as three witnesses know
 * them: results, command log, folders.  One thread. */
#ifndef MANAGER_FOUND_H
#define MANAGER_FOUND_H

#include "core/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct past;
struct past_trial;
struct result;
struct results;

struct found {
    char id[24];
    uint64_t number, attempt;
    bool folder;
    const struct result *result;   /* NULL: no end is recorded */
    const struct past_trial *past; /* NULL: the log has no start of it */
    bool told;                     /* its end, to the dispatcher */
    bool before; /* the log has lost it with its first segments */
};

/* A zeroed one is empty. */
struct founds {
    struct found **items; /* owned; by number, once gathered */
    size_t n, cap;
    struct map by_id;
    bool failed; /* out of memory */
};

/* `folder` is the experiment's, which runs so many trials at a time; results
 * and past are borrowed until founds_fini(). */
int founds_gather(struct founds *all, const struct results *results,
                  const struct past *past, const char *folder,
                  uint64_t concurrency, struct err *err);
void founds_fini(struct founds *all);

/* The payload of its TR, from whoever has it; to be freed.  NULL: nobody. */
char *found_record(const struct found *f, const char *folder);

/* The same when the log knows nothing of its parameters, else NULL. */
char *found_unlogged(const struct found *f, const struct past *past,
                     const char *folder);

#endif
