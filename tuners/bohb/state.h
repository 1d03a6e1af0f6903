/* SPDX-License-Identifier: MIT */
/* state.h - BOHB's results as bytes and back. */
#ifndef TUNERS_BOHB_STATE_H
#define TUNERS_BOHB_STATE_H

#include "bohb/model.h"
#include "tunepipe/plugin.h"

void model_save(const struct model *m, const struct tp_sink *sink);

/* Right after model_space().  NULL, or what was wrong: then m may only be
 * freed. */
const char *model_load(struct model *m, const struct tp_source *source);

#endif
