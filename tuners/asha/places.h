/* SPDX-License-Identifier: MIT */
/* places.h - asha's pool of configurations, and which trial is out for which
 * of them.
 *
 * Ids rise, so that those that are out stand in their order; those that have
 * ended stay until they are half of all. */
#ifndef ASHA_PLACES_H
#define ASHA_PLACES_H

#include "asha/asha.h"

/* Empties both. */
void asha_places_fini(struct asha *a);

/* A place, all zero but for `entry`; RUNG_NONE when out of memory. */
uint32_t asha_places_add(struct asha *a);
void asha_places_drop(struct asha *a, uint32_t place);

/* Its point; nothing, where points are not kept. */
void asha_places_put(struct asha *a, uint32_t place, const double *x);
void asha_places_get(const struct asha *a, uint32_t place, double *x);

/* Trial `id`, as a rule higher than all before, is out for that place, as none
 * that was promoted.  Lent until the next one; NULL when out of memory. */
struct asha_out *asha_places_out(struct asha *a, uint64_t id, uint32_t place);

/* NULL: it is not out. */
struct asha_out *asha_places_find(const struct asha *a, uint64_t id);

/* It has ended. */
void asha_places_end(struct asha *a, struct asha_out *o);

#endif
