/* SPDX-License-Identifier: MIT */
/* layer.h - the callbacks of the plugin under check, of whatever kind: a
 * filter's are called with the layer inside, and looked at whether they pass on
 * what they have to.  For calls.c, which surrounds each call. */
#ifndef CHECK_LAYER_H
#define CHECK_LAYER_H

#include "tunepipe/assessor.h"
#include "tunepipe/tuner.h"

#include <stdbool.h>

struct calls;
struct plugin;

/* NULL, and c is broken, also when there is no memory for what lies inside. */
void *layer_create(struct calls *c, const struct tp_host *host);
void layer_destroy(struct calls *c);
int layer_config(struct calls *c, const struct tp_value *values, size_t n);

/* Of tuners and filters. */
int layer_space(struct calls *c, const struct tp_space *space);
int layer_ask(struct calls *c, uint64_t id, struct tp_suggestion *out);
int layer_tell(struct calls *c, uint64_t id, const double *x,
               const struct tp_result *result);
int layer_ended(struct calls *c, uint64_t id, const double *x, int how);

/* Whether it has them; living is an assessor's. */
bool layer_saves(const struct plugin *p);
int layer_save(struct calls *c, const struct tp_history *const *living,
               size_t n, const struct tp_sink *sink);
int layer_load(struct calls *c, const struct tp_history *const *living,
               size_t n, const struct tp_source *source);

#endif
