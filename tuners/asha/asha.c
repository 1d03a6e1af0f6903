/* SPDX-License-Identifier: MIT */
#include "asha/asha.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16

/* Empties both. */
static void
asha_places_fini(struct asha *a)
{
    free(a->pool);
    free(a->x);
    free(a->outs);
    a->pool = NULL;
    a->x = NULL;
    a->outs = NULL;
    a->n_pool = a->room_pool = 0;
    a->n_outs = a->room_outs = a->n_ended = 0;
    a->free = RUNG_NONE;
}

static int
grow_pool(struct asha *a)
{
    size_t room = a->room_pool == 0 ? ROOM_FIRST : a->room_pool * 2;
    struct asha_config *pool;
    double *x;

    if (room >= RUNG_NONE ||
        (a->n_dims > 0 && room > SIZE_MAX / sizeof *x / a->n_dims))
        return -1;
    pool = realloc(a->pool, room * sizeof *pool);
    if (pool == NULL)
        return -1;
    a->pool = pool;
    if (a->options.promotes && a->n_dims > 0) {
        x = realloc(a->x, room * a->n_dims * sizeof *x);
        if (x == NULL)
            return -1;
        a->x = x;
    }
    a->room_pool = room;
    return 0;
}

uint32_t
asha_places_add(struct asha *a)
{
    uint32_t place = a->free;

    if (place != RUNG_NONE) {
        a->free = a->pool[place].next;
    } else {
        if (a->n_pool == a->room_pool && grow_pool(a) != 0)
            return RUNG_NONE;
        place = (uint32_t)a->n_pool++;
        for (size_t i = 0; a->x != NULL && i < a->n_dims; i++)
            a->x[place * a->n_dims + i] = 0;
    }
    a->pool[place] = (struct asha_config){
        .next = RUNG_NONE, .entry = RUNG_NONE, .is_used = 1};
    return place;
}

static void
asha_places_drop(struct asha *a, uint32_t place)
{
    a->pool[place] = (struct asha_config){.next = a->free, .entry = RUNG_NONE};
    a->free = place;
}

void
asha_places_put(struct asha *a, uint32_t place, const double *x)
{
    if (a->x != NULL)
        memcpy(a->x + place * a->n_dims, x, a->n_dims * sizeof *x);
}

static void
asha_places_get(const struct asha *a, uint32_t place, double *x)
{
    if (a->x != NULL)
        memcpy(x, a->x + place * a->n_dims, a->n_dims * sizeof *x);
}

static int
grow_outs(struct asha *a)
{
    size_t room = a->room_outs == 0 ? ROOM_FIRST : a->room_outs * 2;
    struct asha_out *outs = realloc(a->outs, room * sizeof *outs);

    if (outs == NULL)
        return -1;
    a->outs = outs;
    a->room_outs = room;
    return 0;
}

struct asha_out *
asha_places_out(struct asha *a, uint64_t id, uint32_t place)
{
    struct asha_out *o;

    if (a->n_outs == a->room_outs && grow_outs(a) != 0)
        return NULL;
    for (o = &a->outs[a->n_outs++]; o > a->outs && o[-1].id > id; o--)
        *o = o[-1];
    *o = (struct asha_out){.id = id, .from = ASHA_NO_ID, .config = place};
    return o;
}

