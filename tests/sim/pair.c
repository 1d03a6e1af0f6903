/* SPDX-License-Identifier: MIT */
#include "sim/pair.h"

#include "core/buf.h"
#include "core/err.h"

#include <inttypes.h>
#include <string.h>

#define STATE_MAX ((size_t)64 << 20)

int
pair_init(struct pair *p, const struct plugin *plugin, const char *args,
          uint64_t seed, const struct space *space, struct err *err)
{
    *p = (struct pair){plugin, args, seed, space, NULL, NULL};
    p->first = object_new(plugin, args, seed, space, err);
    return p->first == NULL ? -1 : 0;
}

void
pair_fini(struct pair *p)
{
    object_free(p->first);
    object_free(p->second);
}

static int
load_second(struct pair *p, const struct buf *state, struct buf *again,
            struct err *err)
{
    object_free(p->second);
    p->second = object_new(p->plugin, p->args, p->seed, p->space, err);
    if (p->second == NULL || object_load(p->second, state, err) != 0 ||
        object_save(p->second, again, err) != 0)
        return -1;
    if (state->len != again->len ||
        memcmp(state->data, again->data, state->len) != 0)
        return err_set(err, ERR_PLUGIN,
                       "what was loaded does not save the same bytes");
    return 0;
}

int
pair_reload(struct pair *p, struct err *err)
{
    struct buf state, again;
    int rc;

    buf_init(&state, STATE_MAX);
    buf_init(&again, STATE_MAX);
    buf_reserve(&state, 1); /* memcmp of nothing */
    buf_reserve(&again, 1);
    rc = object_save(p->first, &state, err);
    if (rc == 0)
        rc = load_second(p, &state, &again, err);
    buf_fini(&state);
    buf_fini(&again);
    return rc;
}

static int
differ(const char *callback, uint64_t id, struct err *err)
{
    return err_set(err, ERR_PLUGIN,
                   "%s of %" PRIu64 " was answered otherwise after load",
                   callback, id);
}

/* Bit by bit; structs that were zeroed before they were filled. */
static int
same_decided(const struct pair *p, const char *callback, uint64_t id,
             struct err *err)
{
    const struct decided *a = object_decided(p->first);
    const struct decided *b = object_decided(p->second);

    if (a->n != b->n)
        return differ(callback, id, err);
    for (size_t i = 0; i < a->n; i++)
        if (a->at[i].id != b->at[i].id ||
            a->at[i].decision != b->at[i].decision)
            return differ(callback, id, err);
    return 0;
}

int
pair_space(struct pair *p, const struct space *space, struct err *err)
{
    p->space = space;
    if (object_space(p->first, space, err) != 0)
        return -1;
    return p->second == NULL ? 0 : object_space(p->second, space, err);
}

int
pair_ask(struct pair *p, uint64_t id, struct suggested *out, struct err *err)
{
    struct suggested other;

    if (object_ask(p->first, id, out, err) != 0)
        return -1;
    if (p->second == NULL)
        return 0;
    if (object_ask(p->second, id, &other, err) != 0)
        return -1;
    if (out->rc != other.rc || memcmp(out->x, other.x, sizeof out->x) != 0 ||
        strcmp(out->label, other.label) != 0 ||
        strcmp(out->extras, other.extras) != 0 || out->from != other.from ||
        out->from_how != other.from_how ||
        memcmp(&out->budget, &other.budget, sizeof out->budget) != 0)
        return differ("ask", id, err);
    return same_decided(p, "ask", id, err);
}

int
pair_metric(struct pair *p, uint64_t id, const double *x,
            const struct tp_metric *metric, int *decision, struct err *err)
{
    int other;

    if (object_metric(p->first, id, x, metric, decision, err) != 0)
        return -1;
    if (p->second == NULL)
        return 0;
    if (object_metric(p->second, id, x, metric, &other, err) != 0)
        return -1;
    if (*decision != other)
        return differ("metric", id, err);
    return same_decided(p, "metric", id, err);
}

int
pair_tell(struct pair *p, uint64_t id, const double *x,
          const struct tp_result *result, struct err *err)
{
    if (object_tell(p->first, id, x, result, err) != 0)
        return -1;
    if (p->second == NULL)
        return 0;
    if (object_tell(p->second, id, x, result, err) != 0)
        return -1;
    return same_decided(p, "tell", id, err);
}

int
pair_ended(struct pair *p, uint64_t id, const double *x, int how,
           struct err *err)
{
    if (object_ended(p->first, id, x, how, err) != 0)
        return -1;
    if (p->second == NULL)
        return 0;
    if (object_ended(p->second, id, x, how, err) != 0)
        return -1;
    return same_decided(p, "ended", id, err);
}

const struct decided *
pair_decided(const struct pair *p)
{
    return object_decided(p->first);
}
