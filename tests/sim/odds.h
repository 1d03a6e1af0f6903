/* SPDX-License-Identifier: MIT */
/* odds.h - what kind of experiment is simulated: how many trials at a time,
 * what its manager can do, and how often what goes wrong. */
#ifndef TESTS_SIM_ODDS_H
#define TESTS_SIM_ODDS_H

#include <stdbool.h>
#include <stddef.h>

struct dice;

struct odds {
    size_t workers;  /* trials that run at a time */
    size_t prefetch; /* suggestions that wait for one of them */
    size_t wanted;   /* trials that run in all */
    bool extensions; /* the manager knows pause, finish and checkpoints; NNI's
                        managers do not */
    double spread;   /* of the trials' speeds: natural logarithm, sigma */
    /* Chances, of a trial: */
    double fails, killed; /* at some step; killed by the user */
    double silent;        /* reports nothing at all, and succeeds */
    double unfinished;    /* intermediate results, no final one */
    double final_only;    /* the other way round */
    double repeats;       /* is started again and repeats its steps */
    double ignores;       /* goes on behind its budget */
    double lost;          /* its checkpoint is gone when it is asked for */
    double late_final;    /* its result comes after its end */
    /* of an intermediate result: */
    double gap; /* does not get through */
    double odd; /* is no number, or infinite */
    /* after each event: */
    double reload; /* it is saved and loaded */
    double update; /* the search space is changed */
};

/* An experiment by chance: one in four is without any trouble. */
void odds_draw(struct odds *odds, struct dice *dice);

#endif
