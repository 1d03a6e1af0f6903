/* SPDX-License-Identifier: MIT */
#include "pbt/pbt.h"

#include "unit/pbt_help.h"

NOT_UNDER_TSAN;

static const struct pbt_settings four = {.size = 4,
                                         .factor = 0.2,
                                         .resample = 0.25,
                                         .fraction = 0.25,
                                         .async = true,
                                         .interval = 5,
                                         .max_budget = 20};

/* Trials id, id + 1, ... for all members. */
static struct world *
world_begun(const struct pbt_settings *set, uint64_t seed)
{
    struct world *w = world_new(LINE_SPACE, set, seed);

    for (uint64_t id = 0; id < set->size; id++) {
        CHECK_EQ(ask(w, id), PBT_POINT);
        CHECK(w->a.kind == PBT_FRESH && w->a.member == id);
        CHECK_EQ(w->a.budget, set->max_budget);
    }
    CHECK_EQ(ask(w, 99), PBT_LATER);
    return w;
}

/* From `used` on, n results of this value; what the last one said. */
static enum pbt_verdict
reports(struct world *w, uint64_t id, double value, uint64_t used, uint64_t n)
{
    for (; n > 1; n--)
        CHECK_EQ(report(w, id, value, used++), PBT_GO);
    return report(w, id, value, used);
}

TEST(pbt_async_stops_the_worst_alone)
{
    struct world *w = world_begun(&four, 1);

    for (uint64_t id = 0; id < 3; id++)
        CHECK_EQ(reports(w, id, 10 + (double)id, 1, 5), PBT_GO);
    CHECK_EQ(reports(w, 3, 1, 1, 5), PBT_STOP);
    CHECK_EQ(report(w, 3, 100, 6), PBT_STOP); /* not used */
    CHECK_EQ(ask(w, 4), PBT_LATER);           /* it has not ended */
    end(w, 3, PBT_END_BADLY);
    CHECK_EQ(ask(w, 4), PBT_POINT);
    CHECK(w->a.kind == PBT_COPY && w->a.member == 3 && w->a.donor == 2);
    CHECK_EQ(w->a.from, 2);
    CHECK(w->a.base[0] == w->p->members[2].x[0]);
    CHECK(w->a.save.member == 3 && w->a.save.turn == 1);
    CHECK(w->a.load.member == 2 && w->a.load.turn == 0);
    CHECK(help_released(w, 3) && w->n_released == 1);
    /* It has its whole turn before it is judged again. */
    CHECK_EQ(reports(w, 4, 1, 4, 4), PBT_GO);
    CHECK_EQ(report(w, 4, 1, 8), PBT_STOP);
    world_free(w);
}

/* Who was quick is not stopped for being the worst of two. */
TEST(pbt_async_judges_against_the_whole_population)
{
    struct world *w = world_begun(&four, 2);

    CHECK_EQ(reports(w, 0, 5, 1, 5), PBT_GO);
    CHECK_EQ(reports(w, 1, 4, 1, 5), PBT_GO);
    CHECK_EQ(reports(w, 2, 3, 1, 5), PBT_GO);
    CHECK_EQ(reports(w, 2, 3, 6, 5), PBT_GO); /* 3 has no score yet */
    CHECK_EQ(reports(w, 3, 3, 1, 5), PBT_GO); /* no worse than another */
    CHECK_EQ(reports(w, 3, 2, 6, 5), PBT_STOP);
    world_free(w);
}

