/* SPDX-License-Identifier: MIT */
/* state.h - an aging population as bytes and back. */
#ifndef REGULARIZED_EVOLUTION_STATE_H
#define REGULARIZED_EVOLUTION_STATE_H

#include "regularized_evolution/aging.h"
#include "tunepipe/plugin.h"

void aging_save(const struct aging *a, const struct tp_sink *sink);

/* Right after aging_space().  NULL, or what was wrong; then a may only be
 * freed. */
const char *aging_load(struct aging *a, const struct tp_source *source);

#endif
