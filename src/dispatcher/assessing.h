/* SPDX-License-Identifier: MIT */
/* assessing.h - the assessor worker's side: the histories of living trials
 * and the assessor that judges them.  One owner thread: the assessor worker,
 * or replay. */
#ifndef DISPATCHER_ASSESSING_H
#define DISPATCHER_ASSESSING_H

#include "dispatcher/emission.h"
#include "dispatcher/policy.h"

struct assessor;
struct buf;
struct err;
struct explainer;
struct log;
struct unpack;

struct assessing;

/* Borrows all until assessing_free(); `assessor` may be NULL: nothing is
 * judged then. */
struct assessing *assessing_new(struct assessor *assessor,
                                const struct policy *policy,
                                struct emitter emitter, const struct log *log,
                                struct err *err);
void assessing_free(struct assessing *a);

/* As tuning_listen(). */
void assessing_listen(struct assessing *a, const struct explainer *explainer);

/* Handles one command of the assessor queue; as tuning_handle(). */
int assessing_handle(struct assessing *a, const struct command *cmd,
                     struct err *err);

/* As tuning_save() and tuning_load(). */
int assessing_save(const struct assessing *a, struct buf *out, struct err *err);
int assessing_load(struct assessing *a, struct unpack *in, struct err *err);

#endif
