/* SPDX-License-Identifier: MIT */
/* advice.h - what a tuner that is an advisor decides on trials (stop, pause,
 * finish, release the checkpoint), and what of that the manager is sent: KI and
 * DT, once for each decision (again: resend.h, and where a restarted manager of
 * NNI runs a trial again).
 *
 * It keeps the suggestions on which the tuner may still decide: each one that
 * was given out, until its trial has ended and its checkpoint is released.  For
 * a tuner that is no advisor it is empty.  Ids are the tuner's.  The default
 * worker's alone. */
#ifndef DISPATCHER_ADVICE_H
#define DISPATCHER_ADVICE_H

#include "core/map.h"
#include "dispatcher/emission.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct explainer;
struct side;
struct space;
struct tuner;
struct unpack;

struct advice {
    struct tuner *tuner;
    struct side *side;
    /* Is told each judgement; NULL: nobody. */
    const struct explainer *explainer;
    struct map advised; /* id -> struct advised, a suggestion */
};

/* Borrows all until advice_fini(). */
void advice_init(struct advice *a, struct tuner *tuner, struct side *side);
void advice_fini(struct advice *a);

/* ---- suggestions ---- */

/* Remembers that the point x was given out as the tuner's suggestion `id`.  -1:
 * out of memory. */
int advice_know(struct advice *a, uint64_t id, const double *x, size_t n_dims);
/* The suggestion's point as it was given out; NULL: nothing is known of it. */
const double *advice_point(const struct advice *a, uint64_t id);
/* The trial_job_id that runs the suggestion; NULL: not known. */
const char *advice_job(const struct advice *a, uint64_t id);
/* The suggestion runs as that job: decisions that waited for its name are sent;
 * of a trial that is over, only that its checkpoint is released.  -1: out of
 * memory. */
int advice_name(struct advice *a, uint64_t id, const char *job, bool over);
/* The suggestion's trial has ended; paused: the manager says that it was
 * paused. */
void advice_end(struct advice *a, uint64_t id, bool paused);
/* No trial will go on from a checkpoint of any suggestion: all are released and
 * forgotten.  -1: out of memory. */
int advice_release_all(struct advice *a);

/* ---- decisions ---- */

/* The tuner has decided on the trial of a suggestion: sends that. */
void advice_decide(struct advice *a, uint64_t id, enum trial_decision decision);
/* What was decided on the trial of a suggestion, TRIAL_GO where nothing was. */
enum trial_decision advice_decision(const struct advice *a, uint64_t id);

/* Shows the tuner the intermediate result in cmd of the trial that runs the
 * suggestion, whose point is x.  Returns whether it was shown (1, 0); -1: the
 * tuner failed at it, and err tells. */
int advice_report(struct advice *a, uint64_t id, const double *x,
                  const struct command *cmd, struct err *err);

/* ---- packed ---- */

/* Packs what is kept, as pack.h says. */
void advice_save(const struct advice *a, struct buf *out);
/* Reads what advice_save() packed into a new one; all ids are to be below
 * next_id.  -1: err tells. */
int advice_load(struct advice *a, const struct space *space, uint64_t next_id,
                struct unpack *in, struct err *err);

#endif
