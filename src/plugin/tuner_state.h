/* SPDX-License-Identifier: MIT */
/* tuner_state.h - what a tuner is made of, for tuner*.c alone. */
#ifndef PLUGIN_TUNER_STATE_H
#define PLUGIN_TUNER_STATE_H

#include "core/err.h"
#include "plugin/instance.h"
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
    struct err failure;
};

/* -1: the plugin or its filters are not to be called: err tells. */
int tuner_refuse_call(const struct tuner *t, const char *callback,
                      struct err *err);
/* The same, or there is no search space. */
int tuner_may_call(const struct tuner *t, const char *callback,
                   struct err *err);

#endif
