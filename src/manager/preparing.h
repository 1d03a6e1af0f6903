/* SPDX-License-Identifier: MIT */
/* preparing.h - the phase before a trial's run: prepareCommand, on the CPU,
 * while what trialCommand needs is in use elsewhere.  It has a wrapper and
 * files of its own, in the trial's folder (trial/files.h, `prepare`), and
 * slots of its own.  If prepareCommand fails, the trial has failed.
 *
 * In lock step a trial has its turns from the start of its preparation on,
 * and holds one of trialConcurrency's slots all the time.  Inside src/manager
 * only; one thread. */
#ifndef MANAGER_PREPARING_H
#define MANAGER_PREPARING_H

#include <stdbool.h>
#include <stdint.h>

struct attempts;
struct blame;
struct checkpoints;
struct delivery;
struct dues;
struct experiment;
struct launch;
struct live;
struct placing;
struct progress;
struct publish;
struct reading;
struct resources;
struct running;
struct trial;

struct preparing {
    const struct experiment *x;
    const struct launch *launch;
    struct placing *placing;
    struct attempts *attempts;
    struct running *running;
    struct blame *blame;
    struct reading *reading;
    struct delivery *delivery;
    struct live *live;
    const struct dues *dues;
    struct resources *resources;
    struct checkpoints *checkpoints;
    struct publish *publish;
    struct progress *progress;
};

/* How many trials are asked for beyond those that run. */
uint64_t preparing_ahead(const struct experiment *x);

/* Starts that if there is room for it; may free t. */
void preparing_offer(struct preparing *p, struct trial *t);

/* Its command begins at that time (monotonic), unless it is queued still. */
void preparing_begun(struct preparing *p, struct trial *t, int64_t began_ns);

/* Its wrapper is gone; may free t. */
void preparing_exited(struct preparing *p, struct trial *t);

/* A trial of an earlier manager, its files open: true when it had not begun to
 * run, and goes on from there; may free t.  False: it had, or has no such
 * phase. */
bool preparing_restore(struct preparing *p, struct trial *t);

#endif
