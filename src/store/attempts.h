/* SPDX-License-Identifier: MIT */
/* attempts.h - how often each trial was started, as the log tells.  One
 * owner. */
#ifndef STORE_ATTEMPTS_H
#define STORE_ATTEMPTS_H

#include "core/map.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct attempts {
    struct map counts; /* trial -> its number of starts */
    bool lacks;        /* of the log there is only a part */
};

/* Without a log there are none.  -1: it is damaged, or cannot be read. */
int attempts_load(struct attempts *a, const char *folder, struct err *err);
void attempts_fini(struct attempts *a);

/* False: the log does not tell. */
bool attempts_of(const struct attempts *a, const char *trial, uint64_t *out);

#endif
