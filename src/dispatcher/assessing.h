/* SPDX-License-Identifier: MIT */
/* assessing.h - the assessor's side: the values that living trials reported,
 * and the assessor that judges them. */
#ifndef DISPATCHER_ASSESSING_H
#define DISPATCHER_ASSESSING_H

#include "dispatcher/emission.h"
#include "dispatcher/policy.h"

struct assessor;
struct err;
struct log;
struct side;

/* Borrows all until side_free(); `assessor` may be NULL: nothing is judged
 * then.  NULL: out of memory. */
struct side *assessing_new(struct assessor *assessor,
                           const struct policy *policy, struct emitter emitter,
                           const struct log *log, struct err *err);

#endif
