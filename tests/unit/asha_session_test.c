/* SPDX-License-Identifier: MIT */
/* The tuner asha through long random sessions: against the paper's algorithm
 * written down as it stands there, saved and loaded, and large. */
#include "asha/asha.h"

#include "core/buf.h"
#include "core/pack.h"
#include "plugin/state.h"
#include "unit/asha_help.h"

#include <math.h>
#include <stdlib.h>

NOT_UNDER_TSAN;

#define N_MAX 4000
#define LEVELS 4

/* A configuration as the oracle has it. */
struct known {
    double loss[LEVELS]; /* where it was recorded */
    size_t rank[LEVELS]; /* the how manieth there */
    int top;             /* the last rung where it was; -1: none */
    bool waits;
    uint64_t last; /* its latest trial */
};

struct oracle {
    struct known all[N_MAX]; /* by first id */
    uint64_t first[N_MAX];   /* of a trial */
    uint64_t eta, n[LEVELS];
};

static bool
is_before(const struct known *a, const struct known *b, int k)
{
    return a->loss[k] != b->loss[k] ? a->loss[k] < b->loss[k]
                                    : a->rank[k] < b->rank[k];
}

/* "candidates <- top_k(rung k, |rung k| / eta); promotable <- {t in candidates
 * if t not already promoted}": the best of them, or N_MAX. */
static uint64_t
promotable(const struct oracle *o, int k, uint64_t n_ids)
{
    uint64_t best = N_MAX;

    for (uint64_t i = 0; i < n_ids; i++) {
        const struct known *t = &o->all[i];
        uint64_t better = 0;

        if (!t->waits || t->top != k)
            continue;
        for (uint64_t j = 0; j < n_ids; j++)
            better += o->all[j].top >= k && is_before(&o->all[j], t, k);
        if (better < o->n[k] / o->eta &&
            (best == N_MAX || is_before(t, &o->all[best], k)))
            best = i;
    }
    return best;
}

static void
check_ask(struct world *w, struct oracle *o, uint64_t id)
{
    uint64_t best = N_MAX;
    int rc = world_ask(w, id), k = LEVELS - 1;

    while (best == N_MAX && k-- > 0)
        best = promotable(o, k, id);
    CHECK_EQ(rc, best == N_MAX ? ASHA_NEW : ASHA_PROMOTED);
    o->first[id] = best == N_MAX ? id : best;
    o->all[id].top = -1;
    CHECK_EQ(w->s.first, o->first[id]);
    CHECK_EQ(w->s.budget, w->a->levels[k + 1]);
    if (best == N_MAX)
        return;
    CHECK_EQ(w->s.from, o->all[best].last);
    CHECK(w->s.loss == o->all[best].loss[k]);
    o->all[best].waits = false;
}

static void
report(struct world *w, struct oracle *o, uint64_t id, double loss)
{
    struct known *t = &o->all[o->first[id]];
    int k = t->top + 1;

    CHECK_EQ(world_report(w, id, w->a->levels[k], loss),
             k + 1 == LEVELS ? ASHA_FINISH : ASHA_PAUSE);
    t->loss[k] = isnan(loss) ? (double)INFINITY : loss;
    t->rank[k] = o->n[k]++;
    t->top = k;
    t->last = id;
}

static void
end(struct world *w, struct oracle *o, uint64_t id, bool is_whole)
{
    struct known *t = &o->all[o->first[id]];

    CHECK_EQ(asha_ended(w->a, id, is_whole), 0);
    t->waits = is_whole && t->last == id && t->top + 1 < LEVELS;
}

/* Trials take different times, some fail before or behind their rung, some
 * are never heard of again. */
static void
run_session(uint64_t seed, uint64_t eta, uint64_t n_ids, uint64_t workers)
{
    struct asha_options options = {1, eta * eta * eta, eta, 1, true, 0};
    struct oracle *o = calloc(1, sizeof *o);
    uint64_t out[64], n_out = 0;
    struct world w;

    o->eta = eta;
    world_init(&w, &options, 2);
    for (uint64_t id = 0; id < n_ids;) {
        uint64_t i, fate = draw(&seed, 20);

        if (n_out < workers) {
            check_ask(&w, o, id);
            out[n_out++] = id++;
            continue;
        }
        i = draw(&seed, n_out);
        if (fate > 1)
            report(&w, o, out[i],
                   draw(&seed, 9) == 0 ? (double)NAN
                                       : (double)draw(&seed, 100));
        if (fate > 0)
            end(&w, o, out[i], fate > 2);
        out[i] = out[--n_out];
    }
    world_fini(&w);
    free(o);
}

TEST(asha_does_what_the_paper_says)
{
    for (uint64_t seed = 0; seed < 12; seed++)
        run_session(seed, 2 + seed % 4, 500, 1 + seed * 5);
}

static void
save_all(const struct asha *a, struct buf *out)
{
    struct tp_sink sink = state_sink(out);

    buf_init(out, (size_t)1 << 28);
    asha_save(a, &sink);
    CHECK(!out->failed);
}

/* NULL: it was not taken. */
static struct asha *
load_all(const struct asha_options *options, const char *data, size_t len)
{
    struct asha *a = asha_new(options);
    struct unpack from = unpack_from(data, len);
    struct tp_source source = state_source(&from);

    CHECK_EQ(asha_space(a, 2), 0);
    if (asha_load(a, &source) == NULL && unpack_done(&from))
        return a;
    asha_free(a);
    return NULL;
}

