/* SPDX-License-Identifier: MIT */
#include "manager/live.h"

#include "core/number.h"
#include "manager/experiment_end.h"

#include <string.h>

void
live_fini(struct live *l)
{
    map_fini(&l->by_number);
    map_fini(&l->parameter_ids);
}

static void
remember(struct live *l, struct map *in, const void *key, size_t len, void *of)
{
    if (map_put(in, key, len, of) != 0)
        experiment_ends(l->end, MANAGER_UNABLE, "out of memory");
}

void
live_note(struct live *l, uint64_t number, const char *parameter_id)
{
    if (number >= l->n_numbers)
        l->n_numbers = number + 1;
    remember(l, &l->parameter_ids, parameter_id, strlen(parameter_id),
             (void *)(uintptr_t)(number + 1));
}

void
live_add(struct live *l, struct trial *t)
{
    t->next = NULL;
    t->previous = l->last;
    if (l->last != NULL)
        l->last->next = t;
    else
        l->first = t;
    l->last = t;
    remember(l, &l->by_number, &t->number, sizeof t->number, t);
    live_note(l, t->number, t->parameter_id);
}

static void
unlink_one(struct live *l, struct trial *t)
{
    *(t->previous != NULL ? &t->previous->next : &l->first) = t->next;
    *(t->next != NULL ? &t->next->previous : &l->last) = t->previous;
    t->next = t->previous = NULL;
}

/* Slots that a trial in this state holds. */
static void
count_slot(struct live *l, enum trial_state state, int n)
{
    if (state == TRIAL_PREPARING)
        l->preparing += (uint64_t)n;
    else if (state == TRIAL_RUNNING || state == TRIAL_RUN_ENDED)
        l->running += (uint64_t)n;
}

void
live_replace(struct live *l, struct trial *old, struct trial *t)
{
    t->next = old->next;
    t->previous = old;
    *(old->next != NULL ? &old->next->previous : &l->last) = t;
    old->next = t;
    unlink_one(l, old);
    count_slot(l, old->state, -1);
    remember(l, &l->by_number, &t->number, sizeof t->number, t);
}

void
live_remove(struct live *l, struct trial *t)
{
    unlink_one(l, t);
    if (live_by_number(l, t->number) == t)
        map_remove(&l->by_number, &t->number, sizeof t->number);
}

struct trial *
live_by_number(const struct live *l, uint64_t number)
{
    return map_get(&l->by_number, &number, sizeof number);
}

struct trial *
live_by_id(const struct live *l, const char *id)
{
    struct trial *t = NULL;
    uint64_t number;

    if (number_parse_u64(id, strlen(id), &number))
        t = live_by_number(l, number);
    return t != NULL && strcmp(t->id, id) == 0 ? t : NULL;
}

bool
live_knows_id(const struct live *l, const char *parameter_id, uint64_t *number)
{
    const void *value =
        map_get(&l->parameter_ids, parameter_id, strlen(parameter_id));

    if (value != NULL && number != NULL)
        *number = (uintptr_t)value - 1;
    return value != NULL;
}

/* ---- states, and the slots that are held in them ---- */

void
live_enter(struct live *l, struct trial *t, enum trial_state state)
{
    count_slot(l, t->state, -1);
    count_slot(l, state, 1);
    trial_enter(t, state);
}

void
live_step(struct live *l, struct trial *t, enum trial_event event)
{
    struct trial_step step = trial_step(t, event);
    int state = 0;

    while (state < TRIAL_STATES && step.to != 1u << state)
        state++;
    live_enter(l, t, (enum trial_state)state);
}
