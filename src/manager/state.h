/* SPDX-License-Identifier: MIT */
/* state.h - the manager's parts, each with what it needs of the others; inside
 * src/manager, for those alone who put them together: opening.c, manager.c's
 * loop, restore.c, and what verbs are answered (commands.c, status.c).
 *
 * One thread. */
#ifndef MANAGER_STATE_H
#define MANAGER_STATE_H

#include "config/wishes.h"
#include "control/server.h"
#include "manager/absent.h"
#include "manager/attempts.h"
#include "manager/blame.h"
#include "manager/budget.h"
#include "manager/checkpoints.h"
#include "manager/coordinator.h"
#include "manager/copying.h"
#include "manager/deadlines.h"
#include "manager/delivery.h"
#include "manager/dispatcher.h"
#include "manager/custom.h"
#include "manager/dues.h"
#include "manager/ending.h"
#include "manager/exchange.h"
#include "manager/experiment_end.h"
#include "manager/experiment_folder.h"
#include "manager/failing.h"
#include "manager/goals.h"
#include "manager/launch.h"
#include "manager/live.h"
#include "manager/packing.h"
#include "manager/placing.h"
#include "manager/preparing.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/reading.h"
#include "manager/repeat.h"
#include "manager/resources.h"
#include "manager/run.h"
#include "manager/running.h"
#include "manager/saved_from.h"
#include "manager/scheduler.h"
#include "manager/sources.h"
#include "manager/starting.h"
#include "manager/stopping.h"
#include "manager/study.h"
#include "manager/trial_folder.h"

#include <stdbool.h>
#include <stdint.h>

struct experiment;

struct manager {
    const struct experiment *x;
    const struct manager_options *options;
    struct manager_outcome *outcome;

    /* The experiment */
    struct experiment_folder folder;
    struct experiment_end end; /* that it is to end, and why */
    struct progress progress;  /* what people see of it */
    struct publish publish;    /* what happens, as events for hooks and verbs */
    struct coordinator coordinator; /* what is changed while it runs */
    struct budget budget;
    struct goals goals;
    struct control_server control; /* commands.h */

    /* Its dispatcher */
    struct exchange exchange;     /* the frames to it and from it */
    struct dispatcher dispatcher; /* its process, and what it answers */
    struct delivery delivery;     /* when it hears of a report */
    struct scheduler scheduler;   /* how many trials it is asked for */

    /* Its trials, in the order of what happens to each */
    struct live live;           /* all that have not ended */
    struct custom custom;       /* those that no tuner suggested */
    struct placing placing;     /* of these, those that wait for a place */
    struct copying copying;     /* checkpoints that are copied before */
    struct resources resources; /* memory and devices: given, and waited for */
    struct wishes wishes;       /* for these: what is wanted of this machine */
    struct checkpoints checkpoints; /* what they saved: kept, given, deleted */
    struct launch launch;           /* the start by the runner */
    struct preparing preparing;     /* prepareCommand */
    struct starting starting;       /* who of those that wait is started */
    struct running running; /* what is due, the stop and the judgement */
    struct reading reading;
    struct trial_needs needs;     /* their files */
    struct absent absent;         /* parameters that they asked for in vain */
    struct saved_from saved_from; /* files that they saved checkpoints of */
    struct stopping stopping;
    struct deadlines deadlines;
    struct dues dues;         /* those of the trials */
    struct attempts attempts; /* how one is over, and another follows */
    struct blame blame;       /* machines on which they fail, left out */
    struct failing failing;   /* retried, reported, or the run halted */
    struct ending ending;     /* the end: told, recorded, shown */
    struct packing packing;   /* the folders of those that have ended */
    struct repeat repeat;     /* trials that ended, once more */
    struct study study;       /* trials for those who ask for them */

    /* The loop */
    struct sources sources;
    int signal_fd;
    unsigned interrupts;
    bool idle_told;           /* that nothing runs, once */
    int64_t idle_deadline_ns; /* to tell it; INT64_MAX: something runs */
};

/* opening.c */
/* Nothing is open, each part knows the others that it needs. */
void manager_init(struct manager *m, const struct experiment *x,
                  const struct manager_options *options,
                  struct manager_outcome *outcome);
int manager_open(struct manager *m, struct err *err);
void manager_close(struct manager *m); /* whatever is open */

/* manager.c */
/* The user wants it to end; a second time: at once. */
void manager_interrupt(struct manager *m);

#endif
