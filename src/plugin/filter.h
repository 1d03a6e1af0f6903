/* SPDX-License-Identifier: MIT */
/* filter.h - one filter around a tuner (or around another filter).  For
 * tuner.c, which stacks them; threads and failures as there. */
#ifndef PLUGIN_FILTER_H
#define PLUGIN_FILTER_H

#include "json.h"
#include "plugin/instance.h"
#include "tunepipe/filter.h"

struct err;
struct space;

#define FILTER_LABEL_MAX 255 /* bytes of a suggestion's label */

struct filter {
    struct instance instance;
    const struct tp_filter *ops; /* of the instance's plugin */
    const struct tp_next *next;  /* the layer inside */
    struct tp_next layer;        /* this one, as the layer outside sees it */
    /* The search space that its answers have to fit. */
    const struct space *space;
    struct err *failure;  /* of the whole stack of layers: what failed last */
    struct filter *inner; /* NULL: the tuner is inside */
};

/* Loads and configures a filter.  `next` and `failure` are lent until
 * filter_free(); `inner` is taken when this succeeds.  NULL: as
 * instance_open(). */
struct filter *filter_new(const struct plugin_paths *paths, const char *name,
                          struct jval args, uint64_t seed,
                          const struct log *log, const struct tp_next *next,
                          struct filter *inner, struct err *failure,
                          struct err *err);

/* Frees the filter and all inside of it. */
void filter_free(struct filter *f);

/* Sets the space that f and all inside are about to be given; NULL: none. */
void filter_set_space(struct filter *f, const struct space *space);

/* Makes room in f and all inside for points of n_dims; -1: out of memory. */
int filter_reserve(struct filter *f, size_t n_dims, struct err *err);

/* Makes a suggestion empty, as ask() finds it: without label, budget and
 * origin. */
void filter_clear(struct tp_suggestion *out);

/* Takes over into `out` what ask() left in `lent`, a copy of it.  Returns rc,
 * or TP_ERR when the answer is TP_OK and cannot be used (no point of the space,
 * not in the array that was there, a label that cannot become an id on the
 * wire); err then begins with `title`. */
int filter_taken(const char *title, const struct space *space, int rc,
                 const struct tp_suggestion *lent, struct tp_suggestion *out,
                 struct err *err);

#endif
