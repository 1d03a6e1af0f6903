/* SPDX-License-Identifier: MIT */
/* state.h - what annealing knows as bytes and back. */
#ifndef ANNEAL_STATE_H
#define ANNEAL_STATE_H

#include "anneal/anneal.h"
#include "tunepipe/plugin.h"

void anneal_save(const struct anneal *a, const struct tp_sink *sink);

/* Right after anneal_space().  NULL, or what was wrong; then it may only be
 * freed. */
const char *anneal_load(struct anneal *a, const struct tp_source *source);

#endif
