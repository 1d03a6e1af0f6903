/* SPDX-License-Identifier: MIT */
/* trials.h - the suggestions that were given out: what the tuner asked for,
 * bit by bit, until both its result and its end are known.  The default
 * worker's alone.
 *
 * What stays of a finished trial is one bit.  A trial that ended without a
 * result may still get one: the newest RESULTLESS_MAX of those are kept. */
#ifndef DISPATCHER_TRIALS_H
#define DISPATCHER_TRIALS_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULTLESS_MAX 65536

struct trial {
    uint64_t id;
    char *label;      /* NULL: known by id alone */
    bool told, ended; /* the tuner knows of its result, of its end */
    bool foreign;     /* not asked for: recovered (AD) or of an older space */
    bool unfit;       /* of an older space, and does not fit the new one */
    struct trial *older, *newer; /* among the resultless */
    size_t n_dims;
    double *x;
    /* The number the tuner knows it by (of a plugin, under policy nni alone).
     * Of one that is a program it is its own, where it gave no label, and the
     * parameters are kept as JSON; owned. */
    uint64_t theirs;
    char *parameters;
};

struct buf;
struct trials;
struct unpack;

struct trials *trials_new(void);
void trials_free(struct trials *t);

/* Copies label and x; NULL: out of memory, or the id or label is taken. */
struct trial *trials_add(struct trials *t, uint64_t id, const char *label,
                         const double *x, size_t n_dims);

/* NULL: unknown, or finished. */
struct trial *trials_find(struct trials *t, const struct parameter_id *id);

/* Whether this id had its result and its end. */
bool trials_finished(const struct trials *t, const struct parameter_id *id);

/* Why a final result, or an end, of that trial is not applied: it was never
 * given out, or has had one; NULL: it is, *out is the trial.  *late: it lost a
 * race, nothing is wrong. */
const char *trials_refuse_result(struct trials *t,
                                 const struct parameter_id *id,
                                 struct trial **out, bool *late);
const char *trials_refuse_end(struct trials *t, const struct parameter_id *id,
                              struct trial **out, bool *late);

/* To be called after told or ended was set: forgets what is finished. */
void trials_settle(struct trials *t, struct trial *trial);

/* Gives a trial that has not ended another id, a new one; -1: out of memory. */
int trials_rename(struct trials *t, struct trial *trial, uint64_t id);

/* Replaces the point (after a change of the search space). */
int trial_move(struct trial *trial, const double *x, size_t n_dims);

/* Suggestions given out that have not ended. */
size_t trials_out(const struct trials *t);

/* How many had their result and their end. */
uint64_t trials_n_finished(const struct trials *t);

/* All of them in the order of ids, an array to be freed; NULL: out of
 * memory. */
struct trial **trials_sorted(const struct trials *t, size_t *n);

/* Those that have not ended, in the order of ids; as trials_sorted(). */
struct trial **trials_unended(const struct trials *t, size_t *n);

/* As pack.h: into an empty table, -1: damaged, or out of memory.  Whether the
 * points fit the search space is the caller's to look at. */
void trials_save(const struct trials *t, struct buf *out);
int trials_load(struct trials *t, struct unpack *in);

#endif
