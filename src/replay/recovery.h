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
    uint64_t owed;   /* ids whose TR, or refusal, is still to come */
    uint64_t trials; /* TR that follow: to be resent, or missing */
    bool spaceless;  /* IN has to come again: no word on one is due */
};

struct recovery_setup {
    const char *path; /* of the log */
    const struct plugin_paths *paths;
    const struct log *log; /* for what the handlers say; silent meanwhile */
    const struct replay_bar *bars;
    size_t n_bars;
    const struct log *say; /* for what becomes of snapshots; NULL: log */
    bool from_front;       /* rather than from the newest snapshot */
};

/* `log` is open, and is cut to its whole records.  -1: err tells why it cannot
 * go on; *out is to be freed in either case. */
int recovery_run(const struct recovery_setup *setup, struct logwriter *log,
                 struct recovery *out, struct err *err);
/* What was not taken out of it. */
void recovery_fini(struct recovery *r);

#endif
