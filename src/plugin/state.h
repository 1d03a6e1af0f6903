/* SPDX-License-Identifier: MIT */
/* state.h - what a plugin object knows, as bytes: which object it is (title,
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

/* What save() is lent: appends to out, whose failure sticks. */
struct tp_sink state_sink(struct buf *out);

/* What load() is lent: takes from `from`, whose failure sticks. */
struct tp_source state_source(struct unpack *from);

/* All of it for a tuner or a filter.  -1: err tells why; `out` may have grown,
 * and is full for good when that was why. */
int state_save(struct instance *i,
               int (*save)(void *self, const struct tp_sink *sink),
               struct buf *out, struct err *err);
int state_load(struct instance *i,
               int (*load)(void *self, const struct tp_source *source),
               struct unpack *from, struct err *err);

/* And for others, around save(): begin, which gives what end needs, call, end,
 * whose rc is save()'s.  -1 when that failed or out is full. */
size_t state_begin(const struct instance *i, struct buf *out);
int state_end(struct instance *i, size_t begun, int rc, struct buf *out,
              struct err *err);

/* Around load(): open, which gives what is i's alone, or -1 when the next in
 * `from` is not; call; close, whose rc is load()'s: -1 when that failed or
 * left something. */
int state_open(const struct instance *i, struct unpack *from,
               struct unpack *own, struct err *err);
int state_close(struct instance *i, const struct unpack *own, int rc,
                struct err *err);

#endif
