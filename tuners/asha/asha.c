/* SPDX-License-Identifier: MIT */
#include "asha/asha.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    size_t room = grow_cap(a->room_pool);

    if (room >= RUNG_NONE || grow_to(&a->pool, room, sizeof *a->pool) != 0 ||
        (a->options.promotes && a->n_dims > 0 &&
         grow_to(&a->x, room, a->n_dims * sizeof *a->x) != 0))
        return -1;
    a->room_pool = room;
    return 0;
}

/* A place, all zero but for `entry`; RUNG_NONE when out of memory. */
static uint32_t
places_add(struct asha *a)
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

/* Its point; nothing, where points are not kept. */
static void
places_put(struct asha *a, uint32_t place, const double *x)
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

/* Trial `id`, as a rule higher than all before, is out for that place, as none
 * that was promoted.  Lent until the next one; NULL when out of memory. */
static struct asha_out *
places_out(struct asha *a, uint64_t id, uint32_t place)
{
    struct asha_out *o;

    if (GROW(a->outs, a->n_outs, a->room_outs) != 0)
        return NULL;
    for (o = &a->outs[a->n_outs++]; o > a->outs && o[-1].id > id; o--)
        *o = o[-1];
    *o = (struct asha_out){.id = id, .from = ASHA_NO_ID, .config = place};
    return o;
}

/* NULL: it is not out. */
static struct asha_out *
places_find(const struct asha *a, uint64_t id)
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
                       a->options.promotes ? 0 : 1, a->n_costs);
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

/* Trial `id` is one of those that asha_released() tells of. */
static int
release(struct asha *a, uint64_t id)
{
    if (GROW(a->released, a->n_released, a->room_released) != 0)
        return -1;
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
            release(a, r->entries[i].id) != 0)
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
    struct asha_out *o = places_out(a, id, e->config);
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
    uint32_t place = places_add(a);
    struct asha_out *o;

    if (place == RUNG_NONE)
        return NULL;
    o = places_out(a, id, place);
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
        if (release(a, e->id) != 0)
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
    struct asha_out *o = places_find(a, id);
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
    struct asha_out *o = places_find(a, id);
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

/* After a load: what is not saved, as it follows from the rest. */
static int
restore(struct asha *a)
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
    const struct asha_out *o = places_find(a, id);

    return o != NULL ? a->pool[o->config].first : ASHA_NO_ID;
}

/* Results: which rung they enter, and what follows for their trial. */

void
asha_lend(struct asha *a, const double *costs, double violation)
{
    a->costs = costs;
    a->violation = violation;
}

static int
record(struct asha *a, struct asha_config *c, uint64_t id, const double *x,
       double loss, struct asha_judgement *out)
{
    uint32_t place = (uint32_t)(c - a->pool);
    struct rung *r = &a->brackets[c->bracket].rungs[c->rung];
    uint32_t entry =
        r->n_costs == 0
            ? asha_rung_add(r, loss, id, place)
            : asha_rung_add_several(r, a->costs, a->violation, id, place);

    if (entry == RUNG_NONE)
        return -1;
    c->entry = entry;
    places_put(a, place, x);
    *out = (struct asha_judgement){
        .bracket = c->bracket,
        .rung = c->rung,
        .is_recorded = true,
        .entry = entry,
        .cut = asha_rung_cut(r),
    };
    return 0;
}

static int
report_promoting(struct asha *a, struct asha_config *c, uint64_t id,
                 const double *x, uint64_t used, double loss,
                 struct asha_judgement *out)
{
    if (used < asha_level(a, c->bracket, c->rung))
        return ASHA_GO;
    if (c->entry == RUNG_NONE && record(a, c, id, x, loss, out) != 0)
        return -1;
    return asha_is_last(a, c) ? ASHA_FINISH : ASHA_PAUSE;
}

/* A trial that does not report every step has its say at every level that it
 * has passed since it last did. */