/* Another one, that was saved and loaded. */
static struct asha *
twin_of(const struct asha *a)
{
    struct buf first, second;
    struct asha *twin;

    save_all(a, &first);
    twin = load_all(&a->options, first.data, first.len);
    CHECK(twin != NULL);
    save_all(twin, &second);
    CHECK_EQ(first.len, second.len);
    CHECK(memcmp(first.data, second.data, first.len) == 0);
    buf_fini(&first);
    buf_fini(&second);
    return twin;
}

static void
check_same(const struct world *w, const struct world *v, int rc, int rc2)
{
    CHECK_EQ(rc, rc2);
    CHECK(memcmp(&w->s, &v->s, sizeof w->s) == 0);
    CHECK(memcmp(w->x, v->x, sizeof w->x) == 0);
    CHECK(memcmp(&w->j.cut, &v->j.cut, sizeof w->j.cut) == 0);
}

/* One step of a session in both. */
static void
step_both(struct world *w, struct world *v, uint64_t *seed, uint64_t *next_id)
{
    uint64_t dice = draw(seed, 10), id = *next_id;
    int rc;

    if (dice < 3) {
        rc = world_ask(w, id);
        check_same(w, v, rc, world_ask(v, id));
        *next_id += rc <= ASHA_PROMOTED;
        return;
    }
    id = id > 12 ? id - 1 - draw(seed, 12) : draw(seed, id + 1);
    if (dice < 8) {
        uint64_t used = 1 + draw(seed, 30);
        double loss = (double)draw(seed, 50);

        rc = world_report(w, id, used, loss);
        check_same(w, v, rc, world_report(v, id, used, loss));
    } else {
        CHECK_EQ(asha_ended(w->a, id, dice > 8), 0);
        CHECK_EQ(asha_ended(v->a, id, dice > 8), 0);
    }
}

TEST(asha_goes_on_from_what_was_saved_at_any_time)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct asha_options o = {
            1, 27, 3, 1 + seed % 3, seed % 2 == 0, seed > 3 ? 60 : 0};
        uint64_t next_id = 0, random = seed;
        struct world w, v;

        world_init(&w, &o, 2);
        world_init(&v, &o, 2);
        for (int i = 0; i < 400; i++) {
            step_both(&w, &v, &random, &next_id);
            asha_free(v.a);
            v.a = twin_of(w.a);
        }
        CHECK(next_id > 50);
        world_fini(&w);
        world_fini(&v);
    }
}

/* However its bytes are damaged or cut: taken or not, it can be used and
 * freed. */
TEST(asha_survives_damage_to_what_was_saved)
{
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct asha_options o = {1, 27, 3, 2, seed == 0, 40};
        uint64_t next_id = 0, random = seed, taken = 0;
        struct world w, v;
        struct buf bytes;

        world_init(&w, &o, 2);
        world_init(&v, &o, 2);
        for (int i = 0; i < 150; i++)
            step_both(&w, &v, &random, &next_id);
        save_all(w.a, &bytes);
        for (size_t len = 0; len < bytes.len; len += 8)
            CHECK(load_all(&o, bytes.data, len) == NULL);
        for (int i = 0; i < 3000; i++) {
            size_t at = 8 * draw(&random, bytes.len / 8);
            char bit = (char)(1 << draw(&random, 8));
            struct world u = w;

            bytes.data[at] ^= bit;
            u.a = load_all(&o, bytes.data, bytes.len);
            bytes.data[at] ^= bit;
            if (u.a == NULL)
                continue;
            taken++;
            asha_ask(u.a, next_id, u.x, &u.s);
            asha_ended(u.a, next_id, true);
            asha_free(u.a);
        }
        CHECK(taken > 0);
        buf_fini(&bytes);
        world_fini(&w);
        world_fini(&v);
    }
}

/* 100,000 trials, 300 at a time.  One that stays out all the time is in
 * nobody's way. */
TEST(asha_takes_a_hundred_thousand_trials)
{
    for (int promotes = 0; promotes < 2; promotes++) {
        struct asha_options o = {1, 81, 3, 1, promotes, 0};
        uint64_t out[300], seed = 3;
        const size_t n = sizeof out / sizeof out[0];
        struct world w;

        world_init(&w, &o, 1);
        world_ask(&w, 0);
        for (size_t i = 0; i < n; i++)
            world_ask(&w, out[i] = i + 1);
        for (uint64_t id = n + 1; id < 100000; id++) {
            size_t i = (size_t)draw(&seed, n);
            uint64_t first = asha_first(w.a, out[i]);
            double loss = (double)(first * 2654435761u % 1000003);

            for (size_t k = 0; k < 5; k++)
                if (world_report(&w, out[i], w.a->levels[k], loss) != ASHA_GO)
                    break;
            CHECK_EQ(asha_ended(w.a, out[i], true), 0);
            CHECK(world_ask(&w, id) <= ASHA_PROMOTED);
            out[i] = id;
        }
        for (size_t k = 0; k + 1 < 5; k++) { /* a third of each goes on */
            double ratio = (double)asha_rung(w.a, 0, k)->n /
                           (double)asha_rung(w.a, 0, k + 1)->n;

            CHECK(ratio > 2.5 && ratio < 3.2);
        }
        CHECK(w.a->n_outs < 2 * n + 20);
        world_fini(&w);
    }
}
