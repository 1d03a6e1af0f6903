/* SPDX-License-Identifier: MIT */
/* pair.h - an advisor and, from the first pair_reload() on, a second one that
 * was loaded from what the first one saved: each call goes to both, and what
 * they answer has to be the same to the bit.  One thread; -1: err. */
#ifndef TESTS_SIM_PAIR_H
#define TESTS_SIM_PAIR_H

#include "sim/object.h"

struct pair {
    const struct plugin *plugin;
    const char *args;
    uint64_t seed;
    const struct space *space;
    struct object *first, *second; /* second: NULL before pair_reload() */
};

/* As object_new(); pair_fini() is to be called in any case. */
int pair_init(struct pair *p, const struct plugin *plugin, const char *args,
              uint64_t seed, const struct space *space, struct err *err);
void pair_fini(struct pair *p);

/* Has the first one saved and a new second one loaded, which has to save the
 * same bytes. */
int pair_reload(struct pair *p, struct err *err);

int pair_space(struct pair *p, const struct space *space, struct err *err);
int pair_ask(struct pair *p, uint64_t id, struct suggested *out,
             struct err *err);
int pair_metric(struct pair *p, uint64_t id, const double *x,
                const struct tp_metric *metric, int *decision, struct err *err);
int pair_tell(struct pair *p, uint64_t id, const double *x,
              const struct tp_result *result, struct err *err);
int pair_ended(struct pair *p, uint64_t id, const double *x, int how,
               struct err *err);

/* As object_decided(). */
const struct decided *pair_decided(const struct pair *p);

#endif
