/* SPDX-License-Identifier: MIT */
#include "check/layer.h"

#include "check/calls.h"
#include "check/inner.h"
#include "plugin/loader.h"

static bool
is_filter(const struct calls *c)
{
    return c->setup->plugin->kind == PLUGIN_FILTER;
}

void *
layer_create(struct calls *c, const struct tp_host *host)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.create(host);
    case PLUGIN_ASSESSOR:
        return p->assessor.create(host);
    case PLUGIN_FILTER:
        break;
    }
    c->inner = inner_new(c, c->setup->mood);
    if (c->inner != NULL)
        return p->filter.create(host);
    calls_fail(c, "out of memory");
    return NULL;
}

void
layer_destroy(struct calls *c)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        p->tuner.destroy(c->self);
        break;
    case PLUGIN_ASSESSOR:
        p->assessor.destroy(c->self);
        break;
    case PLUGIN_FILTER:
        p->filter.destroy(c->self);
        break;
    }
}

int
layer_config(struct calls *c, const struct tp_value *values, size_t n)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.config(c->self, values, n);
    case PLUGIN_ASSESSOR:
        return p->assessor.config(c->self, values, n);
    case PLUGIN_FILTER:
        break;
    }
    return p->filter.config(c->self, values, n);
}

int
layer_space(struct calls *c, const struct tp_space *space)
{
    const struct plugin *p = c->setup->plugin;
    int rc;

    if (!is_filter(c))
        return p->tuner.space(c->self, space);
    rc = p->filter.space(c->self, inner_next(c->inner), space);
    if (rc == TP_OK)
        inner_expect_space(c->inner);
    return rc;
}

int
layer_ask(struct calls *c, uint64_t id, struct tp_suggestion *out)
{
    const struct plugin *p = c->setup->plugin;

    if (!is_filter(c))
        return p->tuner.ask(c->self, id, out);
    inner_enter(c->inner, id);
    return p->filter.ask(c->self, inner_next(c->inner), id, out);
}

int
layer_tell(struct calls *c, uint64_t id, const double *x,
           const struct tp_result *result)
{
    const struct plugin *p = c->setup->plugin;
    int rc;

    if (!is_filter(c))
        return p->tuner.tell(c->self, id, x, result);
    rc = p->filter.tell(c->self, inner_next(c->inner), id, x, result);
    if (rc == TP_OK)
        inner_expect_told(c->inner, id);
    return rc;
}

int
layer_ended(struct calls *c, uint64_t id, const double *x, int how)
{
    const struct plugin *p = c->setup->plugin;
    int rc;

    if (!is_filter(c))
        return p->tuner.ended(c->self, id, x, how);
    rc = p->filter.ended(c->self, inner_next(c->inner), id, x, how);
    if (rc == TP_OK)
        inner_expect_ended(c->inner, id);
    return rc;
}

bool
layer_saves(const struct plugin *p)
{
    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.save != NULL;
    case PLUGIN_ASSESSOR:
        return p->assessor.save != NULL;
    case PLUGIN_FILTER:
        break;
    }
    return p->filter.save != NULL;
}

int
layer_save(struct calls *c, const struct tp_history *const *living, size_t n,
           const struct tp_sink *sink)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.save(c->self, sink);
    case PLUGIN_ASSESSOR:
        return p->assessor.save(c->self, living, n, sink);
    case PLUGIN_FILTER:
        break;
    }
    return p->filter.save(c->self, sink);
}

int
layer_load(struct calls *c, const struct tp_history *const *living, size_t n,
           const struct tp_source *source)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.load(c->self, source);
    case PLUGIN_ASSESSOR:
        return p->assessor.load(c->self, living, n, source);
    case PLUGIN_FILTER:
        break;
    }
    return p->filter.load(c->self, source);
}
