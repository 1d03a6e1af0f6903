/* SPDX-License-Identifier: MIT */
/* tuner_state.h - what a tuner is made of, for tuner*.c alone. */
#ifndef PLUGIN_TUNER_STATE_H
#define PLUGIN_TUNER_STATE_H

#include "core/err.h"
#include "plugin/instance.h"
#include "plugin/tuner.h"
#include "tunepipe/filter.h"

#include <stdbool.h>

struct filter;
struct space;

struct tuner {
    struct instance instance;
    const struct tp_tuner *ops; /* of the instance's plugin */
    const struct space *space;  /* NULL: none yet, or it was refused */
    struct tp_next base;        /* the plugin as a layer */
    struct filter *filters;     /* the outermost; NULL: none */
    const struct tp_next *top;  /* the outermost layer */
    bool barred;                /* none of them is called */
    uint64_t served;            /* what the plugin itself answered last, by
                                   TP_OK; TP_NO_ID: not, or what it should not */
    struct tuner_terms terms;
    struct err failure;
};

/* tuner_advice.c */

/* Around a call of the plugin, inside of instance_enter() and _leave(). */
void tuner_open_demands(struct tuner *t, bool asks);
/* rc, or TP_ERR when it asked for what cannot be: t->failure tells. */
int tuner_close_demands(struct tuner *t, const char *callback, int rc);
/* Whether what ask() left in `lent` besides the point can be used. */
int tuner_check_terms(struct tuner *t, uint64_t id,
                      const struct tp_suggestion *lent);
/* What the stack of layers answered to the host. */
void tuner_set_terms(struct tuner *t, uint64_t id,
                     const struct tp_suggestion *out);

/* -1: the plugin or its filters are not to be called: err tells. */
int tuner_refuse_call(const struct tuner *t, const char *callback,
                      struct err *err);
/* The same, or there is no search space. */
int tuner_may_call(const struct tuner *t, const char *callback,
                   struct err *err);

#endif
