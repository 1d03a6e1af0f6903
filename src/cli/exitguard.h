/* SPDX-License-Identifier: MIT */
/* exitguard.h - catches a plugin that calls exit(), which would end its host as
 * if the host itself had decided so: it is a fault like any other. */
#ifndef CLI_EXITGUARD_H
#define CLI_EXITGUARD_H

#include <stdbool.h>

/* From here on a call of exit() counts as a plugin's: it says so and raises
 * SIGABRT.  Once in a process; NULL: out of memory, and nothing is caught. */
bool *exitguard_set(void);
/* From here on exit() is the host's own again. */
void exitguard_lift(bool *expected);

#endif
