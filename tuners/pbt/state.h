/* SPDX-License-Identifier: MIT */
/* state.h - a population as bytes and back. */
#ifndef PBT_STATE_H
#define PBT_STATE_H

#include "pbt/pbt.h"
#include "tunepipe/plugin.h"

void pbt_save(const struct pbt *p, const struct tp_sink *sink);

/* After pbt_space().  NULL, or what was wrong; then p may only be freed. */
const char *pbt_load(struct pbt *p, const struct tp_source *source);

#endif