/* Whoever is done has no budget left that a copy could go on with. */
TEST(pbt_async_copies_nobody_who_is_done)
{
    struct world *w = world_begun(&four, 3);

    for (uint64_t id = 0; id < 2; id++) {
        CHECK_EQ(reports(w, id, 5 + (double)id, 1, 20), PBT_FINISH);
        tell(w, id, 5 + (double)id);
        end(w, id, PBT_END_WELL);
    }
    CHECK_EQ(ask(w, 4), PBT_LATER);
    CHECK_EQ(reports(w, 2, 1, 1, 5), PBT_GO);
    CHECK_EQ(reports(w, 3, 0, 1, 5), PBT_STOP);
    end(w, 3, PBT_END_BADLY);
    CHECK_EQ(ask(w, 4), PBT_POINT);
    CHECK(w->a.kind == PBT_COPY && w->a.from == 2);
    CHECK_EQ(reports(w, 2, 1, 6, 15), PBT_FINISH);
    end(w, 2, PBT_END_WELL);
    CHECK_EQ(reports(w, 4, -9, 6, 5), PBT_GO); /* the worst, and alone */
    end(w, 4, PBT_END_BADLY);
    CHECK_EQ(ask(w, 5), PBT_POINT); /* ... goes on from what it had */
    CHECK(w->a.kind == PBT_COPY && w->a.from == 4);
    CHECK_EQ(report(w, 5, 9, 20), PBT_FINISH);
    end(w, 5, PBT_END_WELL);
    CHECK_EQ(ask(w, 6), PBT_OVER);
    world_free(w);
}

TEST(pbt_async_replaces_whoever_dies)
{
    struct world *w = world_begun(&four, 4);

    end(w, 0, PBT_END_BADLY); /* nobody can be copied yet */
    CHECK_EQ(ask(w, 4), PBT_POINT);
    CHECK(w->a.kind == PBT_FRESH && w->a.member == 0 && w->a.save.turn == 1);
    CHECK_EQ(reports(w, 1, 7, 1, 5), PBT_GO);
    end(w, 4, PBT_END_BADLY);
    CHECK_EQ(ask(w, 5), PBT_POINT);
    CHECK(w->a.kind == PBT_COPY && w->a.member == 0 && w->a.from == 1);
    end(w, 5, PBT_END_BADLY);
    end(w, 1, PBT_END_BADLY);
    /* Of those that died the best, itself, goes on from what it had. */
    CHECK_EQ(ask(w, 6), PBT_POINT);
    CHECK(w->a.kind == PBT_COPY && w->a.member == 0 && w->a.donor == 1);
    CHECK_EQ(w->a.from, 1);
    end(w, 6, PBT_END_BADLY);
    CHECK_EQ(ask(w, 7), PBT_POINT);
    CHECK(w->a.kind == PBT_COPY);
    world_free(w);
}

/* A copy has its donor's score, and is one of the best at once. */
TEST(pbt_async_copies_what_a_donor_was_given_until_it_has_its_own)
{
    struct pbt_settings set = four;
    int of_the_copy = 0;

    set.fraction = 0.5;
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct world *w = world_begun(&set, seed);
        double copied;

        for (uint64_t id = 3; id > 0; id--)
            CHECK_EQ(reports(w, id, (double)id, 1, 5),
                     id == 1 ? PBT_STOP : PBT_GO);
        end(w, 1, PBT_END_BADLY);
        end(w, 2, PBT_END_BADLY);
        CHECK_EQ(ask(w, 4), PBT_POINT); /* of 3, alone at work */
        CHECK(w->a.member == 1 && w->a.donor == 3 && w->a.from == 3);
        copied = w->x[0];
        CHECK_EQ(ask(w, 5), PBT_POINT); /* of 3, or of that copy */
        CHECK(w->a.member == 2 && w->a.from == 3 && w->a.load.member == 3);
        CHECK(w->a.donor == 3 || w->a.base[0] == copied);
        of_the_copy += w->a.donor == 1;
        end(w, 3, PBT_END_WELL);
        CHECK(!help_released(w, 3));
        world_free(w);
    }
    CHECK(of_the_copy > 8 && of_the_copy < 31);
}

