/* SPDX-License-Identifier: MIT */
/* game_state.h - the inside of a game, for game.c and trial.c. */
#ifndef TESTS_SIM_GAME_STATE_H
#define TESTS_SIM_GAME_STATE_H

#include "sim/dice.h"
#include "sim/game.h"
#include "sim/pair.h"

struct game {
    const struct game_setup *setup;
    struct odds odds;
    struct dice dice;
    struct pair pair;
    size_t which; /* of the spaces */
    struct played *at;
    size_t n, cap, since;
    uint64_t next_id;
    uint64_t owed[256]; /* ids that were told TP_LATER, in order */
    size_t n_owed, n_running, n_waiting, n_started;
    uint64_t n_ended;
    bool done; /* TP_DONE came */
    double now;
    struct game_counts counts;
};

/* i begins to run. */
void trial_start(struct game *g, size_t i);

/* What i does next; it runs.  -1: err. */
int trial_advance(struct game *g, size_t i, struct err *err);

/* p is to end, `left` reports from now. */
void trial_told(struct played *p, int decision, uint64_t left);

/* Draws how it will go with i. */
void trial_draw(struct game *g, size_t i);

/* After each tell, ended and metric: what the advisor decided on others is
 * done, and the owed ids are asked for again. */
int game_after(struct game *g, struct err *err);

#endif
