/* SPDX-License-Identifier: MIT */
/* delivery.h - when the dispatcher hears what a trial reports, and what its
 * word leads to.  Two kinds: at once; or in lock step (--deterministic), one
 * event of each trial a round, so that no clock decides what it hears.  Chosen
 * when the manager opens; what follows from the choice elsewhere is one of the
 * properties below.  Inside src/manager only. */
#ifndef MANAGER_DELIVERY_H
#define MANAGER_DELIVERY_H

#include "manager/lockstep.h"
#include "manager/metrics.h"
#include "manager/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attempts;
struct buf;
struct delivery;
struct dispatcher;
struct exchange;
struct experiment_end;
struct live;
struct placing;
struct reading;
struct resume_log;
struct running;
struct scheduler;
struct starting;

struct delivery_ops {
    size_t portion; /* bytes of a trial's file that are read at once */
    bool immediate; /* what is read of a trial is told before anything else */
    bool timeless;  /* no clock may show in what the dispatcher is told */
    bool repeats;   /* an attempt that was cut off is made again as it was: from
                       the interruption on nothing that it says counts, and the
                       next is heard where it goes beyond what was told */
    bool acknowledged; /* the end of a trial is answered by AK, too */

    /* A report that counts was read. */
    void (*take)(struct delivery *d, struct trial *t,
                 struct metric_line *metric);
    /* Its ME was sent, and is to be answered. */
    void (*sent)(struct delivery *d, struct trial *t,
                 const struct metric_line *metric, const struct buf *payload);
    /* AK for the report at this position, or for the end of the trial, which
     * may be gone. */
    void (*answered)(struct delivery *d, const char *id, bool end,
                     uint64_t sequence);

    /* Whether a trial that waits may be started now, as for the order. */
    bool (*may_begin)(const struct delivery *d, const struct trial *t);
    /* The trial begins, or begins anew. */
    void (*began)(struct delivery *d, struct trial *t);
    /* Its processes are gone: it is ended when its files are read and told,
     * which may be now (frees it). */
    void (*exited)(struct delivery *d, struct trial *t);

    /* How many reports count of one that is told to stop at this moment. */
    struct metrics_count (*counted)(const struct delivery *d,
                                    const struct trial *t);
    /* Whether this decision of the dispatcher has to wait until the attempt
     * has come as far as the one that it was made about; then it is noted. */
    bool (*postpones)(struct trial *t, enum trial_stop stop);
    /* Whether a stop of the assessor still counts for one that has exited. */
    bool (*hears_late)(const struct trial *t);
    /* It was told to stop, or its end is to be judged anew. */
    void (*stopped)(struct delivery *d, struct trial *t);

    /* What is to be done next: asks, starts, tells. */
    void (*go)(struct delivery *d);
    /* Goes on where an earlier manager was. */
    void (*resume)(struct delivery *d, const struct resume_log *log);
    /* The dispatcher goes on from its log of `last` commands; it owes `owed`
     * units, serves `served` of them again, and was asked for `asked`. */
    void (*resumed)(struct delivery *d, uint64_t last, uint64_t owed,
                    uint64_t served, uint64_t asked);
};

struct delivery {
    const struct delivery_ops *ops;
    struct reading *reading;
    struct running *running;
    struct attempts *attempts;
    struct starting *starting;
    struct placing *placing;
    struct dispatcher *dispatcher;
    const struct scheduler *scheduler;
    struct exchange *exchange;
    struct live *live;
    struct experiment_end *end;

    struct lockstep lockstep;       /* zero, and without effect, where each */
    struct lockstep_event expected; /* report is told at once */
};

/* What the dispatcher knows as the trial's attempt: in lock step one that is
 * started again goes on where it was. */
static inline uint64_t
delivery_attempt(const struct delivery *d, const struct trial *t)
{
    return d->ops->repeats ? 0 : t->attempt;
}

extern const struct delivery_ops delivery_at_once, delivery_lockstep;

#endif
