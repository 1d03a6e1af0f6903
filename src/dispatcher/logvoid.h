/* SPDX-License-Identifier: MIT */
/* logvoid.h - a command log that the loss of power left before its head was
 * durable, so that nothing had been taken from anybody yet. */
#ifndef DISPATCHER_LOGVOID_H
#define DISPATCHER_LOGVOID_H

#include <stdbool.h>

/* Whether the command.log in the folder, of which there is no other segment, is
 * empty, ends within its first line, or has none (the block
 * was never written) and no sync mark either.  False where it cannot be
 * read. */
bool logvoid(const char *folder);

#endif
