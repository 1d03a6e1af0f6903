/* SPDX-License-Identifier: MIT */
/* state.h - completed trials as bytes and back. */
#ifndef PERCENTILE_STATE_H
#define PERCENTILE_STATE_H

#include "percentile/percentile.h"
#include "tunepipe/plugin.h"

void percentile_save(const struct percentile *p, const struct tp_sink *sink);

/* Into a new one.  NULL, or what was wrong; then p may only be freed. */
const char *percentile_load(struct percentile *p,
                            const struct tp_source *source);

#endif
