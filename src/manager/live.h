/* SPDX-License-Identifier: MIT */
/* live.h - the trials that have not ended: a list in the order in which they
 * came, and each by its number.  No function here walks the list.
 * Inside src/manager only; one thread. */
#ifndef MANAGER_LIVE_H
#define MANAGER_LIVE_H

#include <stdint.h>

struct manager;
struct trial;

/* Behind all others; takes t.  -1: out of memory, it is not known by its
 * number and is in the list all the same. */
int live_add(struct manager *m, struct trial *t);
/* In the place of `old`, whose number it has; `old` is the caller's. */
int live_replace(struct manager *m, struct trial *old, struct trial *t);
/* t is the caller's. */
void live_remove(struct manager *m, struct trial *t);

/* NULL: it has ended, or never was. */
struct trial *live_by_number(const struct manager *m, uint64_t number);
struct trial *live_by_id(const struct manager *m, const char *id);

#endif
