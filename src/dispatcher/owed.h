/* SPDX-License-Identifier: MIT */
/* owed.h - ids that were requested and could not be served yet, first in,
 * first out, as runs of consecutive ids.  The default worker's alone. */
#ifndef DISPATCHER_OWED_H
#define DISPATCHER_OWED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct unpack;

struct owed_run {
    uint64_t first, count;
};

struct owed {
    struct owed_run *runs;
    size_t n_runs, cap;
    uint64_t total; /* ids in all runs */
};

/* A zeroed struct owed is an empty one. */
void owed_fini(struct owed *o);
int owed_add(struct owed *o, uint64_t first, uint64_t count);
uint64_t owed_first(const struct owed *o); /* total > 0 */
void owed_pop(struct owed *o);             /* total > 0 */
bool owed_has(const struct owed *o, uint64_t id);
void owed_clear(struct owed *o);

/* Packs them, and reads them into an empty one, in ascending order, as pack.h
 * says; -1: damaged, or out of memory. */
void owed_save(const struct owed *o, struct buf *out);
int owed_load(struct owed *o, struct unpack *in);
/* One more than the highest id that is owed; 0: none is. */
uint64_t owed_end(const struct owed *o);

#endif
