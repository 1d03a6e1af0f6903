/* SPDX-License-Identifier: MIT */
#include "sim/game.h"

#include "core/err.h"
#include "sim/game_state.h"
#include "space/space.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 1000000
#define OWED_MAX (sizeof((struct game *)0)->owed / sizeof(uint64_t))

const struct game_setup *
game_setup(const struct game *g)
{
    return g->setup;
}

const struct odds *
game_odds(const struct game *g)
{
    return &g->odds;
}

size_t
game_count(const struct game *g)
{
    return g->n;
}

const struct played *
game_at(const struct game *g, size_t i)
{
    return &g->at[i];
}

size_t
game_since(const struct game *g)
{
    return g->since;
}

bool
game_better(const struct game *g, double a, double b)
{
    if (isnan(a) || isnan(b))
        return !isnan(a);
    return g->setup->maximize ? a > b : a < b;
}

static struct played *
find(const struct game *g, uint64_t id)
{
    for (size_t i = g->n; i-- > 0;)
        if (g->at[i].id == id)
            return &g->at[i];
    return NULL;
}

const struct played *
game_find(const struct game *g, uint64_t id)
{
    return id == TP_NO_ID ? NULL : find(g, id);
}

/* What holds for a suggestion that goes on from another one. */
static int
check_from(const struct game *g, uint64_t id, const struct suggested *s,
           struct err *err)
{
    const struct played *p = game_find(g, s->from);
    const char *fault = NULL;

    if (p == NULL || (size_t)(p - g->at) < g->since)
        fault = "which there is not in this search space";
    else if (p->stage != STAGE_ENDED &&
             (s->from_how != TP_CLONED || !g->setup->rules->turns))
        fault = "which has not ended";
    else if (p->released)
        fault = "which it had released";
    else if (s->from_how != TP_PROMOTED && s->from_how != TP_CLONED)
        fault = "but not how";
    else if (s->from_how == TP_PROMOTED &&
             memcmp(p->s.x, s->x, sizeof s->x) != 0)
        fault = "which has another point";
    else if (s->from_how == TP_PROMOTED && s->budget <= p->s.budget &&
             p->s.budget > 0 && !g->setup->rules->turns)
        fault = "which had as much budget";
    else if (s->from_how == TP_PROMOTED && p->promoted > 0)
        fault = "from which another one goes on already";
    if (fault == NULL)
        return 0;
    return err_set(err, ERR_PLUGIN, "%" PRIu64 " goes on from %" PRIu64 ", %s",
                   id, s->from, fault);
}

