/* SPDX-License-Identifier: MIT */
/* state.h - rungs and configurations as values in a row, and back. */
#ifndef ASHA_STATE_H
#define ASHA_STATE_H

#include "asha/asha.h"
#include "tunepipe/plugin.h"

void asha_save(const struct asha *a, const struct tp_sink *sink);

/* After asha_space().  NULL, or what was wrong; then a may only be freed. */
const char *asha_load(struct asha *a, const struct tp_source *source);

#endif
