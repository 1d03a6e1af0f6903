/* SPDX-License-Identifier: MIT */
#include "manager/live.h"

#include "core/number.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <string.h>

static int
remember(struct manager *m, struct trial *t)
{
    return map_put(&m->by_number, &t->number, sizeof t->number, t);
}

int
live_add(struct manager *m, struct trial *t)
{
    t->next = NULL;
    t->previous = m->live_last;
    if (m->live_last != NULL)
        m->live_last->next = t;
    else
        m->live = t;
    m->live_last = t;
    return remember(m, t);
}

static void
unlink_one(struct manager *m, struct trial *t)
{
    *(t->previous != NULL ? &t->previous->next : &m->live) = t->next;
    *(t->next != NULL ? &t->next->previous : &m->live_last) = t->previous;
    t->next = t->previous = NULL;
}

int
live_replace(struct manager *m, struct trial *old, struct trial *t)
{
    t->next = old->next;
    t->previous = old;
    *(old->next != NULL ? &old->next->previous : &m->live_last) = t;
    old->next = t;
    unlink_one(m, old);
    return remember(m, t);
}

void
live_remove(struct manager *m, struct trial *t)
{
    unlink_one(m, t);
    if (live_by_number(m, t->number) == t)
        map_remove(&m->by_number, &t->number, sizeof t->number);
}

struct trial *
live_by_number(const struct manager *m, uint64_t number)
{
    return map_get(&m->by_number, &number, sizeof number);
}

struct trial *
live_by_id(const struct manager *m, const char *id)
{
    struct trial *t = NULL;
    uint64_t number;

    if (number_parse_u64(id, strlen(id), &number))
        t = live_by_number(m, number);
    return t != NULL && strcmp(t->id, id) == 0 ? t : NULL;
}
