/* SPDX-License-Identifier: MIT */
/* Long random sessions of a population: nobody is lost, nothing stalls, what is
 * begun with has not been released; saved and loaded it goes on the same. */
#include "pbt/pbt.h"

#include "core/pack.h"
#include "plugin/state.h"
#include "unit/pbt_help.h"

NOT_UNDER_TSAN;

#define OUT_MAX 16

struct out {
    uint64_t id, used;
};

struct session {
    struct world *w, *twin;
    struct out out[OUT_MAX];
    size_t n_out;
    uint64_t next_id, random, places;
    bool is_over;
};

static uint64_t
below(struct session *s, uint64_t n)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (s->random >> 33) % n;
}

static void
ask_both(struct session *s)
{
    enum pbt_ask rc = ask(s->w, s->next_id);

    CHECK_EQ(ask(s->twin, s->next_id), rc);
    s->is_over = rc == PBT_OVER;
    CHECK(rc != PBT_LATER || s->n_out > 0); /* else it would stall */
    if (rc != PBT_POINT)
        return;
    CHECK(memcmp(s->w->x, s->twin->x, sizeof s->w->x) == 0);
    CHECK(s->w->a.from == s->twin->a.from && s->w->a.kind == s->twin->a.kind);
    CHECK(memcmp(&s->w->a.load, &s->twin->a.load, sizeof s->w->a.load) == 0);
    s->out[s->n_out++] =
        (struct out){s->next_id++, s->w->a.kind == PBT_FRESH ? 0 : 3};
}

static void
end_both(struct session *s, size_t i, enum pbt_end how)
{
    end(s->w, s->out[i].id, how);
    end(s->twin, s->out[i].id, how);
    s->out[i] = s->out[--s->n_out];
}

/* A report of one that is out, or its end. */
static void
step(struct session *s)
{
    size_t i = below(s, s->n_out);
    struct out *o = &s->out[i];
    double value = below(s, 20) == 0 ? NAN : (double)below(s, 50);
    enum pbt_verdict v;

    switch (below(s, 12)) {
    case 0:
        end_both(s, i, PBT_END_BADLY);
        return;
    case 1:
        tell(s->w, o->id, value);
        tell(s->twin, o->id, value);
        end_both(s, i, below(s, 3) == 0 ? PBT_END_BADLY : PBT_END_WELL);
        return;
    case 2:
        if (below(s, 4) == 0)
            end_both(s, i, PBT_END_WELL);
        return;
    }
    o->used += 1 + below(s, 2);
    v = report(s->w, o->id, value, o->used);
    CHECK_EQ(report(s->twin, o->id, value, o->used), v);
    if (v == PBT_PAUSE && below(s, 4) > 0)
        end_both(s, i, PBT_END_PAUSED);
    else if (v == PBT_STOP)
        end_both(s, i, PBT_END_BADLY);
    else if (v == PBT_FINISH)
        end_both(s, i, PBT_END_WELL);
}

static struct buf
saved(const struct world *w)
{
    struct buf b;
    struct tp_sink sink = state_sink(&b);

    buf_init(&b, 1 << 20);
    pbt_save(w->p, &sink);
    CHECK(!b.failed);
    return b;
}

static const char *
load(struct world *w, const void *bytes, size_t len)
{
    struct unpack from = unpack_from(bytes, len);
    struct tp_source source = state_source(&from);
    const char *wrong = pbt_load(w->p, &source);

    return wrong == NULL && !unpack_done(&from) ? "left" : wrong;
}

/* The twin is made anew from what was saved. */
static void
renew(struct session *s, const struct pbt_settings *set, uint64_t seed)
{
    struct buf first = saved(s->w), second;

    world_free(s->twin);
    s->twin = world_new(MIXED_SPACE, set, seed);
    CHECK(load(s->twin, first.data, first.len) == NULL);
    second = saved(s->twin);
    CHECK_EQ(second.len, first.len);
    CHECK(memcmp(second.data, first.data, first.len) == 0);
    buf_fini(&first);
    buf_fini(&second);
}

static void
session(const struct pbt_settings *set, uint64_t seed)
{
    struct session s = {.w = world_new(MIXED_SPACE, set, seed),
                        .twin = world_new(MIXED_SPACE, set, seed),
                        .random = seed,
                        .places = 1 + seed % 9};

    for (int i = 0; i < 400 && !s.is_over; i++) {
        while (s.n_out < s.places && !s.is_over) {
            uint64_t before = s.next_id;

            ask_both(&s);
            if (s.next_id == before)
                break;
        }
        if (s.n_out > 0)
            step(&s);
        if (i % 40 == 17)
            renew(&s, set, seed);
    }
    CHECK(s.is_over || s.next_id > 20);
    world_free(s.w);
    world_free(s.twin);
}

TEST(pbt_never_stalls_in_rounds)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct pbt_settings set = {.size = 1 + seed % 7,
                                   .factor = 0.2,
                                   .resample = 0.25,
                                   .fraction = 0.1 * (double)(seed % 11),
                                   .interval = seed % 3 == 0 ? 4 : 0,
                                   .max_budget = seed % 6 == 0 ? 30 : 0};

        session(&set, seed);
    }
}

TEST(pbt_never_stalls_when_asynchronous)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct pbt_settings set = {.size = 1 + seed % 7,
                                   .factor = 0.2,
                                   .resample = 0.25,
                                   .fraction = 0.1 * (double)(seed % 11),
                                   .async = true,
                                   .interval = 1 + seed % 4,
                                   .max_budget = seed % 2 == 0 ? 60 : 0};

        session(&set, seed);
    }
}

TEST(pbt_takes_no_damaged_state)
{
    struct pbt_settings set = {.size = 5, .fraction = 0.2, .interval = 3};
    struct world *w = world_new(MIXED_SPACE, &set, 1), *other;
    struct buf bytes;

    for (uint64_t id = 0; id < 5; id++) {
        CHECK_EQ(ask(w, id), PBT_POINT);
        tell(w, id, (double)id);
        end(w, id, PBT_END_WELL);
    }
    CHECK_EQ(ask(w, 5), PBT_POINT);
    bytes = saved(w);
    for (size_t len = 0; len < bytes.len; len += 8) {
        other = world_new(MIXED_SPACE, &set, 1);
        CHECK(load(other, bytes.data, len) != NULL);
        world_free(other);
    }
    for (size_t at = 0; at < bytes.len; at += 8) {
        uint64_t word;

        memcpy(&word, bytes.data + at, 8);
        memset(bytes.data + at, 0xfe, 8);
        other = world_new(MIXED_SPACE, &set, 1);
        if (load(other, bytes.data, bytes.len) == NULL)
            for (uint64_t id = 6; id < 12; id++)
                if (pbt_ask(other->p, id,
                            &(struct pbt_answer){.x = other->x}) == PBT_POINT)
                    end(other, id, PBT_END_BADLY);
        world_free(other);
        memcpy(bytes.data + at, &word, 8);
    }
    buf_fini(&bytes);
    world_free(w);
}
