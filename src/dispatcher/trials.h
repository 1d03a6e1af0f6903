/* SPDX-License-Identifier: MIT */
/* trials.h - the suggestions that were given out, from the TR until both the
 * result and the end of their trial are known.  The default worker's alone.
 *
 * One bit stays of a finished trial.  A trial that ended without a result may
 * still get one: the newest RESULTLESS_MAX of those are kept. */
#ifndef DISPATCHER_TRIALS_H
#define DISPATCHER_TRIALS_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULTLESS_MAX 65536

/* Whose its parameters are, to the tuner; the values stand in snapshots. */
enum trial_source {
    TRIAL_SUGGESTED = 0,
    TRIAL_RECOVERED = 1, /* not suggested here, or for an older space */
    TRIAL_CUSTOM = 2,    /* the user's */
};

struct trial {
    uint64_t id;
    char *label;               /* NULL: it has an id alone */
    bool result_told, ended;   /* the tuner knows its result; its end */
    enum trial_source foreign; /* the tuner did not suggest it here */
    bool unfit; /* its point is of an older search space and does not fit the
                   new one */
    struct trial *older, *newer; /* among those that ended without a result */
    size_t n_dims;
    double *x;
    /* The id by which the tuner knows it.  A plugin's differs from `id` under
     * policy nni alone; a program's is its own, where it gave no label.  The
     * parameters are a program's, as JSON; owned. */
    uint64_t tuner_id;
    char *parameters;
};

struct buf;
struct trials;
struct unpack;

struct trials *trials_new(void);
void trials_free(struct trials *t);

/* Copies label and x; NULL: out of memory, or the id or label is in use. */
struct trial *trials_add(struct trials *t, uint64_t id, const char *label,
                         const double *x, size_t n_dims);

/* NULL: the trial was never given out, or is finished. */
struct trial *trials_find(struct trials *t, const struct parameter_id *id);

/* Whether that trial had both its result and its end. */
bool trials_finished(const struct trials *t, const struct parameter_id *id);

/* Why a final result, or an end, of that trial is not applied: it was never
 * given out, or had one before.  NULL: it is applied, and *out is the trial.
 * *late: the message lost a race, which is no error. */
const char *trials_refuse_result(struct trials *t,
                                 const struct parameter_id *id,
                                 struct trial **out, bool *late);
const char *trials_refuse_end(struct trials *t, const struct parameter_id *id,
                              struct trial **out, bool *late);

/* Forgets the trial where it is finished; to be called after result_told or
 * ended was set. */
void trials_settle(struct trials *t, struct trial *trial);

/* Gives a trial that has not ended a new id; -1: out of memory. */
int trials_rename(struct trials *t, struct trial *trial, uint64_t id);

/* Replaces the trial's point (after a change of the search space). */
int trial_move(struct trial *trial, const double *x, size_t n_dims);

/* How many suggestions given out have not ended. */
size_t trials_out(const struct trials *t);

/* How many trials had their result and their end. */
uint64_t trials_n_finished(const struct trials *t);

/* All trials in the order of ids, an array to be freed; NULL: out of memory. */
struct trial **trials_sorted(const struct trials *t, size_t *n);

/* The trials that have not ended, in the order of ids; as trials_sorted(). */
struct trial **trials_unended(const struct trials *t, size_t *n);

/* Packs them, and reads them into an empty table, as pack.h says; -1: damaged,
 * or out of memory.  Whether the points fit the search space is for the caller
 * to check. */
void trials_save(const struct trials *t, struct buf *out);
int trials_load(struct trials *t, struct unpack *in);

#endif
