/* SPDX-License-Identifier: MIT */
/* tunepipe/tuner.h - the one header a tuner includes.
 *
 * Life of a tuner object (what may follow what):
 *
 *   create -> config -> space -> (ask | tell | ended | space)* -> destroy
 *
 * - config comes once, right after create; space comes before the first ask
 *   and again whenever the user changes the search space.  Points asked for
 *   before that have ended for the tuner: each unfinished one gets
 *   ended(TP_ENDED_OUTDATED) before the new space() call.
 * - A suggestion may never run, may end without a result, may get its result
 *   after its end.  A tuner gets at most one tell and at most one ended for
 *   an id, in either order.
 * - tell with TP_RESULT_IMPORTED brings points that were never asked for: id
 *   is TP_NO_ID.
 * - destroy may come at any time after create. */
#ifndef TUNEPIPE_TUNER_H
#define TUNEPIPE_TUNER_H

#include "tunepipe/plugin.h"

#define TP_TUNER_MAGIC 0x48505431u
#define TP_NO_ID (~(uint64_t)0)

/* What ask fills.  The host has set it to no label, no budget, no parent. */
struct tp_suggestion {
    uint64_t _struct_size;
    double *x;         /* n_dims long, the host's; all NaN on entry */
    const char *label; /* becomes the parameter_id on the wire; NULL: the id.
                          Read before the next call into the plugin */
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
    int how;       /* enum tp_result_how */
    double value;  /* as reported; may be NaN or infinite */
    uint64_t step; /* STOPPED: the 0-based step of value; else 0 */
};

/* How a trial ended. */
enum tp_ended_how {
    TP_ENDED_SUCCEEDED = 1,
    TP_ENDED_FAILED = 2,
    TP_ENDED_STOPPED = 3,   /* early, on the assessor's word */
    TP_ENDED_CANCELLED = 4, /* by the user or the system */
    TP_ENDED_OUTDATED = 5   /* the search space was changed under it */
};

struct tp_tuner {
    uint64_t _struct_size; /* these three are set by TP_TUNER_HEAD */
    uint32_t _magic, _abi;

    const char *name;    /* required: as users write it, lower case */
    const char *doc;     /* required: one line */
    uint32_t version;    /* of the algorithm: raised when its answers change */
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
     * until the next space() call or destroy() has returned. */
    int (*space)(void *self, const struct tp_space *space);

    /* Required.  Fills out->x for the trial `id` (ids rise, gaps are
     * possible).  TP_OK, TP_LATER, TP_DONE or TP_ERR. */
    int (*ask)(void *self, uint64_t id, struct tp_suggestion *out);

    /* Required.  The result of `id`; x is what ask() gave, bit by bit, or the
     * imported point. */
    int (*tell)(void *self, uint64_t id, const double *x,
                const struct tp_result *result);

    /* Default: ends are not looked at.  `how` is an enum tp_ended_how. */
    int (*ended)(void *self, uint64_t id, const double *x, int how);

    /* New members go here, at the end, and may be NULL. */
};

#define TP_TUNER_HEAD sizeof(struct tp_tuner), TP_TUNER_MAGIC, TP_ABI

/* At the end of the plugin's source: TP_REGISTER_TUNER(tuner) with
 * static const struct tp_tuner tuner = {TP_TUNER_HEAD, "name", ...}. */
#define TP_REGISTER_TUNER(table)                                              \
    TP_EXPORT const struct tp_tuner *tunepipe_tuner(void);                    \
    const struct tp_tuner *tunepipe_tuner(void)                               \
    {                                                                         \
        return &(table);                                                      \
    }

#endif
