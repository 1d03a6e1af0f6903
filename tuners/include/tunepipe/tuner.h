/* SPDX-License-Identifier: MIT */
/* tunepipe/tuner.h - the one header a tuner includes.
 *
 * Life of a tuner object:
 *
 *   create -> config -> objectives? -> space -> load?
 *          -> (ask | metric | tell | ended | space | plan | save | score)*
 *          -> destroy
 *
 *   call     when                           how often
 *   create   first                          once
 *   config   right after create             once
 *   objectives  before the first space      at most once
 *   space    before the first ask, tell     again whenever the user changes
 *            and ended                      the search space
 *   load     right after the first space    at most once
 *   save     after a space() that           any number of times
 *            succeeded; plan, score, too
 *   ask      after a space() that           once an id; again with an id for
 *            succeeded                      which it said TP_LATER, or when a
 *                                           filter asks again: the later
 *                                           answer replaces the earlier one
 *   tell     after its ask; or with a       at most once an id; any number of
 *            point that was never asked     times with TP_NO_ID
 *            for (TP_NO_ID)
 *   metric   after its ask, before its end  once an intermediate result
 *   ended    after its ask, before or       at most once an id
 *            after its tell
 *   destroy  at any time after create       once
 *
 * - What may happen to a suggestion: it never runs; it ends without a result;
 *   its result comes after its end; nothing more is heard of it.
 * - Before a second space() each point whose end has not been told gets
 *   ended(TP_ENDED_OUTDATED), and nothing more is told of its id: a result
 *   that still comes is told as TP_RESULT_IMPORTED, with TP_NO_ID, if the
 *   point fits into the new space.
 * - When space() fails the host gives the space before it again, or, if there
 *   was none, only another space() or destroy() follows.
 * - When ask fails, or its point is refused, nothing more is heard of that id.
 * - load gets what another object saved, whose search space is the one that
 *   space has just been given; older ones are never heard of.  Ids go on from
 *   there.  When load fails only destroy follows.
 * - When another callback fails the host goes on as if it had succeeded. */
#ifndef TUNEPIPE_TUNER_H
#define TUNEPIPE_TUNER_H

#include "tunepipe/plugin.h"

#define TP_TUNER_MAGIC 0x48505431u
#define TP_NO_ID (~(uint64_t)0)

/* What a tuner wants of its host: tp_tuner.flags. */
enum {
    TP_TUNER_WHOLE = 1, /* the space has to be one choice, whose elements are
                          whole sets of parameters: TP_DIM_WHOLE */
    TP_TUNER_DEDUP = 2, /* the filter dedup lies around it unless the user
                           names that filter */
    TP_TUNER_UNITS = 4  /* a request that is not served gets one NO a unit,
                           with the parameter_id "-1_0_0", as NNI's advisors
                           write it */
};

/* What ask fills.  The host has set it to no label, no budget, no parent. */
struct tp_suggestion {
    uint64_t _struct_size;
    double *x;         /* n_dims long, the host's; all NaN on entry */
    const char *label; /* becomes the parameter_id on the wire; NULL: the id.
                          1 to 255 printable ASCII characters, read before the
                          next call into the plugin */
    double budget;     /* what the trial may use, in intermediate results; it
                          finds it as TRIAL_BUDGET.  Finite and positive; 0:
                          it is told of none */
    uint64_t from;     /* an earlier suggestion, from whose checkpoint the trial
                          goes on where the manager can hand it over (it knows
                          itself whether it was); TP_NO_ID: none */
    int from_how;      /* enum tp_from */
};

/* What a suggestion is to the one it comes from. */
enum tp_from {
    TP_ANEW = 0,     /* `from` is TP_NO_ID */
    TP_PROMOTED = 1, /* the same point with more budget: x is filled as it was
                        for `from`; the trial gets what that one was given,
                        should a filter have moved it */
    TP_CLONED = 2    /* another point that inherits its state */
};

/* An intermediate result. */
struct tp_metric {
    uint64_t _struct_size;
    double value;         /* as reported; may be NaN or infinite */
    uint64_t step;        /* 0-based, over all that the trial went on from: its
                             first is where its checkpoint was saved */
    uint64_t attempt;     /* 0 first; one started again reports steps again */
    const double *values; /* as in struct tp_result */
    size_t n_values;
    double violation;
};

/* How a result came about. */
enum tp_result_how {
    TP_RESULT_FINAL = 1,    /* the trial's final metric */
    TP_RESULT_STOPPED = 2,  /* stopped early: an intermediate value, censored */
    TP_RESULT_IMPORTED = 3, /* a point from elsewhere; id is TP_NO_ID */
    TP_RESULT_CUSTOM = 4    /* a trial the user added; id is TP_NO_ID */
};

struct tp_result {
    uint64_t _struct_size;
    int how;              /* enum tp_result_how */
    double value;         /* as reported; may be NaN or infinite */
    uint64_t step;        /* STOPPED: the 0-based step of value; else 0 */
    const double *values; /* of the objectives, in their order, as reported; may
                             be NaN or infinite; until the call returns.  NULL:
                             the experiment has no objectives, or this trial
                             was stopped before it had told of all */
    size_t n_values;      /* as many as there are objectives; 0: NULL */
    double violation; /* 0: within all limits on results; else how far beyond,
                         the sum over the limits of |value - bound| /
                         max(1, |bound|); may be infinite */
};

/* One of the values that the search is for. */
struct tp_objective {
    const char *name;
    int maximize;     /* 1: higher is better; 0: lower */
    double reference; /* the worst value that still counts for the hypervolume;
                         NaN: none is given */
};

