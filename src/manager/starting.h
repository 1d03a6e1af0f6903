/* SPDX-License-Identifier: MIT */
/* starting.h - the trials that wait (placing.h) are started, those that can.
 * Inside src/manager only; one thread. */
#ifndef MANAGER_STARTING_H
#define MANAGER_STARTING_H

struct attempts;
struct checkpoints;
struct delivery;
struct experiment;
struct experiment_end;
struct launch;
struct live;
struct placing;
struct preparing;
struct progress;
struct publish;
struct reading;
struct running;
struct scheduler;
struct trial;

struct starting {
    const struct experiment *x;
    const struct scheduler *scheduler;
    const struct launch *launch;
    struct placing *placing;
    struct preparing *preparing;
    struct running *running;
    struct attempts *attempts;
    struct reading *reading;
    struct delivery *delivery;
    struct live *live;
    struct checkpoints *checkpoints;
    struct publish *publish;
    struct progress *progress;
    const struct experiment_end *end;
};

/* A trial has come: it is live, waits, and is started if it can be; takes t. */
void starting_take(struct starting *s, struct trial *t);
/* Starts what can be, where something has changed; where the experiment ends
 * those that wait end, too. */
void starting_go(struct starting *s);

#endif