struct asha_out *
asha_places_find(const struct asha *a, uint64_t id)
{
    size_t low = 0, high = a->n_outs;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (a->outs[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == a->n_outs || a->outs[low].id != id ||
        a->outs[low].config == RUNG_NONE)
        return NULL;
    return &a->outs[low];
}

/* It has ended. */
static void
asha_places_end(struct asha *a, struct asha_out *o)
{
    size_t n = 0;

    o->config = RUNG_NONE;
    if (++a->n_ended * 2 <= a->n_outs)
        return;
    for (size_t i = 0; i < a->n_outs; i++)
        if (a->outs[i].config != RUNG_NONE)
            a->outs[n++] = a->outs[i];
    a->n_outs = n;
    a->n_ended = 0;
}

/* ---- the search ---- */

size_t
asha_levels(const struct asha_options *o, uint64_t *levels)
{
    uint64_t level = o->min_budget;
    size_t n = 0;

    for (; level < o->max_budget; level *= o->eta) {
        levels[n++] = level;
        if (level > o->max_budget / o->eta)
            break;
    }
    levels[n++] = o->max_budget;
    return n;
}

/* Hyperband's numbers of configurations (L. Li et al., "Hyperband", JMLR 18,
 * 2018, algorithm 1), with which brackets have about the same resource. */
static double
share(const struct asha *a, size_t bracket)
{
    size_t halvings = a->n_levels - 1 - bracket;
    double n = (double)a->n_levels / (double)(halvings + 1);

    while (halvings-- > 0)
        n *= (double)a->options.eta;
    return ceil(n);
}

static void
begin_bracket(struct asha *a, size_t s)
{
    struct asha_bracket *b = &a->brackets[s];

    b->n_rungs = a->n_levels - s;
    b->share = share(a, s);
    b->begun = 0;
    for (size_t k = 0; k < b->n_rungs; k++) {
        asha_rung_fini(&b->rungs[k]);
        asha_rung_init(&b->rungs[k], a->options.eta,
                       a->options.promotes ? 0 : 1);
        b->out[k] = 0;
        b->closed[k] = false;
    }
}

struct asha *
asha_new(const struct asha_options *options)
{
    struct asha *a = calloc(1, sizeof *a);

    if (a == NULL)
        return NULL;
    a->options = *options;
    a->free = RUNG_NONE;
    a->n_levels = asha_levels(options, a->levels);
    a->brackets = calloc(options->brackets, sizeof *a->brackets);
    if (a->brackets == NULL) {
        free(a);
        return NULL;
    }
    for (size_t s = 0; s < options->brackets; s++)
        begin_bracket(a, s);
    return a;
}

void
asha_free(struct asha *a)
{
    if (a == NULL)
        return;
    for (size_t s = 0; s < a->options.brackets; s++)
        for (size_t k = 0; k < a->brackets[s].n_rungs; k++)
            asha_rung_fini(&a->brackets[s].rungs[k]);
    free(a->brackets);
    asha_places_fini(a);
    free(a->released);
    free(a);
}

int
asha_release(struct asha *a, uint64_t id)
{
    if (a->n_released == a->room_released) {
        size_t room = a->room_released == 0 ? 16 : a->room_released * 2;
        uint64_t *ids = realloc(a->released, room * sizeof *ids);

        if (ids == NULL)
            return -1;
        a->released = ids;
        a->room_released = room;
    }
    a->released[a->n_released++] = id;
    return 0;
}

bool
asha_released(struct asha *a, uint64_t *id)
{
    if (a->n_released == 0)
        return false;
    *id = a->released[--a->n_released];
    return true;
}

/* Those that wait in it, in the order of its entries: that of the heap is
 * another one after a load. */
static int
release_waiting(struct asha *a, const struct rung *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->entries[i].state == RUNG_WAITING &&
            asha_release(a, r->entries[i].id) != 0)
            return -1;
    return 0;
}

int
asha_space(struct asha *a, size_t n_dims)
{
    for (size_t s = 0; s < a->options.brackets; s++) {
        for (size_t k = 0; k < a->brackets[s].n_rungs; k++)
            if (release_waiting(a, asha_rung(a, s, k)) != 0)
                return -1;
        begin_bracket(a, s);
    }
    asha_places_fini(a);
    a->n_dims = n_dims;
    a->begun = 0;
    return 0;
}

static void
describe(const struct asha *a, const struct asha_out *o,
         struct asha_suggestion *out)
{
    const struct asha_config *c = &a->pool[o->config];

    *out = (struct asha_suggestion){
        .bracket = c->bracket,
        .rung = c->rung,
        .budget = a->options.promotes ? asha_level(a, c->bracket, c->rung)
                                      : a->options.max_budget,
        .first = c->first,
        .from = o->from,
        .loss = c->loss,
    };
}

static enum asha_answer
answer(const struct asha *a, const struct asha_out *o, double *x,
       struct asha_suggestion *out)
{
    describe(a, o, out);
    if (o->from == ASHA_NO_ID)
        return ASHA_NEW;
    asha_places_get(a, o->config, x);
    return ASHA_PROMOTED;
}

/* The best that may be promoted, by level from the highest down. */
static struct rung *
next_rung(const struct asha *a)
{
    for (size_t level = a->n_levels - 1; level-- > 0;)
        for (size_t s = 0; s < a->options.brackets && s <= level; s++) {
            struct rung *r = &a->brackets[s].rungs[level - s];

            if (asha_rung_next(r) != RUNG_NONE)
                return r;
        }
    return NULL;
}

static struct asha_out *
promote(struct asha *a, uint64_t id, struct rung *r)
{
    const struct rung_entry *e = &r->entries[asha_rung_next(r)];
    struct asha_out *o = asha_places_out(a, id, e->config);
    struct asha_config *c;

    if (o == NULL)
        return NULL;
    o->from = e->id;
    c = &a->pool[e->config];
    c->loss = e->loss;
    c->rung++;
    c->entry = RUNG_NONE;
    a->brackets[c->bracket].out[c->rung]++;
    asha_rung_promote(r);
    return o;
}

