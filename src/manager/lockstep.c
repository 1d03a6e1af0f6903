/* SPDX-License-Identifier: MIT */
#include "manager/lockstep.h"

#include "core/err.h"
#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

struct lockstep_trial {
    uint64_t number;
    bool stands;
    int64_t idle_ns; /* since when; 0: it is not */
};

void
lockstep_fini(struct lockstep *l)
{
    free(l->trials);
    *l = (struct lockstep){0};
}

static struct lockstep_trial *
find(const struct lockstep *l, uint64_t number)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->trials[i].number == number)
            return &l->trials[i];
    return NULL;
}

static bool
all_stand(const struct lockstep *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (!l->trials[i].stands)
            return false;
    return true;
}

/* The first that has not had its turn; NULL: the round is over. */
static const struct lockstep_trial *
whose_turn(const struct lockstep *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->trials[i].number >= l->next)
            return &l->trials[i];
    return NULL;
}

bool
lockstep_knows(const struct lockstep *l, uint64_t number)
{
    return find(l, number) != NULL;
}

enum lockstep_move
lockstep_next(const struct lockstep *l, uint64_t *number)
{
    const struct lockstep_trial *t;

    if (l->expects)
        return LOCKSTEP_WAIT;
    switch (l->phase) {
    case LOCKSTEP_ASKS:
        return LOCKSTEP_ASK;
    case LOCKSTEP_ASKED:
        return LOCKSTEP_WAIT;
    case LOCKSTEP_STARTS:
        return LOCKSTEP_START;
    case LOCKSTEP_GATHERS:
        if (l->n == 0)
            return l->news ? LOCKSTEP_ASK : LOCKSTEP_WAIT;
        if (!all_stand(l))
            return LOCKSTEP_WAIT;
        *number = l->trials[0].number;
        return LOCKSTEP_DELIVER;
    case LOCKSTEP_DELIVERS:
        break;
    }
    t = whose_turn(l);
    if (t == NULL)
        return LOCKSTEP_ASK;
    if (!t->stands)
        return LOCKSTEP_WAIT; /* it was stopped, or started again */
    *number = t->number;
    return LOCKSTEP_DELIVER;
}

void
lockstep_asked(struct lockstep *l, uint64_t owed, uint64_t n)
{
    l->before = owed;
    l->asked = n;
    l->news = l->again = false;
    l->phase = n > 0 ? LOCKSTEP_ASKED : LOCKSTEP_STARTS;
}

static void
go_on(struct lockstep *l)
{
    l->news = true;
    if (l->phase == LOCKSTEP_ASKED && l->asked == 0)
        l->phase = l->again ? LOCKSTEP_ASKS : LOCKSTEP_STARTS;
}

void
lockstep_came(struct lockstep *l)
{
    if (l->before > 0)
        l->before--;
    else if (l->asked > 0)
        l->asked--;
    go_on(l);
}

void
lockstep_refused(struct lockstep *l, bool later, uint64_t units)
{
    if (!later && l->before > 0)
        l->before -= units < l->before ? units : l->before;
    else
        l->asked = 0; /* what is owed of it comes unasked */
    go_on(l);
}

int
lockstep_join(struct lockstep *l, uint64_t number, struct err *err)
{
    size_t at = l->n;

    if (find(l, number) != NULL)
        return 0;
    if (GROW(l->trials, l->n, l->cap) != 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    while (at > 0 && l->trials[at - 1].number > number)
        at--;
    memmove(&l->trials[at + 1], &l->trials[at],
            (l->n++ - at) * sizeof *l->trials);
    l->trials[at] = (struct lockstep_trial){.number = number};
    return 0;
}

void
lockstep_started(struct lockstep *l)
{
    if (l->n > 0)
        l->news = false;
    l->phase = LOCKSTEP_GATHERS;
}

void
lockstep_stand(struct lockstep *l, uint64_t number, bool idle, int64_t now_ns)
{
    struct lockstep_trial *t = find(l, number);

    if (t == NULL)
        return;
    t->stands = true;
    if (idle && t->idle_ns == 0)
        t->idle_ns = now_ns;
}

static void
count_waiting(struct lockstep *l, struct lockstep_trial *t, int64_t now_ns)
{
    if (t->idle_ns != 0)
        l->waited_ns += now_ns - t->idle_ns;
    t->idle_ns = 0;
}

void
lockstep_retract(struct lockstep *l, uint64_t number)
{
    struct lockstep_trial *t = find(l, number);

    if (t != NULL)
        t->stands = false;
}

static void
drop(struct lockstep *l, struct lockstep_trial *t)
{
    size_t at = (size_t)(t - l->trials);

    l->n--;
    memmove(t, t + 1, (l->n - at) * sizeof *t);
}

void
lockstep_leave(struct lockstep *l, uint64_t number)
{
    struct lockstep_trial *t = find(l, number);

    if (t == NULL)
        return;
    drop(l, t);
    l->news = true; /* should it have been the last */
}

void
lockstep_delivered(struct lockstep *l, uint64_t number, bool ends,
                   int64_t now_ns)
{
    struct lockstep_trial *t = find(l, number);

    if (l->phase != LOCKSTEP_DELIVERS)
        l->rounds++;
    l->phase = LOCKSTEP_DELIVERS;
    l->next = number + 1;
    l->expects = true;
    if (t == NULL)
        return;
    t->stands = false;
    count_waiting(l, t, now_ns);
    if (ends)
        drop(l, t);
}

void
lockstep_resume(struct lockstep *l, uint64_t last, bool open)
{
    l->phase = open ? LOCKSTEP_DELIVERS : LOCKSTEP_ASKED;
    l->next = last + 1;
    l->expects = true;
}

void
lockstep_resumed(struct lockstep *l, uint64_t owed, uint64_t served, uint64_t n)
{
    if (l->phase == LOCKSTEP_ASKS)
        l->phase = LOCKSTEP_ASKED;
    l->again = true;
    l->before = n > 0 ? owed + served : 0;
    l->asked = n > 0 ? n : served;
    go_on(l);
}

void
lockstep_stir(struct lockstep *l)
{
    l->news = true;
}

void
lockstep_answered(struct lockstep *l)
{
    l->expects = false;
}

void
lockstep_sent(struct lockstep_event *e, const struct buf *payload,
              uint64_t frame)
{
    buf_clear(&e->payload);
    e->payload.max = SIZE_MAX / 2;
    buf_add(&e->payload, payload->data, payload->len);
    e->frame = frame;
}
