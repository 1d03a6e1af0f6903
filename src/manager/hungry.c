/* SPDX-License-Identifier: MIT */
#include "manager/hungry.h"

#include "manager/reading.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <stddef.h>

void
hungry_add(struct manager *m, struct trial *t)
{
    if (t->hungry)
        return;
    t->hungry = true;
    t->hungry_previous = m->hungry_last;
    t->hungry_next = NULL;
    *(m->hungry_last != NULL ? &m->hungry_last->hungry_next : &m->hungry) = t;
    m->hungry_last = t;
}

/* Not the one that is being concluded at this moment. */
void
hungry_add_ended(struct manager *m)
{
    for (struct trial *t = m->live; t != NULL; t = t->next)
        if (t->exited &&
            (t->state == TRIAL_RUNNING || t->state == TRIAL_PREPARING))
            hungry_add(m, t);
}

void
hungry_drop(struct manager *m, struct trial *t)
{
    struct trial *before = t->hungry_previous, *behind = t->hungry_next;

    if (!t->hungry)
        return;
    *(before != NULL ? &before->hungry_next : &m->hungry) = behind;
    *(behind != NULL ? &behind->hungry_previous : &m->hungry_last) = before;
    t->hungry = false;
}

/* Once each: those that stay hungry come behind the last one of now, which may
 * be freed on the way. */
void
hungry_feed(struct manager *m)
{
    struct trial *t;
    size_t n = 0;

    for (t = m->hungry; t != NULL; t = t->hungry_next)
        n++;
    for (; n > 0 && (t = m->hungry) != NULL; n--) {
        hungry_drop(m, t);
        if (t->exited)
            running_finish(m, t);
        else if (t->state == TRIAL_RUNNING)
            reading_feed(m, t);
    }
}
