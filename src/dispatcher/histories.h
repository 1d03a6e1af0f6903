/* SPDX-License-Identifier: MIT */
/* histories.h - the intermediate values of each living trial, without gaps:
 * what came too early waits until the gap before it is closed.  The assessor
 * worker's alone; a history is dropped at its trial's end. */
#ifndef DISPATCHER_HISTORIES_H
#define DISPATCHER_HISTORIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct early {
    uint64_t sequence;
    double value;
};

struct history {
    uint64_t trial; /* running number, in the order of first metrics */
    uint64_t attempt;
    double *values; /* of the sequences 0..n-1 */
    size_t n, cap;
    struct early *early; /* beyond the gap, by sequence */
    size_t n_early, early_cap;
    bool stopped; /* KI was sent, in whichever attempt */
    void *slot;   /* the assessor's own */
};

struct buf;
struct histories;
struct unpack;

struct histories *histories_new(void);
void histories_free(struct histories *h);

/* The trial's history, made when it is new; NULL: out of memory. */
struct history *histories_get(struct histories *h, const char *job);

/* The same, but never made. */
struct history *histories_find(const struct histories *h, const char *job);

/* Removes it; the caller frees it with history_free().  NULL: none. */
struct history *histories_remove(struct histories *h, const char *job);
void history_free(struct history *history);

/* Forgets the values of an older attempt. */
void history_restart(struct history *history, uint64_t attempt);

/* Enters a value that was not there before (the router sees to that).  1 when
 * the gap-free part grew, 0 when not, -1: out of memory. */
int history_enter(struct history *history, uint64_t sequence, double value);

/* All of them in the order of their running numbers, an array to be freed;
 * NULL: out of memory. */
struct history **histories_sorted(const struct histories *h, size_t *n);

/* As pack.h: all but the slots, which are the assessor's; into an empty one,
 * -1: damaged, or out of memory. */
void histories_save(const struct histories *h, struct buf *out);
int histories_load(struct histories *h, struct unpack *in);

#endif
