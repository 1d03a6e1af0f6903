/* SPDX-License-Identifier: MIT */
/* live.h - the trials that have not ended: a list in the order in which they
 * came, and each by its number; which numbers and parameter_ids there were,
 * which does not grow with trials of a tuner; and the slots that they hold.  No
 * function here walks the list.  Where memory is wanting the experiment ends,
 * and the trial is in the list all the same.  Inside src/manager only; one
 * thread. */
#ifndef MANAGER_LIVE_H
#define MANAGER_LIVE_H

#include "core/map.h"
#include "manager/trial_step.h"

#include <stdbool.h>
#include <stdint.h>

struct experiment_end;

/* So many trials whose numbers, and whose parameter_ids, follow each other. */
struct live_ids {
    uint64_t id, number, n; /* those of the first */
};

struct live {
    struct experiment_end *end;
    struct trial *first, *last;
    struct map by_number;
    uint64_t running, preparing; /* so many slots are held */
    uint64_t n_numbers;          /* given so far, from 0 on */
    /* The parameter_ids of all trials so far: numbers, in their order, and
     * others, JSON text -> the trial's number, and one. */
    struct live_ids *ids;
    size_t n_ids, ids_cap;
    struct map labels;
};

void live_fini(struct live *l); /* the trials are the caller's */

/* Behind all others, and noted; takes t. */
void live_add(struct live *l, struct trial *t);
/* In the place of `old`, whose number it has; `old` is the caller's. */
void live_replace(struct live *l, struct trial *old, struct trial *t);
/* t is the caller's. */
void live_remove(struct live *l, struct trial *t);

/* NULL: it has ended, or never was. */
struct trial *live_by_number(const struct live *l, uint64_t number);
struct trial *live_by_id(const struct live *l, const char *id);

/* There was a trial with this number and these parameters, live or not. */
void live_note(struct live *l, uint64_t number, const char *parameter_id);
/* *number is the trial's, unless NULL. */
bool live_knows_id(const struct live *l, const char *parameter_id,
                   uint64_t *number);
/* The highest parameter_id that is a number; 0: there is none. */
uint64_t live_last_id(const struct live *l);

/* The trial enters the state that the event leads to, or that it was judged to
 * come to; the slots are counted with it. */
void live_step(struct live *l, struct trial *t, enum trial_event event);
void live_enter(struct live *l, struct trial *t, enum trial_state state);

#endif
