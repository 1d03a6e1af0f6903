/* SPDX-License-Identifier: MIT */
/* advice.h - what a tuner that is an advisor says of trials, and what of that
 * the manager hears: KI and DT, once for each decision.
 *
 * It keeps the suggestions of which the tuner may still speak: each one that
 * was given out, until its trial has ended and nobody goes on from it.  Of a
 * tuner that is no advisor there are none.  Ids are the tuner's.  The default
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
    const struct explainer *explainer; /* NULL: nobody wants to know */
    struct map origins;                /* id -> struct origin */
};

/* Borrows all until advice_fini(). */
void advice_init(struct advice *a, struct tuner *tuner, struct side *side);
void advice_fini(struct advice *a);

/* ---- suggestions ---- */

/* The point x was given out as a suggestion of the tuner's own.  -1: out of
 * memory. */
int advice_know(struct advice *a, uint64_t id, const double *x, size_t n_dims);
/* The suggestion's point as it was given out; NULL: nothing is known of it. */
const double *advice_point(const struct advice *a, uint64_t id);
/* The suggestion's trial_job_id; NULL: nothing was heard of it. */
const char *advice_job(const struct advice *a, uint64_t id);
/* The suggestion's trial is that job: what waited for its name is said; of a
 * trial that is over only that nobody goes on from it.  -1: out of memory. */
int advice_name(struct advice *a, uint64_t id, const char *job, bool over);
/* The suggestion's trial has ended, in the manager's words as paused, or not.
 */
void advice_end(struct advice *a, uint64_t id, bool paused);
/* Nobody goes on from any suggestion.  -1: out of memory. */
int advice_release_all(struct advice *a);

/* ---- decisions ---- */

/* The tuner decides on a trial. */
void advice_decide(struct advice *a, uint64_t id, enum trial_decision decision);
/* What was decided on the trial, in the manager's words. */
enum trial_decision advice_decision(const struct advice *a, uint64_t id);

/* Shows the tuner an intermediate result (cmd) of a trial at x.  Whether it was
 * shown; -1: the tuner failed at it, and err tells. */
int advice_report(struct advice *a, uint64_t id, const double *x,
                  const struct command *cmd, struct err *err);

/* ---- packed ---- */

/* As pack.h: into a new one, -1: err tells. */
void advice_save(const struct advice *a, struct buf *out);
/* All ids are to be below next_id. */
int advice_load(struct advice *a, const struct space *space, uint64_t next_id,
                struct unpack *in, struct err *err);

#endif
