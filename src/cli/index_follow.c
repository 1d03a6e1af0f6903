/* SPDX-License-Identifier: MIT */
#include "cli/index_follow.h"

#include "cli/follow_experiment.h"
#include "core/err.h"
#include "store/index.h"

#define BATCH_NS 500000000 /* what comes within is one transaction */

static int
add(void *ctx, struct err *err)
{
    struct index_report report;

    return index_update(ctx, INDEX_ADD, &report, err);
}

int
index_follow(struct index *ix, const char *folder, struct err *err)
{
    return follow_experiment(folder, BATCH_NS, add, ix, err);
}
