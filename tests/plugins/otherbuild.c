/* SPDX-License-Identifier: MIT */
/* A filter of another tunepipe. */
#include "tunepipe/filter.h"

#include "base.h"

static const struct tp_filter filter = {
    sizeof(struct tp_filter),
    TP_FILTER_MAGIC,
    TP_ABI,
    "0.0.1",
    .name = "otherbuild",
    .doc = "belongs elsewhere",
    .version = 1,
    .create = base_create,
    .destroy = free,
};
TP_REGISTER_FILTER(filter)
