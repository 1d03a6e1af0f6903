/* SPDX-License-Identifier: MIT */
/* assessor.h - an assessor as the dispatcher holds it: see tuner.h, of which
 * this is the counterpart, for threads and failures. */
#ifndef PLUGIN_ASSESSOR_H
#define PLUGIN_ASSESSOR_H

#include "json.h"
#include "tunepipe/assessor.h"

#include <stdbool.h>
#include <stdint.h>

struct assessor;
struct buf;
struct err;
struct host_listener;
struct log;
struct plugin;
struct plugin_paths;
struct unpack;

/* Loads and configures an assessor, as tuner_new() does a tuner. */
struct assessor *assessor_new(const struct plugin_paths *paths,
                              const char *name, struct jval args, uint64_t seed,
                              const struct log *log, struct err *err);
void assessor_free(struct assessor *a);

/* Has the listener told what the assessor says, as tuner_listen(). */
void assessor_listen(struct assessor *a, const struct host_listener *listener);

const struct plugin *assessor_plugin(const struct assessor *a);
/* The text of an argument, as arguments_text(). */
const char *assessor_argument(const struct assessor *a, const char *name);
void assessor_describe(const struct assessor *a, struct buf *out);

/* Asks for a verdict; history->_struct_size need not be set.  0: *out holds the
 * verdict, its decision an enum tp_decision; -1: err tells, and the decision is
 * to go on. out->rule, when set, is valid until assessor_free(). */
int assessor_assess(struct assessor *a, const struct tp_history *history,
                    struct tp_verdict *out, struct err *err);

/* Tells the assessor that a trial ended; `how` is an enum tp_trial_end.  The
 * trial's slot is not used after this. */
int assessor_ended(struct assessor *a, const struct tp_history *history,
                   int how, struct err *err);

/* As tuner_save() and tuner_load(), which is for right after assessor_new().
 * living[0..n-1] are the trials that have a gap-free value and have not ended,
 * in the order of their numbers, the same for both; loading sets their slots,
 * to NULL when it fails (what was in them is the assessor's). */
int assessor_save(struct assessor *a, const struct tp_history *const *living,
                  size_t n, struct buf *out, struct err *err);
int assessor_load(struct assessor *a, const struct tp_history *const *living,
                  size_t n, struct unpack *state, struct err *err);

/* While barred every call fails, and does not reach the plugin: for a command
 * that ended the process before. */
void assessor_bar(struct assessor *a, bool barred);

#endif