static int
report_stopping(struct asha *a, struct asha_config *c, uint64_t id,
                const double *x, uint64_t used, double loss,
                struct asha_judgement *out)
{
    struct asha_bracket *b = &a->brackets[c->bracket];

    while (!c->is_stopped && c->rung < b->n_rungs &&
           used >= asha_level(a, c->bracket, c->rung)) {
        if (record(a, c, id, x, loss, out) != 0)
            return -1;
        c->is_stopped = !asha_is_last(a, c) &&
                        !asha_rung_is_top(&b->rungs[c->rung], c->entry);
        c->entry = RUNG_NONE;
        c->rung++;
    }
    if (c->is_stopped)
        return ASHA_STOP;
    return c->rung == b->n_rungs ? ASHA_FINISH : ASHA_GO;
}

int
asha_report(struct asha *a, uint64_t id, const double *x, uint64_t used,
            double loss, struct asha_judgement *out)
{
    const struct asha_out *o = places_find(a, id);
    struct asha_config *c;

    *out = (struct asha_judgement){.cut = NAN};
    if (o == NULL)
        return ASHA_GO;
    c = &a->pool[o->config];
    out->bracket = c->bracket;
    out->rung = c->rung;
    return a->options.promotes ? report_promoting(a, c, id, x, used, loss, out)
                               : report_stopping(a, c, id, x, used, loss, out);
}

/* A trial that ends of its own accord has used what it was given. */
int
asha_final(struct asha *a, uint64_t id, const double *x, double loss,
           struct asha_judgement *out)
{
    const struct asha_out *o = places_find(a, id);

    if (a->options.promotes || o == NULL)
        return asha_report(a, id, x, a->options.max_budget, loss, out);
    *out = (struct asha_judgement){.cut = NAN};
    return a->pool[o->config].is_stopped ? ASHA_STOP : ASHA_FINISH;
}

/* Saved are pool, trials that are out, and rungs, in this order: a rung's
 * entry is held against the configuration that it names.  Each configuration
 * is claimed once, by the trial that is out for it or by the entry with which
 * it waits; `next` is its mark meanwhile.  Heaps are not saved: they follow
 * from the entries. */
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

        if (r->n_costs == 0) {
            tp_put_f64(sink, e->loss);
        } else {
            tp_put_f64(sink, r->fronts.violations[i]);
            tp_put_f64s(sink, r->fronts.costs + i * r->n_costs, r->n_costs);
        }
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
        i = places_add(a);
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
        o = places_out(a, id, place);
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
    double loss, costs[ASHA_COSTS_MAX];
    uint64_t n, id, config;
    uint8_t state;

    if (tp_get_u64(s, &n) != TP_OK)
        return -1;
    while (n-- > 0) {
        uint32_t i;

        if (tp_get_f64(s, &loss) != TP_OK || isnan(loss) ||
            (r->n_costs > 0 && tp_get_f64s(s, costs, r->n_costs) != TP_OK) ||
            tp_get_u64(s, &id) != TP_OK || tp_get_u64(s, &config) != TP_OK ||
            config >= RUNG_NONE || load_small(s, RUNG_PROMOTED, &state) != 0)
            return -1;
        i = r->n_costs == 0
                ? asha_rung_add(r, loss, id, (uint32_t)config)
                : asha_rung_append(r, costs, loss, id, (uint32_t)config);
        if (i == RUNG_NONE)
            return -1;
        r->entries[i].state = state;
        if (state == RUNG_WAITING && claim_waiting(a, bracket, k, i) != 0)
            return -1;
    }
    return r->n_costs == 0 ? 0 : asha_rung_sort(r);
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
        if (tp_get_u64(s, &id) != TP_OK || release(a, id) != 0)
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
    if (load_released(a, source) != 0 || restore(a) != 0)
        return "the saved releases are damaged, or out of memory";
    return NULL;
}
