/* SPDX-License-Identifier: MIT */
/* recovery.h - a recorded session as it was when its log ended, ready to go on:
 * replay to the end, and what the log and the manager lack.  PROTOCOL.md,
 * "Recovery".  One thread, before any other runs. */
#ifndef REPLAY_RECOVERY_H
#define REPLAY_RECOVERY_H

#include "replay/replay.h"

#include <stdbool.h>

struct logwriter;

struct recovery {
    struct replay_rest rest;
    struct replay_report report;
    uint64_t owed; /* ids whose TR, or refusal, is still to come */
    /* TR that will be sent: again, or because the log lacks them. */
    uint64_t trials;
    bool spaceless; /* there is no search space and no answer to one is due: IN
                       has to come again */
};

struct recovery_setup {
    const char *path; /* of the log */
    const struct plugin_paths *paths;
    const struct log *log; /* for what the handlers say; silent meanwhile */
    const struct replay_bar *bars;
    size_t n_bars;
    const struct log *say; /* gets lines about snapshots; NULL: `log` does */
    bool from_front;       /* replays from the log's front, not from the newest
                              snapshot */
};

/* Recovers a session.  `log` is open, and is cut to its whole records.  -1: err
 * tells why the session cannot go on; *out is to be freed in either case. */
int recovery_run(const struct recovery_setup *setup, struct logwriter *log,
                 struct recovery *out, struct err *err);
/* Frees what the caller did not take out of it. */
void recovery_fini(struct recovery *r);

#endif
