/* SPDX-License-Identifier: MIT */
/* floatenv.h - undoes what foreign code did to the floating-point
 * environment.  A shared object linked with -ffast-math turns on flush-to-zero
 * as it is loaded, in the thread that loads it and in all that this one
 * starts; answers would then differ from a session without it. */
#ifndef PLUGIN_FLOATENV_H
#define PLUGIN_FLOATENV_H

#include <stdbool.h>

/* Sets rounding to nearest, denormal numbers kept and nothing trapped, in the
 * calling thread.  Nearly free when that is so already: called after each call
 * into a plugin.  Exception flags are left alone: nothing here reads them. */
void floatenv_restore(void);

/* Whether there is nothing to restore. */
bool floatenv_is_default(void);

#endif
