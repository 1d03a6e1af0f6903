/* SPDX-License-Identifier: MIT */
#include "plugin/host.h"

#include "core/err.h"
#include "core/log.h"
#include "numerics/random.h"
#include "plugin/demands.h"
#include "space/space.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TITLE_MAX 128
#define TEXT_MAX 512 /* of error: 500 bytes are promised */

struct host {
    struct tp_host services;
    char title[TITLE_MAX];
    uint64_t seed;
    struct random_stream stream; /* of the purpose; any */
    const struct log *log;
    const struct space *space;
    const struct host_listener *listener; /* NULL: nobody */
    struct demands demands;
    pthread_mutex_t lock;
    /* guarded by lock */
    char error[TEXT_MAX];
};

static void
service_error(void *ctx, const char *fmt, ...)
{
    struct host *h = ctx;
    va_list ap;

    va_start(ap, fmt);
    pthread_mutex_lock(&h->lock);
    vsnprintf(h->error, sizeof h->error, fmt, ap);
    pthread_mutex_unlock(&h->lock);
    va_end(ap);
}

static void
service_log(void *ctx, int level, const char *fmt, ...)
{
    const struct host *h = ctx;
    enum log_level at = LOG_DEBUG;
    char text[TEXT_MAX];
    va_list ap;

    if (h->log == NULL)
        return;
    if (level <= TP_LOG_ERROR)
        at = LOG_ERROR;
    else if (level == TP_LOG_WARNING)
        at = LOG_WARNING;
    else if (level == TP_LOG_INFO)
        at = LOG_INFO;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log_line(h->log, at, "%s: %s", h->title, text);
}

static double
service_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    const struct host *h = ctx;
    struct random_stream s = random_sibling(&h->stream, a, b);

    return random_uniform(&s, draw);
}

static uint64_t
service_bits(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    const struct host *h = ctx;
    struct random_stream s = random_sibling(&h->stream, a, b);

    return random_bits(&s, draw);
}

static void
service_sample(void *ctx, uint64_t draw_id, double *x)
{
    const struct host *h = ctx;

    if (h->space != NULL)
        space_sample(h->space, h->seed, draw_id, x);
}

static double
service_value(void *ctx, size_t dim, double x)
{
    const struct host *h = ctx;

    return h->space == NULL ? NAN : space_value(h->space, dim, x);
}

static int
service_key(void *ctx, const double *x, uint64_t *key)
{
    const struct host *h = ctx;

    if (h->space == NULL || space_check(h->space, x, NULL) != 0)
        return TP_ERR;
    space_key(h->space, x, key);
    return TP_OK;
}

static int
service_element(void *ctx, size_t dim, uint64_t index, struct tp_element *out)
{
    const struct host *h = ctx;

    return h->space != NULL && space_element(h->space, dim, index, out)
               ? TP_OK
               : TP_ERR;
}

static int
service_explain(void *ctx, const char *fmt, ...)
{
    const struct host *h = ctx;
    char text[TEXT_MAX];
    va_list ap;

    if (h->listener == NULL)
        return 0;
    if (fmt == NULL)
        return 1;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    h->listener->said(h->listener->ctx, h->title, text);
    return 1;
}

static void
service_extra(void *ctx, const char *key, const char *text)
{
    struct host *h = ctx;

    demands_extra(&h->demands, key, text);
}

static void
service_decide(void *ctx, uint64_t id, int decision)
{
    struct host *h = ctx;

    demands_decide(&h->demands, id, decision);
}

struct host *
host_new(const char *title, uint64_t seed, uint32_t purpose,
         const struct log *log, struct err *err)
{
    struct host *h = calloc(1, sizeof *h);

    if (h == NULL) {
        err_set(err, ERR_MEMORY, "%s: out of memory", title);
        return NULL;
    }
    h->services = (struct tp_host){
        ._struct_size = sizeof h->services,
        .ctx = h,
        .error = service_error,
        .log = service_log,
        .uniform = service_uniform,
        .bits = service_bits,
        .sample = service_sample,
        .value = service_value,
        .key = service_key,
        .explain = service_explain,
        .element = service_element,
        .extra = service_extra,
        .decide = service_decide,
    };
    snprintf(h->title, sizeof h->title, "%s", title);
    h->seed = seed;
    h->stream = random_stream(seed, purpose, 0, 0);
    h->log = log;
    pthread_mutex_init(&h->lock, NULL);
    return h;
}

void
host_free(struct host *h)
{
    if (h == NULL)
        return;
    pthread_mutex_destroy(&h->lock);
    demands_fini(&h->demands);
    free(h);
}

const struct tp_host *
host_services(const struct host *h)
{
    return &h->services;
}

void
host_set_space(struct host *h, const struct space *space)
{
    h->space = space;
}

void
host_listen(struct host *h, const struct host_listener *listener)
{
    h->listener = listener;
}

struct demands *
host_demands(struct host *h)
{
    return &h->demands;
}

void
host_clear_error(struct host *h)
{
    pthread_mutex_lock(&h->lock);
    h->error[0] = '\0';
    pthread_mutex_unlock(&h->lock);
}

bool
host_has_error(struct host *h)
{
    bool has;

    pthread_mutex_lock(&h->lock);
    has = h->error[0] != '\0';
    pthread_mutex_unlock(&h->lock);
    return has;
}

int
host_tell_error(struct host *h, const char *callback, struct err *err)
{
    pthread_mutex_lock(&h->lock);
    err_set(err, ERR_PLUGIN, "%s: %s: %s", h->title, callback,
            h->error[0] != '\0' ? h->error : "failed and did not say why");
    pthread_mutex_unlock(&h->lock);
    return -1;
}
