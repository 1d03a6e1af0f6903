/* SPDX-License-Identifier: MIT */
/* series.h - the intermediate values of each living trial, without gaps: a
 * value that came too early waits until those before it are there.  The
 * assessor's plugin sees a series as a tp_history.  The assessor worker's
 * alone; a series is dropped at its trial's end. */
#ifndef DISPATCHER_SERIES_H
#define DISPATCHER_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct early {
    uint64_t sequence;
    double value;
};

struct series {
    uint64_t trial; /* serial number, in the order of first metrics */
    uint64_t attempt;
    double *values; /* of the sequences 0..n-1 */
    size_t n, cap;
    struct early *early; /* values beyond a missing one, by sequence */
    size_t n_early, early_cap;
    bool stopped; /* our KI was sent; a restarted manager of NNI's is due
                     it again */
    void *slot;   /* what the assessor's plugin keeps for the trial */
};

struct buf;
struct series_map;
struct unpack;

struct series_map *series_map_new(void);
void series_map_free(struct series_map *m);

/* The trial's series, made when it is new; NULL: out of memory. */
struct series *series_get(struct series_map *m, const char *job);

/* The trial's series; NULL: it has not reported. */
struct series *series_find(const struct series_map *m, const char *job);

/* Removes the trial's series; the caller frees it.  NULL: it has not reported.
 */
struct series *series_remove(struct series_map *m, const char *job);
void series_free(struct series *series);

/* Forgets the values of an older attempt, and begins that one. */
void series_restart(struct series *series, uint64_t attempt);

/* Enters a value of a sequence that is new (the router sees to that).  1 when
 * the series without gaps grew, 0 when not, -1: out of memory. */
int series_enter(struct series *series, uint64_t sequence, double value);

/* All series in the order of their serial numbers, an array to be freed; NULL:
 * out of memory. */
struct series **series_sorted(const struct series_map *m, size_t *n);

/* Packs all but the slots, which are the assessor's, and reads them into an
 * empty map, as pack.h says; -1: damaged, or out of memory. */
void series_save(const struct series_map *m, struct buf *out);
int series_load(struct series_map *m, struct unpack *in);

#endif
