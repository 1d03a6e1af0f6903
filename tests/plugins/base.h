/* SPDX-License-Identifier: MIT */
/* base.h - a tuner and an assessor that do as little as possible, to which
 * each test plugin adds its one fault. */
#ifndef TESTS_PLUGINS_BASE_H
#define TESTS_PLUGINS_BASE_H

#include "tunepipe/assessor.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct base {
    const struct tp_host *host;
    int64_t number;        /* first argument, by base_config */
    const char *text;      /* second argument */
    uint64_t asked, ended; /* for those that count */
};

static inline void *
base_create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct base));
}

static inline int
base_config(void *vself, const struct tp_value *values, size_t n)
{
    struct base *self = vself;

    if (n > 0)
        self->number = values[0].integer;
    if (n > 1)
        self->text = values[1].text;
    return TP_OK;
}

static inline int
base_ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    tp_sample(self->host, id, out->x);
    return TP_OK;
}

/* For those whose counts are all they know. */
static inline int
base_save(void *vself, const struct tp_sink *sink)
{
    struct base *self = vself;

    tp_put_u64(sink, self->asked);
    tp_put_u64(sink, self->ended);
    return TP_OK;
}

static inline int
base_load(void *vself, const struct tp_source *source)
{
    struct base *self = vself;

    if (tp_get_u64(source, &self->asked) == TP_OK &&
        tp_get_u64(source, &self->ended) == TP_OK)
        return TP_OK;
    return tp_error(self->host, "its state is cut off");
}

static inline int
base_assessor_save(void *self, const struct tp_history *const *living, size_t n,
                   const struct tp_sink *sink)
{
    (void)living;
    (void)n;
    return base_save(self, sink);
}

static inline int
base_assessor_load(void *self, const struct tp_history *const *living, size_t n,
                   const struct tp_source *source)
{
    (void)living;
    (void)n;
    return base_load(self, source);
}

/* The members all test tuners have; more may follow. */
#define BASE_TUNER(title, text)                              \
    TP_TUNER_HEAD, .name = title, .doc = text, .version = 1, \
                   .create = base_create, .destroy = free,   \
                   .tell = tp_tell_nothing
#define BASE_ASSESSOR(title, text)                              \
    TP_ASSESSOR_HEAD, .name = title, .doc = text, .version = 1, \
                      .create = base_create, .destroy = free

#endif