static int
check_suggested(const struct game *g, uint64_t id, const struct suggested *s,
                struct err *err)
{
    if (space_check(g->setup->spaces[g->which], s->x, err) != 0)
        return -1;
    if (!isfinite(s->budget) || s->budget < 0)
        return err_set(err, ERR_PLUGIN, "%" PRIu64 " has the budget %g", id,
                       s->budget);
    for (const char *c = s->label; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            return err_set(err, ERR_PLUGIN, "label '%s'", s->label);
    for (size_t i = 0; i < g->n && s->label[0] != '\0'; i++)
        if (strcmp(g->at[i].s.label, s->label) == 0)
            return err_set(err, ERR_PLUGIN, "the label '%s' stands twice",
                           s->label);
    if (s->from != TP_NO_ID)
        return check_from(g, id, s, err);
    if (s->from_how != TP_ANEW)
        return err_set(err, ERR_PLUGIN, "%" PRIu64 " goes on from nothing", id);
    return 0;
}

static int
accept(struct game *g, uint64_t id, const struct suggested *s, struct err *err)
{
    struct played *parent;

    if (check_suggested(g, id, s, err) != 0)
        return -1;
    if (g->n == g->cap) {
        g->cap = g->cap == 0 ? 64 : 2 * g->cap;
        g->at = realloc(g->at, g->cap * sizeof *g->at);
        if (g->at == NULL)
            abort();
    }
    parent = s->from == TP_NO_ID ? NULL : find(g, s->from);
    if (parent != NULL)
        parent->promoted += s->from_how == TP_PROMOTED;
    g->at[g->n] = (struct played){.id = id, .s = *s};
    trial_draw(g, g->n++);
    g->n_waiting++;
    g->counts.trials++;
    g->counts.promoted += s->from_how == TP_PROMOTED;
    g->counts.cloned += s->from_how == TP_CLONED;
    if (g->setup->rules->asked == NULL)
        return 0;
    return g->setup->rules->asked(g, g->n - 1, err);
}

/* TP_OK, TP_LATER or TP_DONE; -1: err. */
static int
ask(struct game *g, uint64_t id, struct err *err)
{
    const struct rules *rules = g->setup->rules;
    struct suggested s;

    if (pair_ask(&g->pair, id, &s, err) != 0)
        return -1;
    if (s.rc == TP_OK)
        return accept(g, id, &s, err);
    if (s.rc == TP_DONE) {
        g->done = true;
        if (rules->endless)
            return err_set(err, ERR_PLUGIN, "it has nothing more to suggest");
        return TP_DONE;
    }
    g->counts.waits++;
    if (rules->never_waits)
        return err_set(err, ERR_PLUGIN, "it has nothing to suggest now");
    if (rules->waits != NULL && rules->waits(g, err) != 0)
        return -1;
    return TP_LATER;
}

static int
serve_owed(struct game *g, struct err *err)
{
    size_t served = 0;
    int rc = TP_OK;

    while (served < g->n_owed && rc != TP_LATER) {
        rc = ask(g, g->owed[served], err);
        if (rc < 0)
            return -1;
        served += rc != TP_LATER;
    }
    g->n_owed -= served;
    memmove(g->owed, g->owed + served, g->n_owed * sizeof *g->owed);
    return 0;
}

static int
obey(struct game *g, uint64_t id, int decision, struct err *err)
{
    struct played *p = find(g, id);

    if (p == NULL)
        return err_set(err, ERR_PLUGIN,
                       "it decided on %" PRIu64 ", which there is not", id);
    if (decision == TP_RELEASE)
        p->released = true;
    else if (p->stage != STAGE_ENDED && p->told == TP_GO && !p->foreign &&
             (decision == TP_STOP || g->odds.extensions))
        trial_told(p, decision, 0);
    return 0;
}

static int
obey_all(struct game *g, struct err *err)
{
    const struct decided *d = pair_decided(&g->pair);

    for (size_t i = 0; i < d->n; i++)
        if (obey(g, d->at[i].id, d->at[i].decision, err) != 0)
            return -1;
    return 0;
}

int
game_after(struct game *g, struct err *err)
{
    return obey_all(g, err) != 0 ? -1 : serve_owed(g, err);
}

/* As NNI's manager: one for each place that is free, and a few too many at
 * the end, which never run. */
static int
request(struct game *g, struct err *err)
{
    size_t most = g->odds.workers + g->odds.prefetch;
    size_t limit = g->odds.wanted + g->odds.workers;

    while (!g->done && g->n_running + g->n_waiting + g->n_owed < most &&
           g->n + g->n_owed < limit && g->n_owed < OWED_MAX) {
        uint64_t id = g->next_id++;
        int rc = g->n_owed > 0 ? TP_LATER : ask(g, id, err);

        if (rc < 0 || obey_all(g, err) != 0)
            return -1;
        if (rc == TP_LATER)
            g->owed[g->n_owed++] = id;
    }
    return 0;
}

static void
start_waiting(struct game *g)
{
    for (size_t i = 0; i < g->n && g->n_waiting > 0; i++)
        if (g->at[i].stage == STAGE_WAITS && g->n_running < g->odds.workers &&
            g->n_started < g->odds.wanted)
            trial_start(g, i);
}

/* The one whose event comes next; g->n: none runs. */
static size_t
next_event(const struct game *g)
{
    size_t next = g->n;

    for (size_t i = 0; i < g->n; i++)
        if (g->at[i].stage == STAGE_RUNS &&
            (next == g->n || g->at[i].next < g->at[next].next))
            next = i;
    return next;
}

/* What has not ended ends as outdated, but goes on running. */
static int
update_space(struct game *g, struct err *err)
{
    for (size_t i = g->since; i < g->n; i++) {
        struct played *p = &g->at[i];

        if (p->stage == STAGE_ENDED)
            continue;
        p->foreign = true;
        p->how = TP_ENDED_OUTDATED;
        p->ended = ++g->n_ended;
        if (pair_ended(&g->pair, p->id, p->s.x, TP_ENDED_OUTDATED, err) != 0 ||
            obey_all(g, err) != 0)
            return -1;
    }
    g->which = !g->which;
    g->since = g->n;
    g->done = false;
    g->counts.updates++;
    if (pair_space(&g->pair, g->setup->spaces[g->which], err) != 0)
        return -1;
    return serve_owed(g, err);
}

static int
happen(struct game *g, struct err *err)
{
    if (dice_chance(&g->dice, g->odds.update) && update_space(g, err) != 0)
        return -1;
    if (!dice_chance(&g->dice, g->odds.reload))
        return 0;
    g->counts.reloads++;
    return pair_reload(&g->pair, err);
}

static int
play(struct game *g, struct err *err)
{
    for (size_t n = 0; n < EVENTS_MAX; n++) {
        size_t i;

        if (request(g, err) != 0)
            return -1;
        start_waiting(g);
        i = next_event(g);
        if (i == g->n && g->n_owed > 0 && !g->done &&
            g->n_started < g->odds.wanted)
            return err_set(err, ERR_PLUGIN,
                           "it stalls: %zu requests are owed, nothing runs",
                           g->n_owed);
        if (i == g->n)
            return 0;
        g->now = g->at[i].next;
        if (trial_advance(g, i, err) != 0 || happen(g, err) != 0)
            return -1;
    }
    return err_set(err, ERR_PLUGIN, "it does not come to an end");
}

int
game_play(const struct game_setup *setup, struct game_counts *counts,
          struct err *err)
{
    struct game g = {.setup = setup, .dice = {dice_mix(setup->seed + 1)}};
    int rc;

    if (setup->odds != NULL)
        g.odds = *setup->odds;
    else
        odds_draw(&g.odds, &g.dice);
    rc = pair_init(&g.pair, setup->plugin, setup->args, setup->seed,
                   setup->spaces[0], err);
    if (rc == 0)
        rc = play(&g, err);
    if (rc == 0 && setup->rules->over != NULL)
        rc = setup->rules->over(&g, err);
    pair_fini(&g.pair);
    free(g.at);
    *counts = g.counts;
    return rc;
}
