/* SPDX-License-Identifier: MIT */
/* state.h - a population as bytes and back. */
#ifndef EVOLUTION_STATE_H
#define EVOLUTION_STATE_H

#include "evolution/evolution.h"
#include "tunepipe/plugin.h"

void evolution_save(const struct evolution *e, const struct tp_sink *sink);

/* After evolution_space().  NULL, or what was wrong; then e may only be
 * freed. */
const char *evolution_load(struct evolution *e, const struct tp_source *source);

#endif
