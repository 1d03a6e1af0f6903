/* SPDX-License-Identifier: MIT */
/* searcher.h - where new configurations come from: samples of the prior, or
 * another tuner, compiled in, which learns from all results.
 *
 * To that tuner a configuration is one trial, under one id.  At each rung it is
 * told again what became of it.
 *
 * All of these return TP_OK or TP_ERR, with the host told why. */
#ifndef TUNERS_PARTS_SEARCHER_H
#define TUNERS_PARTS_SEARCHER_H

#include "parts/defaults.h"
#include "tunepipe/tuner.h"

struct searcher {
    const struct tp_host *host;
    const struct tp_tuner *table; /* of the model; NULL: samples */
    void *model;
    struct defaults defaults;
    uint64_t last_id, again; /* asked for last, and again so often */
};

/* The table of the plugin tpe, under another name. */
const struct tp_tuner *searcher_tpe(void);

/* `model`: its table; NULL: samples.  `mode`, borrowed, is optimize_mode.  A
 * zeroed one may be given to fini. */
int searcher_init(struct searcher *s, const struct tp_host *host,
                  const struct tp_tuner *model, const char *mode);
void searcher_fini(struct searcher *s);

/* As struct tp_tuner's; a model that takes one value is not told.  Before the
 * first space. */
int searcher_objectives(struct searcher *s, const struct tp_objectives *of);

int searcher_space(struct searcher *s, const struct tp_space *space);

/* A point for `id`, or another one. */
int searcher_ask(struct searcher *s, uint64_t id, struct tp_suggestion *out);

/* A result of the configuration that began as `id`, which is tried at x; `how`
 * and `step` as in struct tp_result. */
int searcher_tell(struct searcher *s, uint64_t id, const double *x, int how,
                  double value, uint64_t step);
int searcher_tell_result(struct searcher *s, uint64_t id, const double *x,
                         const struct tp_result *result);
int searcher_ended(struct searcher *s, uint64_t id, const double *x, int how);

int searcher_score(struct searcher *s, const double *const *points, size_t n,
                   double *out);
int searcher_save(const struct searcher *s, const struct tp_sink *sink);
int searcher_load(struct searcher *s, const struct tp_source *source);

#endif