/* The one that is furthest behind its share. */
static size_t
next_bracket(const struct asha *a)
{
    double least = INFINITY;
    size_t next = 0;

    for (size_t s = 0; s < a->options.brackets; s++) {
        const struct asha_bracket *b = &a->brackets[s];
        double due = (double)(b->begun + 1) / b->share;

        if (due < least) {
            least = due;
            next = s;
        }
    }
    return next;
}

static struct asha_out *
begin(struct asha *a, uint64_t id)
{
    size_t s = next_bracket(a);
    uint32_t place = asha_places_add(a);
    struct asha_out *o;

    if (place == RUNG_NONE)
        return NULL;
    o = asha_places_out(a, id, place);
    if (o == NULL) {
        asha_places_drop(a, place);
        return NULL;
    }
    a->pool[place].first = id;
    a->pool[place].bracket = (uint8_t)s;
    a->brackets[s].begun++;
    a->brackets[s].out[0] += a->options.promotes;
    a->begun++;
    return o;
}

static bool
is_sealed(const struct asha *a)
{
    return a->options.configs > 0 && a->begun >= a->options.configs;
}

static bool
is_done(const struct asha *a)
{
    for (size_t s = 0; a->options.promotes && s < a->options.brackets; s++)
        if (!a->brackets[s].closed[a->brackets[s].n_rungs - 1])
            return false;
    return true;
}

/* Rung k of b, when nothing comes into it any more, and the one below is
 * closed. */
static int
close_rung(struct asha *a, struct asha_bracket *b, size_t k)
{
    struct rung *r = &b->rungs[k];

    b->closed[k] = true;
    asha_rung_close(r);
    for (uint32_t i = 0; i < r->n; i++) {
        struct rung_entry *e = &r->entries[i];

        if (e->state != RUNG_LEFT)
            continue;
        e->state = RUNG_RECORDED;
        asha_places_drop(a, e->config);
        if (asha_release(a, e->id) != 0)
            return -1;
    }
    return 0;
}

/* Once no more configurations begin, rungs close from the lowest up. */
static int
settle(struct asha *a)
{
    if (!a->options.promotes || !is_sealed(a))
        return 0;
    for (size_t s = 0; s < a->options.brackets; s++) {
        struct asha_bracket *b = &a->brackets[s];

        for (size_t k = 0; k < b->n_rungs; k++) {
            if (b->closed[k])
                continue;
            if (b->out[k] > 0 ||
                (k > 0 && asha_rung_next(&b->rungs[k - 1]) != RUNG_NONE))
                break;
            if (close_rung(a, b, k) != 0)
                return -1;
        }
    }
    return 0;
}

int
asha_ask(struct asha *a, uint64_t id, double *x, struct asha_suggestion *out)
{
    struct asha_out *o = asha_places_find(a, id);
    struct rung *r;

    if (o != NULL)
        return (int)answer(a, o, x, out);
    r = next_rung(a);
    if (r == NULL && is_sealed(a))
        return is_done(a) ? ASHA_DONE : ASHA_LATER;
    o = r != NULL ? promote(a, id, r) : begin(a, id);
    if (o == NULL || settle(a) != 0)
        return -1;
    return (int)answer(a, o, x, out);
}

int
asha_ended(struct asha *a, uint64_t id, bool is_whole)
{
    struct asha_out *o = asha_places_find(a, id);
    uint32_t place;
    struct asha_config *c;

    if (o == NULL)
        return 0;
    place = o->config;
    c = &a->pool[place];
    asha_places_end(a, o);
    if (a->options.promotes)
        a->brackets[c->bracket].out[c->rung]--;
    if (a->options.promotes && is_whole && c->entry != RUNG_NONE &&
        !asha_is_last(a, c))
        asha_rung_wait(&a->brackets[c->bracket].rungs[c->rung], c->entry);
    else
        asha_places_drop(a, place);
    return settle(a);
}

int
asha_restore(struct asha *a)
{
    a->begun = 0;
    for (size_t s = 0; s < a->options.brackets; s++)
        a->begun += a->brackets[s].begun;
    for (size_t i = 0; a->options.promotes && i < a->n_outs; i++) {
        const struct asha_config *c = &a->pool[a->outs[i].config];

        a->brackets[c->bracket].out[c->rung]++;
    }
    return settle(a);
}

uint64_t
asha_first(const struct asha *a, uint64_t id)
{
    const struct asha_out *o = asha_places_find(a, id);

    return o != NULL ? a->pool[o->config].first : ASHA_NO_ID;
}
