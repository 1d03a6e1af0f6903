/* SPDX-License-Identifier: MIT */
/* tunepipe/filter.h - the one header a filter includes.
 *
 * A filter lies around a tuner, or around another filter: each call comes to
 * it first, with `next`, the layer inside.  It may call next before, after,
 * instead of or without work of its own, or not at all:
 *
 *   host -> first filter named -> ... -> last filter named -> tuner
 *
 * Objects are created from the inside out, the tuner first and the filter
 * that was named first last, and destroyed the other way round.
 *
 *   create -> config -> space -> load?
 *          -> (ask | tell | ended | space | save | takes)* -> destroy
 *
 * The orders, returns and threads of tunepipe/tuner.h hold for a filter, too,
 * and for what it asks of next, but for these:
 *
 * - config gets the filter's own arguments, save and load its own state; they
 *   do not travel inwards.
 * - The space and the next that it was given before load are those of the
 *   calls to come, as addresses, too.
 * - ask may be called again with the same id, also when it said TP_OK: the
 *   later answer replaces the earlier one.
 * - A point may be replaced.  tell and ended then carry the one that was given
 *   out, also to the layers inside.
 * - An id for which next->ask said TP_OK, the last time, is told and ended
 *   inside, too, at most once each.  Any other is unknown there: tell it with
 *   TP_NO_ID, as imported, and do not end it.
 * - What goes on with the point of another (TP_PROMOTED) is let through as it
 *   is.  Intermediate results go to the tuner and do not come by.
 * - takes is asked, after a space() that succeeded, also within ask, by the
 *   layers outside.
 * - When next fails and the filter does, too, it returns TP_ERR without
 *   host->error(), so that the layer that failed is the one that is named.
 *
 * A filter knows every call there is: one that is older than a call would let
 * it pass unseen.  So filters come with tunepipe, and one of another build is
 * refused. */
#ifndef TUNEPIPE_FILTER_H
#define TUNEPIPE_FILTER_H

#include "tunepipe/tuner.h"

#define TP_FILTER_MAGIC 0x48504631u

/* The layer inside; the callbacks as in struct tp_tuner. */
struct tp_next {
    void *ctx; /* first argument of all of these */
    int (*space)(void *ctx, const struct tp_space *space);
    int (*ask)(void *ctx, uint64_t id, struct tp_suggestion *out);
    int (*tell)(void *ctx, uint64_t id, const double *x,
                const struct tp_result *result);
    int (*ended)(void *ctx, uint64_t id, const double *x, int how);

    /* Why the last of these calls failed, in one line that names the layer
     * and its callback; valid until the next call. */
    const char *(*why)(void *ctx);

    /* 1, or 0: no layer inside gives out such a point, because it breaks a
     * rule that holds for all; so nobody outside should, either. */
    int (*takes)(void *ctx, const double *x);
};

struct tp_filter {
    uint64_t _struct_size; /* these four are set by TP_FILTER_HEAD */
    uint32_t _magic, _abi;
    const char *_build; /* of the tunepipe it belongs to */

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

    /* Default: arguments are not looked at. */
    int (*config)(void *self, const struct tp_value *values, size_t n);

    /* Default of these four: next does it.  `next` is the same object from
     * the first call to the last. */
    int (*space)(void *self, const struct tp_next *next,
                 const struct tp_space *space);
    int (*ask)(void *self, const struct tp_next *next, uint64_t id,
               struct tp_suggestion *out);
    int (*tell)(void *self, const struct tp_next *next, uint64_t id,
                const double *x, const struct tp_result *result);
    int (*ended)(void *self, const struct tp_next *next, uint64_t id,
                 const double *x, int how);

    /* As in struct tp_tuner.  One filter without them, and the tuner and all
     * its filters are replayed. */
    int (*save)(void *self, const struct tp_sink *sink);
    int (*load)(void *self, const struct tp_source *source);

    /* Default: next does it.  Whether x, a point of the space, may be given
     * out; changes nothing. */
    int (*takes)(void *self, const struct tp_next *next, const double *x);
};

/* TP_VERSION is set by the Makefile. */
#define TP_FILTER_HEAD \
    sizeof(struct tp_filter), TP_FILTER_MAGIC, TP_ABI, TP_VERSION

#define TP_REGISTER_FILTER(table)                            \
    TP_EXPORT const struct tp_filter *tunepipe_filter(void); \
    const struct tp_filter *tunepipe_filter(void)            \
    {                                                        \
        return &(table);                                     \
    }

#endif
