/* SPDX-License-Identifier: MIT */
/* ledger.h - which results are on record, so that those a restarted manager of
 * NNI's sends once more are recognized: which suggestion each job ran, and what
 * was imported, how often.  Numbers are compared by value, however they were
 * spelt.  The default worker's alone.
 *
 * At most LEDGER_MAX of each kind are kept; a result beyond that is taken for a
 * new one. */
#ifndef DISPATCHER_LEDGER_H
#define DISPATCHER_LEDGER_H

#include "core/map.h"
#include "json.h"

#include <stdbool.h>
#include <stdint.h>

#define LEDGER_MAX ((size_t)1 << 20)
#define LEDGER_KEY_MAX 256 /* bytes */

struct buf;
struct unpack;

/* A zeroed struct ledger is an empty one. */
struct ledger {
    struct map jobs;    /* trial_job_id -> id of its suggestion, + 1 */
    struct map imports; /* ledger_write_key() -> number of imports */
};

void ledger_fini(struct ledger *l);

/* Notes that the job ran the suggestion `id`; a job's first one stays.  -1: out
 * of memory. */
int ledger_ran(struct ledger *l, const char *job, uint64_t id);
/* Which suggestion the job ran; false: not known. */
bool ledger_find(const struct ledger *l, const char *job, uint64_t *id);

/* Appends the same bytes for any parameters that are equal, as jval_equal() has
 * it. */
void ledger_write_parameters(struct jval parameters, struct buf *out);
/* Appends the key of an imported result (an element of FD): its parameters and
 * its value, or 128 bits of a hash where that would be long. */
void ledger_write_key(struct jval entry, struct buf *out);

/* Counts one more import of that key.  -1: out of memory. */
int ledger_import(struct ledger *l, const struct buf *key);
/* How often a result of that key was imported. */
uint64_t ledger_imports(const struct ledger *l, const struct buf *key);

/* Packs it, and reads it into an empty one, as pack.h says; -1: damaged, or out
 * of memory. */
void ledger_save(const struct ledger *l, struct buf *out);
int ledger_load(struct ledger *l, struct unpack *in);

#endif
