/* SPDX-License-Identifier: MIT */
/* tunepipe/assessor.h - the one header an assessor includes.
 *
 * Life of an assessor object:
 *
 *   create -> config -> load? -> (assess | ended | save)* -> destroy
 *
 *   call     when                           how often
 *   create   first                          once
 *   config   right after create             once
 *   assess   after config                   each time a trial's gap-free
 *                                           history has become longer
 *   ended    after the trial's assess       at most once a trial
 *   load     right after config             at most once
 *   save     at any time after config       any number of times
 *   destroy  at any time after create       once
 *
 * - A trial that reported no intermediate value is never heard of.
 * - A trial that was stopped is not assessed again; its history in ended may
 *   be longer than the last assess saw.
 * - A trial that is started again (the next attempt) gets ended
 *   (TP_TRIAL_FAILED) and begins anew, with an empty slot.
 * - Trials may be running when destroy comes: what their slots hold is the
 *   assessor's to free.
 * - load gets what another object saved, with the same trials in the same
 *   order, their slots empty.  When it fails only destroy follows.
 * - When assess fails the trial goes on, when ended fails the host goes on as
 *   if it had succeeded. */
#ifndef TUNEPIPE_ASSESSOR_H
#define TUNEPIPE_ASSESSOR_H

#include "tunepipe/plugin.h"

#define TP_ASSESSOR_MAGIC 0x48504131u

/* What a trial has reported: values[0..n-1] are its intermediate values of
 * steps 0..n-1, without gaps, which the host keeps as long as the trial lives:
 * 8 bytes each, and nothing where there is no assessor.  Lent for the call:
 * what is written into it only the assessor sees again, in its later calls for
 * this trial. */
struct tp_history {
    uint64_t _struct_size;
    uint64_t trial;   /* a number for the trial, never used again */
    uint64_t attempt; /* 0 first; a restarted trial begins at step 0 again */
    const double *values;
    size_t n;
    void **slot; /* the assessor's own, per trial and attempt: *slot is NULL
                    at first and kept until ended() has returned */
};

/* How the trial ended. */
enum tp_trial_end {
    TP_TRIAL_SUCCEEDED = 1,
    TP_TRIAL_FAILED = 2,
    TP_TRIAL_STOPPED = 3,  /* early, on the assessor's word */
    TP_TRIAL_CANCELLED = 4 /* by the user or the system */
};

struct tp_assessor {
    uint64_t _struct_size; /* these three are set by TP_ASSESSOR_HEAD */
    uint32_t _magic, _abi;

    const char *name; /* required: as users write it, lower case */
    const char *doc;  /* required: one line */
    uint32_t version; /* of the algorithm: raised when its answers change */
    const struct tp_arg *args; /* n_args long; NULL: it takes none */
    size_t n_args;
    size_t arg_size; /* sizeof(struct tp_arg) */

    /* Required.  A new object, or NULL after host->error(). */
    void *(*create)(const struct tp_host *host);

    /* Required.  Frees the object; never fails. */
    void (*destroy)(void *self);

    /* Default: arguments are not looked at.  values[i] belongs to args[i]. */
    int (*config)(void *self, const struct tp_value *values, size_t n);

    /* Required.  Called with each new intermediate value, values[n-1] being
     * the newest (several may be new when a gap was closed).  A trial that
     * was stopped is not assessed again. */
    int (*assess)(void *self, const struct tp_history *history,
                  struct tp_verdict *out);

    /* Default: ends are not looked at.  `how` is an enum tp_trial_end. */
    int (*ended)(void *self, const struct tp_history *history, int how);

    /* Both or neither; see Saving in tunepipe/plugin.h.  living[0..n-1] are
     * the trials that have reported and have not ended, in the order of their
     * numbers; their histories may be longer than the last assess saw.  save
     * writes all that later verdicts depend on but arguments, seed and
     * histories, so also what the slots hold, and changes nothing; load reads
     * it, all of it, and fills the slots.  TP_OK or TP_ERR. */
    int (*save)(void *self, const struct tp_history *const *living, size_t n,
                const struct tp_sink *sink);
    int (*load)(void *self, const struct tp_history *const *living, size_t n,
                const struct tp_source *source);

    /* New members go here, at the end, and may be NULL. */
};

#define TP_ASSESSOR_HEAD sizeof(struct tp_assessor), TP_ASSESSOR_MAGIC, TP_ABI

#define TP_REGISTER_ASSESSOR(table)                              \
    TP_EXPORT const struct tp_assessor *tunepipe_assessor(void); \
    const struct tp_assessor *tunepipe_assessor(void)            \
    {                                                            \
        return &(table);                                         \
    }

#endif
