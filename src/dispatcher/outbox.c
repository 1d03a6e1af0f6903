/* SPDX-License-Identifier: MIT */
#include "dispatcher/outbox.h"

#include "core/err.h"
#include "core/wake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct outbox {
    const struct wake *wake;
    atomic_size_t bytes;
    atomic_bool failed;
    pthread_mutex_t lock;
    /* guarded by lock: */
    struct emission *first, *last;
};

struct outbox *
outbox_new(const struct wake *wake, struct err *err)
{
    struct outbox *o = calloc(1, sizeof *o);

    if (o == NULL) {
        err_set(err, ERR_MEMORY, "outbox: out of memory");
        return NULL;
    }
    o->wake = wake;
    pthread_mutex_init(&o->lock, NULL);
    return o;
}

void
outbox_free(struct outbox *o)
{
    struct emission *next;

    if (o == NULL)
        return;
    for (struct emission *f = o->first; f != NULL; f = next) {
        next = f->next;
        emission_free(f);
    }
    pthread_mutex_destroy(&o->lock);
    free(o);
}

void
outbox_add(struct outbox *o, const struct emission *e)
{
    struct emission *f = emission_copy(e);
    bool was_empty;

    if (f == NULL) {
        atomic_store(&o->failed, true);
        wake_signal(o->wake);
        return;
    }
    atomic_fetch_add(&o->bytes, sizeof *f + e->len);
    pthread_mutex_lock(&o->lock);
    was_empty = o->first == NULL;
    if (was_empty)
        o->first = f;
    else
        o->last->next = f;
    o->last = f;
    pthread_mutex_unlock(&o->lock);
    if (was_empty)
        wake_signal(o->wake);
}

static void
add(void *ctx, const struct emission *e)
{
    outbox_add(ctx, e);
}

struct emitter
outbox_emitter(struct outbox *o)
{
    return (struct emitter){add, o};
}

struct emission *
outbox_take_all(struct outbox *o)
{
    struct emission *first;

    pthread_mutex_lock(&o->lock);
    first = o->first;
    o->first = o->last = NULL;
    pthread_mutex_unlock(&o->lock);
    for (const struct emission *f = first; f != NULL; f = f->next)
        atomic_fetch_sub(&o->bytes, sizeof *f + f->len);
    return first;
}

size_t
outbox_bytes(const struct outbox *o)
{
    return atomic_load(&o->bytes);
}

bool
outbox_failed(const struct outbox *o)
{
    return atomic_load(&o->failed);
}
