/* SPDX-License-Identifier: MIT */
/* difference.h - whether two frames are the same, and a line that shows how
 * they differ. */
#ifndef REPLAY_DIFFERENCE_H
#define REPLAY_DIFFERENCE_H

#include "dispatcher/emission.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

bool difference_same(const struct emission *a, const struct emission *b);

/* Says in err how two frames differ, either of which may be NULL: missing.
 * `offset` is where in the log `path` the difference was seen; returns -1. */
int difference_tell(const char *path, uint64_t offset,
                    const struct emission *recorded,
                    const struct emission *derived, struct err *err);

#endif
