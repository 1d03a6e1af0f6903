/* SPDX-License-Identifier: MIT */
/* DESIGN.  Pool, trials that are out, and rungs, in this order: a rung's
 * entry is held against the configuration that it names.  Each configuration
 * is claimed once, by the trial that is out for it or by the entry with which
 * it waits; `next` is its mark meanwhile.  Heaps are not saved: they follow
 * from the entries. */
#include "asha/state.h"

#include "asha/asha.h"
#include "tunepipe/shell.h"

#include <math.h>

#define CLAIMED 0u

static void
save_pool(const struct asha *a, const struct tp_sink *sink)
{
    tp_put_u64(sink, a->n_pool);
    tp_put_u64(sink, a->free);
    for (size_t i = 0; i < a->n_pool; i++) {
        const struct asha_config *c = &a->pool[i];

        tp_put_u64(sink, c->is_used);
        if (!c->is_used) {
            tp_put_u64(sink, c->next);
            continue;
        }
        tp_put_u64(sink, c->first);
        tp_put_f64(sink, c->loss);
        tp_put_u64(sink, c->entry);
        tp_put_u64(sink, c->bracket);
        tp_put_u64(sink, c->rung);
        tp_put_u64(sink, c->is_stopped);
        if (a->x != NULL)
            tp_put_f64s(sink, a->x + i * a->n_dims, a->n_dims);
    }
}

static void
save_outs(const struct asha *a, const struct tp_sink *sink)
{
    tp_put_u64(sink, a->n_outs - a->n_ended);
    for (size_t i = 0; i < a->n_outs; i++) {
        const struct asha_out *o = &a->outs[i];

        if (o->config == RUNG_NONE)
            continue;
        tp_put_u64(sink, o->id);
        tp_put_u64(sink, o->from);
        tp_put_u64(sink, o->config);
    }
}

static void
save_rung(const struct rung *r, const struct tp_sink *sink)
{
    tp_put_u64(sink, r->n);
    for (size_t i = 0; i < r->n; i++) {
        const struct rung_entry *e = &r->entries[i];

        tp_put_f64(sink, e->loss);
        tp_put_u64(sink, e->id);
        tp_put_u64(sink, e->config);
        tp_put_u64(sink, e->state);
    }
}

void
asha_save(const struct asha *a, const struct tp_sink *sink)
{
    save_pool(a, sink);
    save_outs(a, sink);
    for (size_t s = 0; s < a->options.brackets; s++) {
        tp_put_u64(sink, a->brackets[s].begun);
        for (size_t k = 0; k < a->brackets[s].n_rungs; k++)
            save_rung(&a->brackets[s].rungs[k], sink);
    }
    tp_put_u64(sink, a->n_released);
    for (size_t i = 0; i < a->n_released; i++)
        tp_put_u64(sink, a->released[i]);
}

/* A number below `end`, or RUNG_NONE. */
static int
load_place(const struct tp_source *s, size_t end, uint32_t *out)
{
    uint64_t v;

    if (tp_get_u64(s, &v) != TP_OK || (v >= end && v != RUNG_NONE))
        return -1;
    *out = (uint32_t)v;
    return 0;
}

/* At most `most`. */
static int
load_small(const struct tp_source *s, uint64_t most, uint8_t *out)
{
    uint64_t v;

    if (tp_get_u64(s, &v) != TP_OK || v > most)
        return -1;
    *out = (uint8_t)v;
    return 0;
}

/* What was stopped, or is complete, has left its last rung. */
static int
load_config(struct asha *a, size_t i, const struct tp_source *s)
{
    struct asha_config *c = &a->pool[i];
    size_t most;

    if (tp_get_u64(s, &c->first) != TP_OK || tp_get_f64(s, &c->loss) != TP_OK ||
        isnan(c->loss) || load_place(s, RUNG_NONE, &c->entry) != 0 ||
        load_small(s, a->options.brackets - 1, &c->bracket) != 0)
        return -1;
    most = a->brackets[c->bracket].n_rungs - a->options.promotes;
    if (load_small(s, most, &c->rung) != 0 ||
        load_small(s, !a->options.promotes, &c->is_stopped) != 0 ||
        (a->x != NULL &&
         tp_get_f64s(s, a->x + i * a->n_dims, a->n_dims) != TP_OK))
        return -1;
    return 0;
}

static int
load_pool(struct asha *a, const struct tp_source *s)
{
    uint64_t n;
    uint8_t is_used;

    if (tp_get_u64(s, &n) != TP_OK || n > tp_left(s) / 16 ||
        load_place(s, (size_t)n, &a->free) != 0)
        return -1;
    while (a->n_pool < n) {
        uint32_t head = a->free, i;

        a->free = RUNG_NONE; /* so that each is a new place */
        i = asha_places_add(a);
        a->free = head;
        if (i == RUNG_NONE || load_small(s, 1, &is_used) != 0)
            return -1;
        a->pool[i].is_used = is_used;
        if (is_used ? load_config(a, i, s) != 0
                    : load_place(s, (size_t)n, &a->pool[i].next) != 0)
            return -1;
    }
    return 0;
}

