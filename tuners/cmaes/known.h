/* SPDX-License-Identifier: MIT */
/* known.h - what became of the parameters that were given out or told of, so
 * that what is known is not tried again.  One thread. */
#ifndef TUNERS_CMAES_KNOWN_H
#define TUNERS_CMAES_KNOWN_H

#include <stddef.h>
#include <stdint.h>

/* class: -1 while no result is there; else enum cmaes_class. */
struct cmaes_fact {
    uint64_t key[2];
    double value;
    int64_t class;
};

/* A zeroed one is empty. */
struct cmaes_known {
    struct cmaes_fact *facts; /* in the order of their arrival */
    uint32_t *slots;          /* number of a fact + 1; 0: free */
    size_t n, n_slots;
};

void cmaes_known_fini(struct cmaes_known *k);

/* NULL: not there.  Valid until the next put. */
struct cmaes_fact *cmaes_known_find(const struct cmaes_known *k,
                                    const uint64_t *key);

/* Adds it or overwrites it; -1: out of memory. */
int cmaes_known_put(struct cmaes_known *k, const struct cmaes_fact *fact);

#endif
