/* SPDX-License-Identifier: MIT */
/* save.h - a tpe to bytes and back: its points, what became of them, and where
 * points lay before; all else follows from these.  One thread. */
#ifndef TUNERS_TPE_SAVE_H
#define TUNERS_TPE_SAVE_H

#include "tpe/tpe.h"

void tpe_save(const struct tpe *t, const struct tp_sink *sink);

/* Into a tpe that knows nothing, of the same options and axes.  NULL, or what
 * is wrong. */
const char *tpe_load(struct tpe *t, const struct tp_source *source);

#endif