/* The free places are one row, and all of them are in it. */
static bool
is_row(const struct asha *a)
{
    size_t n_free = 0, n = 0;

    for (size_t i = 0; i < a->n_pool; i++)
        n_free += !a->pool[i].is_used;
    for (uint32_t i = a->free; i != RUNG_NONE; i = a->pool[i].next)
        if (a->pool[i].is_used || ++n > n_free)
            return false;
    return n == n_free;
}

static int
claim(struct asha *a, uint32_t place)
{
    if (place >= a->n_pool || !a->pool[place].is_used ||
        a->pool[place].next == CLAIMED)
        return -1;
    a->pool[place].next = CLAIMED;
    return 0;
}

static int
load_outs(struct asha *a, const struct tp_source *s)
{
    uint64_t n, id, from, last = 0;
    uint32_t place;

    if (tp_get_u64(s, &n) != TP_OK)
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        struct asha_out *o;

        if (tp_get_u64(s, &id) != TP_OK || (i > 0 && id <= last) ||
            tp_get_u64(s, &from) != TP_OK ||
            load_place(s, a->n_pool, &place) != 0 || claim(a, place) != 0)
            return -1;
        o = asha_places_out(a, id, place);
        if (o == NULL)
            return -1;
        o->from = from;
        last = id;
    }
    return 0;
}

/* The configuration of a result that may be promoted. */
static int
claim_waiting(struct asha *a, size_t bracket, size_t k, uint32_t i)
{
    struct rung *r = &a->brackets[bracket].rungs[k];
    const struct asha_config *c;

    if (!a->options.promotes || claim(a, r->entries[i].config) != 0)
        return -1;
    c = &a->pool[r->entries[i].config];
    if (c->bracket != bracket || c->rung != k || c->entry != i ||
        k + 1 >= a->brackets[bracket].n_rungs)
        return -1;
    asha_rung_wait(r, i);
    return 0;
}

static int
load_rung(struct asha *a, size_t bracket, size_t k, const struct tp_source *s)
{
    struct rung *r = &a->brackets[bracket].rungs[k];
    uint64_t n, id, config;
    uint8_t state;
    double loss;

    if (tp_get_u64(s, &n) != TP_OK)
        return -1;
    while (n-- > 0) {
        uint32_t i;

        if (tp_get_f64(s, &loss) != TP_OK || isnan(loss) ||
            tp_get_u64(s, &id) != TP_OK || tp_get_u64(s, &config) != TP_OK ||
            config >= RUNG_NONE || load_small(s, RUNG_PROMOTED, &state) != 0)
            return -1;
        i = asha_rung_add(r, loss, id, (uint32_t)config);
        if (i == RUNG_NONE)
            return -1;
        r->entries[i].state = state;
        if (state == RUNG_WAITING && claim_waiting(a, bracket, k, i) != 0)
            return -1;
    }
    return 0;
}

static int
load_brackets(struct asha *a, const struct tp_source *source)
{
    for (size_t s = 0; s < a->options.brackets; s++) {
        if (tp_get_u64(source, &a->brackets[s].begun) != TP_OK)
            return -1;
        for (size_t k = 0; k < a->brackets[s].n_rungs; k++)
            if (load_rung(a, s, k, source) != 0)
                return -1;
    }
    return 0;
}

/* All are claimed; a result that is named is there, and is theirs. */
static bool
is_consistent(struct asha *a)
{
    for (size_t i = 0; i < a->n_pool; i++) {
        struct asha_config *c = &a->pool[i];
        const struct rung *r;

        if (!c->is_used)
            continue;
        if (c->next != CLAIMED)
            return false;
        c->next = RUNG_NONE;
        if (c->entry == RUNG_NONE)
            continue;
        if (!a->options.promotes)
            return false;
        r = asha_rung(a, c->bracket, c->rung);
        if (c->entry >= r->n || r->entries[c->entry].config != i)
            return false;
    }
    return true;
}

static int
load_released(struct asha *a, const struct tp_source *s)
{
    uint64_t n, id;

    if (tp_get_u64(s, &n) != TP_OK)
        return -1;
    while (n-- > 0)
        if (tp_get_u64(s, &id) != TP_OK || asha_release(a, id) != 0)
            return -1;
    return 0;
}

const char *
asha_load(struct asha *a, const struct tp_source *source)
{
    if (load_pool(a, source) != 0 || !is_row(a))
        return "the saved configurations are damaged, or out of memory";
    if (load_outs(a, source) != 0)
        return "the saved trials that are out are damaged, or out of memory";
    if (load_brackets(a, source) != 0 || !is_consistent(a))
        return "the saved rungs are damaged, or out of memory";
    if (load_released(a, source) != 0 || asha_restore(a) != 0)
        return "the saved releases are damaged, or out of memory";
    return NULL;
}
