/* SPDX-License-Identifier: MIT */
/* state.h - brackets as bytes and back. */
#ifndef TUNERS_BANDS_STATE_H
#define TUNERS_BANDS_STATE_H

#include "bands/bands.h"
#include "prior/prior.h"
#include "tunepipe/plugin.h"

void bands_save(const struct bands *b, const struct tp_sink *sink);

/* Right after bands_space(); points have to be of the prior.  NULL, or what
 * was wrong: then b may only be freed. */
const char *bands_load(struct bands *b, const struct prior *prior,
                       const struct tp_source *source);

#endif
