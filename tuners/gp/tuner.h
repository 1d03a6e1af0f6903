/* SPDX-License-Identifier: MIT */
/* tuner.h - the tuners of several.h behind the plugin interface. */
#ifndef TUNERS_GP_TUNER_H
#define TUNERS_GP_TUNER_H

#include "gp/several.h"
#include "tunepipe/tuner.h"

struct gp_tuner {
    const struct tp_host *host;
    struct several *several;      /* NULL before space() */
    const struct tp_space *space; /* as that */
    struct gp_options options;
    bool by_weights; /* each trial has its own, also of one cost */
    bool maximizes;  /* where there are no objectives */
    const struct tp_objectives *objectives; /* NULL: one, without limits */
};

enum { GP_ARG_MODE, GP_ARG_SEED, GP_ARG_STARTUP, GP_N_ARGS };

extern const struct tp_arg gp_args[GP_N_ARGS];

/* For members of struct tp_tuner of these names. */
void *gp_tuner_create(const struct tp_host *host);
void gp_tuner_destroy(void *vself);
int gp_tuner_config(void *vself, const struct tp_value *values, size_t n);
int gp_tuner_objectives(void *vself, const struct tp_objectives *of);
int gp_tuner_space(void *vself, const struct tp_space *s);
int gp_tuner_ask(void *vself, uint64_t id, struct tp_suggestion *out);
int gp_tuner_tell(void *vself, uint64_t id, const double *x,
                  const struct tp_result *result);
int gp_tuner_ended(void *vself, uint64_t id, const double *x, int how);
int gp_tuner_score(void *vself, const double *const *points, size_t n,
                   double *out);
int gp_tuner_save(void *vself, const struct tp_sink *sink);
int gp_tuner_load(void *vself, const struct tp_source *source);

/* All but name, doc, version, and config() where that is another one. */
#define GP_TUNER                                                           \
    TP_TUNER_HEAD, .flags = TP_TUNER_DEDUP, .args = TP_ARGS(gp_args),      \
                   .create = gp_tuner_create, .destroy = gp_tuner_destroy, \
                   .space = gp_tuner_space, .ask = gp_tuner_ask,           \
                   .tell = gp_tuner_tell, .ended = gp_tuner_ended,         \
                   .save = gp_tuner_save, .load = gp_tuner_load,           \
                   .score = gp_tuner_score, .objectives = gp_tuner_objectives

#endif
