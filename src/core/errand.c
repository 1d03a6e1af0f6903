/* SPDX-License-Identifier: MIT */
#include "core/errand.h"

#include "core/err.h"
#include "core/wake.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum state { IDLE, ASKED, ANSWERED };

struct errand {
    errand_work *work;
    void *ctx;
    const struct wake *wake;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked; /* state is ASKED, or `stopping` */
    /* guarded by lock */
    enum state state;
    bool stopping;
};

static void *
serve(void *arg)
{
    struct errand *e = arg;

    pthread_mutex_lock(&e->lock);
    for (;;) {
        while (e->state != ASKED && !e->stopping)
            pthread_cond_wait(&e->asked, &e->lock);
        if (e->state != ASKED)
            break;
        pthread_mutex_unlock(&e->lock);
        e->work(e->ctx);
        pthread_mutex_lock(&e->lock);
        e->state = ANSWERED;
        wake_signal(e->wake);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static void
discard(struct errand *e)
{
    pthread_cond_destroy(&e->asked);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

struct errand *
errand_start(errand_work *work, void *ctx, const struct wake *wake,
             struct err *err)
{
    struct errand *e = calloc(1, sizeof *e);

    if (e == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    e->work = work;
    e->ctx = ctx;
    e->wake = wake;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->asked, NULL);
    errno = pthread_create(&e->thread, NULL, serve, e);
    if (errno == 0)
        return e;
    err_errno(err, ERR_SYSTEM, "cannot start a thread");
    discard(e);
    return NULL;
}

void
errand_stop(struct errand *e)
{
    if (e == NULL)
        return;
    pthread_mutex_lock(&e->lock);
    e->stopping = true;
    pthread_cond_signal(&e->asked);
    pthread_mutex_unlock(&e->lock);
    pthread_join(e->thread, NULL);
    discard(e);
}

void
errand_ask(struct errand *e)
{
    pthread_mutex_lock(&e->lock);
    e->state = ASKED;
    pthread_cond_signal(&e->asked);
    pthread_mutex_unlock(&e->lock);
}

bool
errand_take(struct errand *e)
{
    bool done;

    pthread_mutex_lock(&e->lock);
    done = e->state == ANSWERED;
    if (done)
        e->state = IDLE;
    pthread_mutex_unlock(&e->lock);
    return done;
}
