/* SPDX-License-Identifier: MIT */
/* described.h - how a what-if describes the plugin that it asks. */
#ifndef REPLAY_DESCRIBED_H
#define REPLAY_DESCRIBED_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

#define DESCRIBED_MAX ((size_t)16 << 20) /* bytes of a description */

/* Takes what the plugin's description was written into, and gives it back as
 * a text, to be freed.  *against: it is told to do the opposite of what the
 * experiment does.  NULL: out of memory. */
char *described(struct buf *text, bool maximize, bool *against);

#endif
