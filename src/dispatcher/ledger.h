/* SPDX-License-Identifier: MIT */
/* ledger.h - what results are on record, for the day on which a manager is
 * started again and brings all of them once more: which trial each job ran,
 * and what was imported, as often as it was.  Numbers are compared, not how
 * they were spelt.
 *
 * The default worker's alone.  At most LEDGER_MAX of each kind are kept; what
 * is not is not recognized. */
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

/* A zeroed one is empty. */
struct ledger {
    struct map jobs;    /* trial_job_id -> id of its suggestion, + 1 */
    struct map imports; /* ledger_write_key() -> how often */
};

void ledger_fini(struct ledger *l);

/* That job ran the suggestion `id`; the first word on a job counts.  -1: out
 * of memory. */
int ledger_ran(struct ledger *l, const char *job, uint64_t id);
/* False: nothing is known of it. */
bool ledger_find(const struct ledger *l, const char *job, uint64_t *id);

/* The same bytes for parameters that are equal: see jval_equal(). */
void ledger_write_parameters(struct jval parameters, struct buf *out);
/* Of an element of FD: its parameters and its value; 128 bits stand for a key
 * that would be long. */
void ledger_write_key(struct jval entry, struct buf *out);

/* One more of that key.  -1: out of memory. */
int ledger_import(struct ledger *l, const struct buf *key);
/* How many there are. */
uint64_t ledger_imports(const struct ledger *l, const struct buf *key);

/* As pack.h: into an empty one, -1: damaged, or out of memory. */
void ledger_save(const struct ledger *l, struct buf *out);
int ledger_load(struct ledger *l, struct unpack *in);

#endif
