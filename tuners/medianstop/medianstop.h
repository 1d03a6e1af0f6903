/* SPDX-License-Identifier: MIT */
/* medianstop.h - the median stopping rule: a trial is stopped when the best
 * value it has reported by some step is worse than the median, over the
 * completed trials, of the running averages at that step (Golovin et al.,
 * "Google Vizier", KDD 2017, section 3.2.2), with the choices NNI makes where
 * the paper leaves them open.
 *
 * - The step of a trial is the number of values it has reported.
 * - Only trials that succeeded count; one that reported fewer values than
 *   `start_step` leaves nothing behind.
 * - Of an even number of averages the one that stops fewer trials is the
 *   median: the lower middle for maximize, the upper for minimize.
 * - As good as the median is good enough.
 * - The best value is Python's max() or min(): a NaN that comes first stays
 *   the best, and is never worse than anything; later ones are not looked at.
 * - An average that is NaN is not entered.  (NNI enters it and sorts with it,
 *   which leaves the order to chance.)
 *
 * Cost: an assessment is O(1) for each new value, a completed trial
 * O(log completed) for each of its values.  Memory: 8 bytes for each value of
 * each completed trial (up to 12 while a table has room to grow), 32 for each
 * running trial.
 *
 * Knows of the plugin interface only where it is saved to; one thread at a
 * time. */
#ifndef MEDIANSTOP_MEDIANSTOP_H
#define MEDIANSTOP_MEDIANSTOP_H

#include <stdbool.h>
#include <stddef.h>

struct medianstop;
struct medianstop_trial; /* what is kept for a running trial */
struct tp_sink;
struct tp_source;

struct medianstop_verdict {
    bool stop;
    bool early;    /* it has reported fewer than start_step values */
    bool compared; /* else no trial has completed this step yet */
    double best, median;
    size_t averages; /* of so many completed trials it is the median */
};

/* NULL when out of memory. */
struct medianstop *medianstop_new(bool maximize, size_t start_step);
/* Frees the trials that have not ended, too. */
void medianstop_free(struct medianstop *m);

/* A running trial has reported values[0..n-1], n > 0; what earlier calls saw
 * is not looked at again.  *trial is NULL at first, and m's.  -1 when out of
 * memory. */
int medianstop_assess(struct medianstop *m, struct medianstop_trial **trial,
                      const double *values, size_t n,
                      struct medianstop_verdict *out);

/* The trial has ended; values are those it reported, at least as many as were
 * assessed.  Frees *trial and sets it to NULL.  -1 when out of memory: the
 * trial then does not count. */
int medianstop_ended(struct medianstop *m, struct medianstop_trial **trial,
                     const double *values, bool succeeded);

/* The averages; load: into a new one.  What load functions return is why they
 * failed, or NULL. */
void medianstop_save(const struct medianstop *m, const struct tp_sink *sink);
const char *medianstop_load(struct medianstop *m,
                            const struct tp_source *source);

/* A running trial that has reported n values; NULL, too. */
void medianstop_save_trial(const struct medianstop_trial *trial,
                           const struct tp_sink *sink);
const char *medianstop_load_trial(struct medianstop *m, size_t n,
                                  struct medianstop_trial **trial,
                                  const struct tp_source *source);

#endif
