/* SPDX-License-Identifier: MIT */
/* changes.h - in what a trial's environment differs from this process's, which
 * is all that has to travel where a batch system hands that on.  Any thread. */
#ifndef RUNNER_CHANGES_H
#define RUNNER_CHANGES_H

#include <stdbool.h>
#include <stddef.h>

/* A variable of a name of `len` bytes.  value NULL: it is not to be there; else
 * `size` bytes, and `before`: they are to stand before what is there. */
typedef void changes_hear(void *ctx, const char *name, size_t len,
                          const char *value, size_t size, bool before);

void changes_tell(char *const *env, changes_hear *hear, void *ctx);

#endif
