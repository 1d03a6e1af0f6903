/* SPDX-License-Identifier: MIT */
/* state.h - a tpe to bytes and back: its points and what became of them; all
 * else follows from these.  One thread. */
#ifndef TUNERS_TPE_STATE_H
#define TUNERS_TPE_STATE_H

#include "tpe/tpe.h"

void state_save(const struct tpe *t, const struct tp_sink *sink);

/* Into a tpe that knows nothing, of the same options and axes.  NULL, or what
 * is wrong. */
const char *state_load(struct tpe *t, const struct tp_source *source);

#endif
