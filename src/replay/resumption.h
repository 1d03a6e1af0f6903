/* SPDX-License-Identifier: MIT */
/* resumption.h - from a folder to a dispatcher's setup that goes on with the
 * session recorded there.  One thread. */
#ifndef REPLAY_RESUMPTION_H
#define REPLAY_RESUMPTION_H

#include "core/buf.h"
#include "core/log.h"
#include "dispatcher/dispatcher.h"
#include "replay/recovery.h"

struct plugin_paths;

#define RESUMPTION_SKIPS_MAX 16

struct resumption {
    struct recovery recovery;
    /* Silent while the session is recovered; then the session's. */
    struct log log;
    struct replay_bar bars[RESUMPTION_SKIPS_MAX];
    struct dispatcher_skip skips[RESUMPTION_SKIPS_MAX];
    const struct emission **missing;
    struct buf words; /* about the resumption, for people and the log */
    struct dispatcher_resume resume;
};

/* Recovers the session recorded in `folder` and points setup->resume to it;
 * `skips` are the operands of --skip, RESUMPTION_SKIPS_MAX at most.  -1: err
 * tells; resumption_fini() is to be called in either case, *r zeroed before. */
int resumption_begin(struct resumption *r, const char *folder,
                     const char *const *skips, size_t n_skips,
                     const struct plugin_paths *paths, const struct log *log,
                     struct dispatcher_setup *setup, struct err *err);
void resumption_fini(struct resumption *r);

#endif
