/* SPDX-License-Identifier: MIT */
/* defaults.h - the defaults in a plugin's table of arguments, as values. */
#ifndef TUNERS_PARTS_DEFAULTS_H
#define TUNERS_PARTS_DEFAULTS_H

#include "tunepipe/plugin.h"

#define DEFAULTS_MAX 32      /* arguments */
#define DEFAULTS_TEXT_MAX 64 /* bytes of a text, its end included */

struct defaults {
    struct tp_value values[DEFAULTS_MAX];
    char texts[DEFAULTS_MAX][DEFAULTS_TEXT_MAX];
};

/* Fills `d`, which has to stay while the values are used.  `mode`, borrowed,
 * is what the argument optimize_mode gets.  -1 when there are too many, or one
 * has no default or one that is neither null, a number, true, false nor a
 * short text without escapes. */
int defaults_fill(struct defaults *d, const struct tp_arg *args, size_t n,
                  const char *mode);

#endif