/* What the results of the experiment are judged by. */
struct tp_objectives {
    uint64_t _struct_size;
    size_t n;              /* 1 to 8 */
    size_t objective_size; /* bytes from one struct tp_objective to the next */
    const struct tp_objective *objectives;
    size_t n_limits; /* on results; 0: every violation is 0 */
};

/* The i-th objective, whatever size the host's struct tp_objective has. */
#define TP_OBJECTIVE(of, i)                                         \
    ((const struct tp_objective *)(const void *)((const char *)(of) \
                                                     ->objectives + \
                                                 (i) * (of)->objective_size))

/* How a trial ended. */
enum tp_ended_how {
    TP_ENDED_SUCCEEDED = 1,
    TP_ENDED_FAILED = 2,
    TP_ENDED_STOPPED = 3,   /* early, on the assessor's word */
    TP_ENDED_CANCELLED = 4, /* by the user or the system */
    TP_ENDED_OUTDATED = 5,  /* the search space was changed under it */
    TP_ENDED_PAUSED = 6     /* on the tuner's word, its checkpoint kept */
};

/* What is known of the experiment beforehand. */
struct tp_plan {
    uint64_t _struct_size;
    uint64_t trials; /* that there are to be in all, those before included; 0:
                        no limit */
};

struct tp_tuner {
    uint64_t _struct_size; /* these three are set by TP_TUNER_HEAD */
    uint32_t _magic, _abi;

    const char *name; /* required: as users write it, lower case */
    const char *doc;  /* required: one line */
    uint32_t version; /* of the algorithm: raised when its answers change */
    uint32_t flags;   /* TP_TUNER_... */
    const struct tp_arg *args; /* n_args long; NULL: it takes none */
    size_t n_args;
    size_t arg_size; /* sizeof(struct tp_arg) */

    /* Required.  A new object, or NULL after host->error(). */
    void *(*create)(const struct tp_host *host);

    /* Required.  Frees the object; never fails. */
    void (*destroy)(void *self);

    /* Default: arguments are not looked at.  values[i] belongs to args[i],
     * checked and with defaults filled in. */
    int (*config)(void *self, const struct tp_value *values, size_t n);

    /* Default: the space is not looked at.  `space` and all it points to stay
     * until the next space() or destroy() has returned; when this fails, only
     * until it has returned. */
    int (*space)(void *self, const struct tp_space *space);

    /* Required.  Fills the array out->x for the trial `id` (ids rise, gaps are
     * possible): indices as whole numbers, the rest within low..high (what
     * lies beyond is clipped when the trial gets it), NaN where inactive.
     * TP_OK, TP_LATER, TP_DONE or TP_ERR. */
    int (*ask)(void *self, uint64_t id, struct tp_suggestion *out);

    /* Required.  The result of `id`; x, a copy, is what ask() gave, bit by bit,
     * or the imported point, or what a filter put in the place of ask()'s. */
    int (*tell)(void *self, uint64_t id, const double *x,
                const struct tp_result *result);

    /* Default: ends are not looked at.  `how` is an enum tp_ended_how. */
    int (*ended)(void *self, uint64_t id, const double *x, int how);

    /* Both or neither; see Saving in tunepipe/plugin.h.  save writes all that
     * later answers depend on but arguments, seed and search space, and changes
     * nothing; load reads it, all of it.  TP_OK or TP_ERR. */
    int (*save)(void *self, const struct tp_sink *sink);
    int (*load)(void *self, const struct tp_source *source);

    /* Default: the tuner has no such thing.  What it makes of points of the
     * space: it would rather ask for one that has a higher number in out[],
     * as things stand; only their order counts.  NaN: no opinion.  After a
     * space() that succeeded, any number of times, for `tunepipe replay
     * --tuner`; changes nothing.  TP_OK or TP_ERR. */
    int (*score)(void *self, const double *const *points, size_t n,
                 double *out);

    /* Default: intermediate results are not looked at.  A tuner that has it is
     * an advisor: it decides how long trials run, so there is no assessor, and
     * a trial that was stopped is not told as TP_RESULT_STOPPED.  After the
     * ask of `id` and before its end; of one attempt in the order of the steps,
     * each once, perhaps with gaps.  TP_OK or TP_ERR: the trial goes on. */
    int (*metric)(void *self, uint64_t id, const double *x,
                  const struct tp_metric *metric, struct tp_verdict *out);

    /* Default: what is planned is not looked at.  After the first space(), when
     * the manager tells it and whenever it changes; a manager need not.  What
     * it says counts from there on; save writes what of it is needed. */
    int (*plan)(void *self, const struct tp_plan *plan);

    /* Default: the tuner takes one value.  `value` of results and metrics is
     * then what the experiment's `scalarize` makes of several: less is better
     * where the arguments say minimize, and beyond a limit is worse than all
     * within.  Not called where the experiment names no objectives.  A tuner
     * that has it goes by `values` and `violation`, not by `value`.  `of` and
     * all it points to stay until destroy() has returned.  TP_OK, or TP_ERR
     * after host->error(): it cannot take so many. */
    int (*objectives)(void *self, const struct tp_objectives *of);

    /* New members go here, at the end, and may be NULL. */
};

#define TP_TUNER_HEAD sizeof(struct tp_tuner), TP_TUNER_MAGIC, TP_ABI

/* At the end of the plugin's source: TP_REGISTER_TUNER(tuner) with
 * static const struct tp_tuner tuner = {TP_TUNER_HEAD, "name", ...}. */
#define TP_REGISTER_TUNER(table)                           \
    TP_EXPORT const struct tp_tuner *tunepipe_tuner(void); \
    const struct tp_tuner *tunepipe_tuner(void)            \
    {                                                      \
        return &(table);                                   \
    }

#endif
