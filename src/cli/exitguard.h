/* SPDX-License-Identifier: MIT */
/* exitguard.h - a plugin that calls exit() would end its host as if that had
 * decided so: it is told from the host's own end, and is a fault like any
 * other. */
#ifndef CLI_EXITGUARD_H
#define CLI_EXITGUARD_H

#include <stdbool.h>

/* From here on exit() is a plugin's: it says so and raises SIGABRT.  Once in a
 * process; NULL: out of memory, and it is as it was. */
bool *exitguard_set(void);
/* From here on it is the host's own again. */
void exitguard_lift(bool *expected);

#endif
