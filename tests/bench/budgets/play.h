/* SPDX-License-Identifier: MIT */
/* play.h - for benchmarks: one tuner, with an assessor or without, spends a
 * number of epochs on a problem with learning curves, several trials at a
 * time.  One thread; nothing depends on the clock. */
#ifndef BENCH_BUDGETS_PLAY_H
#define BENCH_BUDGETS_PLAY_H

#include "curves.h"

#include <stdbool.h>

struct err;
struct plugin;

struct player {
    const char *label;
    const struct plugin *tuner, *assessor; /* assessor: NULL: none */
    const char *args, *assessor_args;      /* JSON objects */
    bool extensions; /* pauses and checkpoints; without them a promoted trial
                        begins anew, as under NNI's managers */
};

enum { PLAY_FULL_MAX = 100 };

struct played_out {
    double best[PLAY_FULL_MAX]; /* the true value of what had been observed to
                                   be best after each whole curve's epochs */
    size_t started, points, stopped, completed;
};

/* Spends full * longest epochs.  -1: err. */
int play(const struct player *p, struct curves *c, size_t workers, size_t full,
         struct played_out *out, struct err *err);

#endif
