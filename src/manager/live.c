/* SPDX-License-Identifier: MIT */
#include "manager/live.h"

#include "core/grow.h"
#include "core/number.h"
#include "manager/experiment_end.h"

#include <stdlib.h>
#include <string.h>

void
live_fini(struct live *l)
{
    map_fini(&l->by_number);
    map_fini(&l->labels);
    free(l->ids);
}

static void
remember(struct live *l, struct map *in, const void *key, size_t len, void *of)
{
    if (map_put(in, key, len, of) != 0)
        experiment_ends(l->end, MANAGER_UNABLE, "out of memory");
}

/* How many of them begin at this id or below. */
static size_t
ids_to(const struct live *l, uint64_t id)
{
    size_t low = 0, high = l->n_ids;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (l->ids[mid].id <= id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Makes one of those at `at` and before, where they follow each other. */
static void
join(struct live *l, size_t at)
{
    struct live_ids *a = &l->ids[at - 1], *b = &l->ids[at];

    if (at == l->n_ids || a->id + a->n != b->id ||
        a->number + a->n != b->number)
        return;
    a->n += b->n;
    memmove(b, b + 1, (--l->n_ids - at) * sizeof *b);
}

static void
note_id(struct live *l, uint64_t id, uint64_t number)
{
    size_t at = ids_to(l, id);
    struct live_ids *before = at > 0 ? &l->ids[at - 1] : NULL;
    uint64_t n = before != NULL ? id - before->id : 0;

    if (before != NULL && n < before->n)
        return; /* another trial with the same parameters */
    if (before != NULL && n == before->n && number == before->number + n) {
        before->n++;
        join(l, at);
        return;
    }
    if (GROW(l->ids, l->n_ids, l->ids_cap) != 0) {
        experiment_ends(l->end, MANAGER_UNABLE, "out of memory");
        return;
    }
    memmove(&l->ids[at + 1], &l->ids[at], (l->n_ids++ - at) * sizeof *l->ids);
    l->ids[at] = (struct live_ids){.id = id, .number = number, .n = 1};
    join(l, at + 1);
}

void
live_note(struct live *l, uint64_t number, const char *parameter_id)
{
    uint64_t id;

    if (number >= l->n_numbers)
        l->n_numbers = number + 1;
    if (number_parse_u64(parameter_id, strlen(parameter_id), &id))
        note_id(l, id, number);
    else
        remember(l, &l->labels, parameter_id, strlen(parameter_id),
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
    const struct live_ids *of;
    uint64_t id, found;
    size_t at;

    if (number_parse_u64(parameter_id, strlen(parameter_id), &id)) {
        at = ids_to(l, id);
        of = at > 0 ? &l->ids[at - 1] : NULL;
        if (of == NULL || id - of->id >= of->n)
            return false;
        found = of->number + (id - of->id);
    } else {
        found =
            (uintptr_t)map_get(&l->labels, parameter_id, strlen(parameter_id));
        if (found-- == 0)
            return false;
    }
    if (number != NULL)
        *number = found;
    return true;
}

uint64_t
live_last_id(const struct live *l)
{
    const struct live_ids *last = l->n_ids > 0 ? &l->ids[l->n_ids - 1] : NULL;

    return last != NULL ? last->id + last->n - 1 : 0;
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