/* Two places for three members: one that has had its turn makes place. */
TEST(pbt_async_shares_places_among_members)
{
    struct pbt_settings set = four;
    struct world *w;

    set.size = 3;
    set.fraction = 0;
    w = world_new(LINE_SPACE, &set, 6);
    CHECK_EQ(ask(w, 0), PBT_POINT);
    CHECK_EQ(ask(w, 1), PBT_POINT);
    CHECK_EQ(reports(w, 0, 1, 1, 5), PBT_PAUSE);
    end(w, 0, PBT_END_PAUSED);
    CHECK_EQ(ask(w, 2), PBT_POINT);
    CHECK(w->a.kind == PBT_FRESH && w->a.member == 2);
    CHECK_EQ(reports(w, 1, 1, 1, 5), PBT_GO); /* 0 has had no less */
    CHECK_EQ(reports(w, 1, 1, 6, 5), PBT_PAUSE);
    end(w, 1, PBT_END_PAUSED);
    CHECK_EQ(ask(w, 3), PBT_POINT);
    CHECK(w->a.kind == PBT_ON && w->a.member == 0 && w->a.from == 0);
    CHECK(w->x[0] == w->p->members[0].x[0]);
    CHECK(w->a.load.turn == 0 && w->a.save.turn == 1);
    CHECK_EQ(w->n_released, 0);
    CHECK_EQ(report(w, 3, 1, 6), PBT_GO);
    CHECK(help_released(w, 0) && w->n_released == 1); /* 3 has what it had */
    world_free(w);
}

/* Whose manager knows no pause goes on, and is judged on. */
TEST(pbt_async_judges_on_where_nobody_pauses)
{
    struct pbt_settings set = four;
    struct world *w;

    set.size = 3;
    set.fraction = 0.34;
    w = world_new(LINE_SPACE, &set, 6);
    CHECK_EQ(ask(w, 0), PBT_POINT);
    CHECK_EQ(reports(w, 0, 1, 1, 5), PBT_PAUSE);
    CHECK_EQ(report(w, 0, 1, 6), PBT_PAUSE);
    for (uint64_t used = 7; used < 10; used++)
        CHECK_EQ(report(w, 0, 1, used), PBT_PAUSE);
    CHECK_EQ(report(w, 0, 2, 10), PBT_PAUSE);
    CHECK(w->p->members[0].score == 2);
    end(w, 0, PBT_END_WELL);
    CHECK_EQ(w->p->members[0].state, PBT_DONE);
    world_free(w);
}

/* A trial that is started again reports some steps again. */
TEST(pbt_async_judges_no_turn_twice)
{
    struct world *w = world_begun(&four, 7);

    for (uint64_t id = 0; id < 4; id++)
        CHECK_EQ(reports(w, id, 4 - (double)id, 1, 5),
                 id == 3 ? PBT_STOP : PBT_GO);
    CHECK_EQ(reports(w, 2, -9, 1, 9), PBT_GO); /* up to 9, of which 5 anew */
    CHECK_EQ(report(w, 2, -9, 10), PBT_STOP);
    world_free(w);
}

/* The best curve wins, and its schedule is more than one point. */
TEST(pbt_async_climbs)
{
    struct pbt_settings set = four;
    struct world *w;
    double state[12] = {0}, best = 0;
    uint64_t id = 12, out[12], used[12] = {0};

    set.size = 12;
    set.max_budget = 200;
    w = world_begun(&set, 8);
    for (size_t i = 0; i < 12; i++)
        out[i] = i;
    while (id < 4000) {
        size_t done = 0;

        for (size_t i = 0; i < 12; i++) {
            struct pbt_member *m = &w->p->members[i];
            enum pbt_verdict v;

            if (m->state == PBT_DONE) {
                done++;
                continue;
            }
            /* The best rate falls as training goes on. */
            state[i] += 1 - fabs(m->x[0] - (1 - (double)used[i] / 200));
            v = report(w, out[i], state[i], ++used[i]);
            best = fmax(best, state[i]);
            if (v == PBT_GO)
                continue;
            end(w, out[i], v == PBT_FINISH ? PBT_END_WELL : PBT_END_BADLY);
            if (v == PBT_FINISH)
                continue;
            CHECK_EQ(v, PBT_STOP);
            CHECK_EQ(ask(w, id), PBT_POINT);
            CHECK(w->a.member == i && w->a.kind == PBT_COPY);
            state[i] = state[w->a.donor];
            used[i] = used[w->a.donor];
            out[i] = id++;
        }
        if (done == 12)
            break;
    }
    CHECK_EQ(ask(w, id), PBT_OVER);
    CHECK(best > 160); /* of 200; 150 with the best point that stays */
    world_free(w);
}
