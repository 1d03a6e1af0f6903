/* SPDX-License-Identifier: MIT */
/* A filter whose table is shorter than this program's: it lacks a call. */
#include "tunepipe/filter.h"

#include "base.h"

static const struct tp_filter filter = {
    sizeof(struct tp_filter) - sizeof(void *),
    TP_FILTER_MAGIC,
    TP_ABI,
    TP_VERSION,
    .name = "shortfilter",
    .doc = "knows one call less",
    .version = 1,
    .create = base_create,
    .destroy = free,
};
TP_REGISTER_FILTER(filter)
