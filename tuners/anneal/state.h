/* SPDX-License-Identifier: MIT */
/* state.h - what annealing knows as bytes and back. */
#ifndef ANNEAL_STATE_H
#define ANNEAL_STATE_H

#include "anneal/anneal.h"
#include "anneal/tried.h"
#include "tunepipe/plugin.h"

void anneal_save(const struct anneal *a, const struct tp_sink *sink);
void tried_save(const struct tried *t, const struct tp_sink *sink);

/* Right after anneal_space(), and into an empty set.  NULL, or what was wrong;
 * then both may only be freed. */
const char *anneal_load(struct anneal *a, const struct tp_source *source);
const char *tried_load(struct tried *t, const struct tp_source *source);

#endif
