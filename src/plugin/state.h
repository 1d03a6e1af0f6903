/* SPDX-License-Identifier: MIT */
/* state.h - a plugin object's state as bytes: which object it is (title,
 * version, seed), then, behind their length, the bytes of its save().  For
 * tuner.c, filter.c and assessor.c. */
#ifndef PLUGIN_STATE_H
#define PLUGIN_STATE_H

#include "tunepipe/plugin.h"

#include <stddef.h>

struct buf;
struct err;
struct instance;
struct unpack;

/* The sink that save() is lent: appends to out, whose failure sticks. */
struct tp_sink state_sink(struct buf *out);

/* The source that load() is lent: takes from `from`, whose failure sticks. */
struct tp_source state_source(struct unpack *from);

/* Saves a tuner or a filter.  -1: err tells why; `out` may have grown, and is
 * full for good when that was why. */
int state_save(struct instance *i,
               int (*save)(void *self, const struct tp_sink *sink),
               struct buf *out, struct err *err);
int state_load(struct instance *i,
               int (*load)(void *self, const struct tp_source *source),
               struct unpack *from, struct err *err);

/* Stand around another kind's save(): state_begin() returns what state_end()
 * needs, whose rc is save()'s.  -1 when that failed or out is full. */
size_t state_begin(const struct instance *i, struct buf *out);
int state_end(struct instance *i, size_t begun, int rc, struct buf *out,
              struct err *err);

/* Stand around load(): state_open() fills *own with the part that is i's alone,
 * -1 when the next part in `from` is not i's; state_close(), whose rc is
 * load()'s, is -1 when that failed or left something. */
int state_open(const struct instance *i, struct unpack *from,
               struct unpack *own, struct err *err);
int state_close(struct instance *i, const struct unpack *own, int rc,
                struct err *err);

#endif
