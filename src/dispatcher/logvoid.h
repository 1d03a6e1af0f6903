/* SPDX-License-Identifier: MIT */
/* logvoid.h - a command log that a dispatcher, or the loss of power, left
 * before its head was durable, so that nothing had been taken from anybody yet.
 */
#ifndef DISPATCHER_LOGVOID_H
#define DISPATCHER_LOGVOID_H

#include <stdbool.h>

struct err;

/* Whether the command.log in the folder, of which there is no other segment,
 * ends, but for zeros, within its first line or its head, or has no first line
 * (the block was never written); and there is no other record.  False where it
 * cannot be read. */
bool logvoid(const char *folder);
/* Whether the folder has such a log, or the lock file of one that is not
 * there. */
bool logvoid_left(const char *folder);
/* Such a log becomes command.log.void; others stay.  The caller has the lock.
 */
int logvoid_set_aside(const char *folder, struct err *err);

#endif
