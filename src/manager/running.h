/* SPDX-License-Identifier: MIT */
/* running.h - trials that run: what is due of them, how they are told to end,
 * and how they are judged when they have.  Inside src/manager only; one
 * thread. */
#ifndef MANAGER_RUNNING_H
#define MANAGER_RUNNING_H

#include "manager/trial.h"

#include <stdbool.h>
#include <stdint.h>

struct attempts;
struct blame;
struct delivery;
struct dues;
struct experiment;
struct experiment_end;
struct failing;
struct goals;
struct live;
struct placing;
struct progress;
struct publish;
struct reading;
struct resources;
struct run_end;
struct runner;
struct stopping;

struct running {
    const struct experiment *x;
    struct attempts *attempts;
    struct reading *reading;
    struct delivery *delivery;
    struct placing *placing;
    struct live *live;
    const struct dues *dues;
    const struct stopping *stopping;
    struct failing *failing;
    struct blame *blame;
    struct resources *resources;
    struct goals *goals;
    struct publish *publish;
    struct progress *progress;
    struct experiment_end *end;
};

/* What is done when something is due of a trial: ctx is the running. */
extern deadline_due *const running_dues[TRIAL_DUES];

/* Whether who ran the phase has ended it, which is none of the trial's doing:
 * it is to be run again, up to a limit that is not the one of its failures. */
bool running_is_cut(const struct running *r, struct trial *t,
                    const struct run_end *end);
/* Its files may have grown. */
void running_look(struct running *r, struct trial *t);
/* It runs since then, unless it is queued still. */
void running_since(struct running *r, struct trial *t, int64_t started_ns);
/* Watches for the end of t->run: it will be seen, be it a moment later where
 * the kernel has no memory for the watch now. */
void running_watch(struct running *r, struct trial *t);
/* Its run has ended; may free t. */
void running_exited(struct running *r, struct trial *t);
/* Ends it when its files are read and told; may free t. */
void running_finish(struct running *r, struct trial *t);
/* Judges it.  True: that was its end.  False: it is tried again, or left to the
 * next manager.  Frees t. */
bool running_end(struct running *r, struct trial *t);
/* Reads on, or to the end, those that have more to be read; may free them. */
void running_read_on(struct running *r);

/* There is a reason to end; may free t. */
void running_stop(struct running *r, struct trial *t, enum trial_stop stop);
/* Adopted, it was told to end, or perhaps its manager did not come to that. */
void running_press_late(struct running *r, struct trial *t);
/* Whether what this runner runs goes on without a manager: programs only where
 * nobody has told the experiment to stop. */
bool running_leaves_all(const struct running *r, const struct runner *by);
/* The manager has to stop: what runs is interrupted, what does not is left. */
void running_interrupt_all(struct running *r);
void running_hurry_all(struct running *r);

#endif
