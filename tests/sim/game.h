/* SPDX-License-Identifier: MIT */
/* game.h - a simulated experiment: an advisor plays it with W workers, whose
 * trials have known learning curves, die, are killed, stay silent, repeat
 * themselves, obey or do not; in time that nobody waits for.
 *
 *   request -> ask -> owed? -> waits -> runs -> metric ... -> tell -> ended
 *
 * After each call the rules of the game are looked at: those that hold for
 * every advisor are in game.c and trial.c, those of one algorithm in its struct
 * rules.  The same seed is the same experiment.  One thread. */
#ifndef TESTS_SIM_GAME_H
#define TESTS_SIM_GAME_H

#include "sim/object.h"
#include "sim/odds.h"

#include <stdbool.h>

struct err;
struct game;

/* How it goes with a trial, were it left alone. */
enum fate {
    FATE_RUNS,
    FATE_FAILS,
    FATE_KILLED,
    FATE_SILENT,
    FATE_UNFINISHED,
    FATE_FINAL_ONLY
};

enum stage { STAGE_WAITS, STAGE_RUNS, STAGE_ENDED };

/* One suggestion, and what the advisor has been told of it. */
struct played {
    uint64_t id;
    struct suggested s;
    enum stage stage;
    int how;        /* enum tp_ended_how, once ended */
    bool foreign;   /* of a search space before: nothing more is told */
    uint64_t ended; /* the how manieth end, from 1; 0: not yet */
    bool has_value; /* the latest intermediate result, or the final one */
    bool has_final;
    double value;
    uint64_t reached; /* step + 1 of it */
    bool released;    /* nobody needs its checkpoint any more */
    size_t promoted;  /* suggestions that go on from it */

    /* The trial's own. */
    enum fate fate;
    uint64_t fate_step;  /* how far it gets */
    uint64_t repeats_at; /* 0: never */
    bool ignores, lost, late_final;
    double speed, next; /* time of a step; of the next event */
    uint64_t base, step, attempt;
    int told;         /* enum tp_decision, by which it will end */
    uint64_t told_at; /* what was reached then */
    uint64_t left;    /* reports until then */
};

/* What one algorithm promises beyond what all do.  Each may be NULL; -1: err
 * tells which promise was broken. */
struct rules {
    const char *name;
    bool never_waits; /* TP_LATER is wrong */
    bool endless;     /* TP_DONE is */
    bool turns; /* a budget is for many trials, one after the other; clones
                   come from whoever is ahead, ended or not */
    /* i has just been suggested. */
    int (*asked)(const struct game *g, size_t i, struct err *err);
    /* TP_LATER came. */
    int (*waits)(const struct game *g, struct err *err);
    /* i was given this verdict on its latest metric. */
    int (*judged)(const struct game *g, size_t i, int decision,
                  struct err *err);
    /* All is over, and nothing runs any more. */
    int (*over)(const struct game *g, struct err *err);
};

struct game_setup {
    const struct plugin *plugin;
    const char *args;
    const struct space *spaces[2]; /* the second for updates */
    uint64_t seed;
    bool maximize;
    uint64_t longest; /* steps of a trial that knows no budget */
    const struct rules *rules;
    const void *rules_arg;   /* for rules: what args say */
    const struct odds *odds; /* NULL: drawn from the seed */
};

/* For figures. */
struct game_counts {
    size_t trials, promoted, cloned, paused, finished, stopped, failed;
    size_t metrics, waits, reloads, updates;
};

/* -1: err tells what was wrong and with which trial. */
int game_play(const struct game_setup *setup, struct game_counts *counts,
              struct err *err);

/* For rules. */
const struct game_setup *game_setup(const struct game *g);
const struct odds *game_odds(const struct game *g);
size_t game_count(const struct game *g);
const struct played *game_at(const struct game *g, size_t i);
const struct played *game_find(const struct game *g, uint64_t id);
/* What i reports as step `step`, where nothing is odd. */
double game_value(const struct game *g, size_t i, uint64_t step);
/* Suggestions before this one are of a search space before. */
size_t game_since(const struct game *g);
/* Whether value a is better than b; what is no number is worse than all. */
bool game_better(const struct game *g, double a, double b);

#endif
