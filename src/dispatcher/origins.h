/* SPDX-License-Identifier: MIT */
/* origins.h - the suggestions of an advisor that it may still speak of: each
 * one that was given out, until its trial has ended and nobody goes on from
 * it.  The default worker's alone. */
#ifndef DISPATCHER_ORIGINS_H
#define DISPATCHER_ORIGINS_H

#include "core/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct unpack;

struct origin {
    uint64_t id;      /* the tuner's */
    char *job;        /* trial_job_id; NULL: nothing was heard of it yet */
    unsigned said;    /* ORIGIN_SAID() of each decision on it */
    unsigned waiting; /* those of them that wait for its job */
    bool ended;
    uint64_t attempt; /* of its intermediate results ... */
    uint64_t next;    /* ... whose steps below this one were shown */
    size_t n_dims;
    double x[]; /* the point that was given out */
};

#define ORIGIN_SAID(decision) (1u << (decision)) /* enum trial_decision */

struct origins {
    struct map by_id;
};

/* A zeroed struct origins is an empty one. */
void origins_fini(struct origins *o);

/* Copies x; NULL: out of memory, or there is one. */
struct origin *origins_add(struct origins *o, uint64_t id, const double *x,
                           size_t n_dims);
struct origin *origins_find(const struct origins *o, uint64_t id);
void origins_remove(struct origins *o, struct origin *origin);

/* -1: out of memory. */
int origin_set_job(struct origin *origin, const char *job);

/* All of them in the order of ids, an array to be freed; NULL: out of
 * memory. */
struct origin **origins_sorted(const struct origins *o, size_t *n);

/* As pack.h: into an empty one, -1: damaged, or out of memory.  Whether the
 * points fit the search space is the caller's to look at. */
void origins_save(const struct origins *o, struct buf *out);
int origins_load(struct origins *o, struct unpack *in);
/* One more than the highest id; 0: there is none. */
uint64_t origins_end(const struct origins *o);

#endif
