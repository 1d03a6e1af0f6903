/* SPDX-License-Identifier: MIT */
/* save.h - a search into bytes and back.  One thread. */
#ifndef TUNERS_CMAES_SAVE_H
#define TUNERS_CMAES_SAVE_H

#include "cmaes/cmaes.h"
#include "tunepipe/plugin.h"

void cmaes_save(const struct cmaes *c, const struct tp_sink *sink);

/* Into one that was just made, of the same dimensions and options.  NULL, or
 * what is wrong; it is then only good for cmaes_free(). */
const char *cmaes_load(struct cmaes *c, const struct tp_source *source);

#endif
