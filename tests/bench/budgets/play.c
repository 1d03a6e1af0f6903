/* SPDX-License-Identifier: MIT */
#include "play.h"

#include "judge.h"
#include "sim/dice.h"
#include "sim/object.h"

#include "core/err.h"
#include "tunepipe/assessor.h"
#include "numerics/elementary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trial {
    uint64_t id;
    struct suggested s;
    bool runs;
    double observed[CURVES_MAX], truth[CURVES_MAX];
    uint64_t step, limit; /* the next one; where it ends by itself */
    double now, pace;     /* of the next step; time of a step */
    void *slot;           /* the assessor's */
};

struct game {
    const struct player *player;
    struct curves *curves;
    struct object *object;
    struct judge *judge;
    struct trial **at; /* all there were: others go on from them */
    size_t n, running, workers;
    uint64_t next_id, owed[64];
    size_t n_owed;
    bool done;
    double now, best, best_true;
    uint64_t used;
    struct dice dice;
    struct played_out *out;
};

static struct trial *
find(const struct game *g, uint64_t id)
{
    for (size_t i = g->n; i-- > 0;)
        if (g->at[i]->id == id)
            return g->at[i];
    return NULL;
}

static int
start(struct game *g, uint64_t id, const struct suggested *s, struct err *err)
{
    const struct trial *from = s->from == TP_NO_ID ? NULL : find(g, s->from);
    struct trial *t = calloc(1, sizeof *t);
    double speed = dice_unit(&g->dice) + dice_unit(&g->dice) - 1;

    g->at = realloc(g->at, (g->n + 1) * sizeof *g->at);
    if (t == NULL || g->at == NULL)
        exit(1);
    g->at[g->n++] = t;
    t->id = id;
    t->s = *s;
    t->runs = true;
    t->limit = g->curves->longest;
    if (s->budget > 0 && s->budget < (double)t->limit)
        t->limit = (uint64_t)ceil(s->budget);
    if (from != NULL && g->player->extensions)
        t->step = from->step;
    t->pace = num_exp(0.75 * speed);
    t->now = g->now + t->pace;
    g->running++;
    g->out->started++;
    g->out->points += from == NULL;
    return curves_at(g->curves, s->x, t->observed, t->truth, err);
}

static int
ask(struct game *g, uint64_t id, int *rc, struct err *err)
{
    struct suggested s;

    if (object_ask(g->object, id, &s, err) != 0)
        return -1;
    *rc = s.rc;
    g->done = g->done || s.rc == TP_DONE;
    return s.rc == TP_OK ? start(g, id, &s, err) : 0;
}

static int
serve_owed(struct game *g, struct err *err)
{
    int rc = TP_OK;

    while (g->n_owed > 0 && rc != TP_LATER) {
        if (ask(g, g->owed[0], &rc, err) != 0)
            return -1;
        if (rc != TP_LATER)
            memmove(g->owed, g->owed + 1, --g->n_owed * sizeof *g->owed);
    }
    return 0;
}

static int
request(struct game *g, struct err *err)
{
    while (!g->done && g->running + g->n_owed < g->workers) {
        uint64_t id = g->next_id++;
        int rc = TP_LATER;

        if (g->n_owed == 0 && ask(g, id, &rc, err) != 0)
            return -1;
        if (rc == TP_LATER)
            g->owed[g->n_owed++] = id;
    }
    return 0;
}

static int
end(struct game *g, struct trial *t, int how, struct err *err)
{
    static const int of_assessors[] = {
        [TP_ENDED_SUCCEEDED] = TP_TRIAL_SUCCEEDED,
        [TP_ENDED_STOPPED] = TP_TRIAL_STOPPED,
    };

    t->runs = false;
    g->running--;
    g->out->stopped += how == TP_ENDED_STOPPED;
    if (g->judge != NULL && how != TP_ENDED_PAUSED)
        judge_ended(g->judge, t->id, t->observed, t->step, &t->slot,
                    of_assessors[how]);
    if (object_ended(g->object, t->id, t->s.x, how, err) != 0)
        return -1;
    return serve_owed(g, err);
}

static int
tell(struct game *g, const struct trial *t, int how, struct err *err)
{
    struct tp_result result = {.how = how, .value = t->observed[t->step - 1]};

    if (how == TP_RESULT_STOPPED)
        result.step = t->step - 1;
    if (object_tell(g->object, t->id, t->s.x, &result, err) != 0)
        return -1;
    return serve_owed(g, err);
}

static int
complete(struct game *g, struct trial *t, struct err *err)
{
    g->out->completed++;
    if (tell(g, t, TP_RESULT_FINAL, err) != 0)
        return -1;
    return end(g, t, TP_ENDED_SUCCEEDED, err);
}

/* What an assessor stopped is told with its latest value, as in our manager;
 * what an advisor stopped, it knows. */
static int
stop(struct game *g, struct trial *t, struct err *err)
{
    if (g->judge != NULL && tell(g, t, TP_RESULT_STOPPED, err) != 0)
        return -1;
    return end(g, t, TP_ENDED_STOPPED, err);
}

static int
judge(struct game *g, struct trial *t, int *decision, struct err *err)
{
    const struct tp_metric m = {.value = t->observed[t->step - 1],
                                .step = t->step - 1};
    bool stops = false;

    if (object_metric(g->object, t->id, t->s.x, &m, decision, err) != 0)
        return -1;
    if (g->judge != NULL && judge_assess(g->judge, t->id, t->observed, t->step,
                                         &t->slot, &stops, err) != 0)
        return -1;
    if (stops)
        *decision = TP_STOP;
    return 0;
}

static struct trial *
next_event(const struct game *g)
{
    struct trial *next = NULL;

    for (size_t i = 0; i < g->n; i++)
        if (g->at[i]->runs && (next == NULL || g->at[i]->now < next->now))
            next = g->at[i];
    return next;
}

static void
note(struct game *g, const struct trial *t)
{
    if (t->observed[t->step - 1] < g->best) {
        g->best = t->observed[t->step - 1];
        g->best_true = t->truth[t->step - 1];
    }
    if (++g->used % g->curves->longest == 0)
        g->out->best[g->used / g->curves->longest - 1] = g->best_true;
}

/* What is left is not spent. */
static void
note_rest(struct game *g, uint64_t epochs)
{
    for (; g->used < epochs; g->used++)
        g->out->best[g->used / g->curves->longest] = g->best_true;
}

/* One epoch of one trial. */
static int
step(struct game *g, struct trial *t, struct err *err)
{
    int decision;

    g->now = t->now;
    t->now += t->pace;
    if (t->step >= t->limit) /* it went on from more than it may have */
        return complete(g, t, err);
    t->step++;
    note(g, t);
    if (judge(g, t, &decision, err) != 0)
        return -1;
    if (decision == TP_STOP)
        return stop(g, t, err);
    if (decision == TP_PAUSE && g->player->extensions)
        return end(g, t, TP_ENDED_PAUSED, err);
    if (t->step >= t->limit || (decision == TP_FINISH && g->player->extensions))
        return complete(g, t, err);
    return serve_owed(g, err);
}

static int
spend(struct game *g, uint64_t epochs, struct err *err)
{
    while (g->used < epochs) {
        struct trial *t;

        if (request(g, err) != 0)
            return -1;
        t = next_event(g);
        if (t == NULL && g->done) { /* it has had enough */
            note_rest(g, epochs);
            return 0;
        }
        if (t == NULL)
            return err_set(err, ERR_PLUGIN,
                           "nothing runs after %" PRIu64 " epochs", g->used);
        if (step(g, t, err) != 0)
            return -1;
    }
    return 0;
}

int
play(const struct player *p, struct curves *c, size_t workers, size_t full,
     struct played_out *out, struct err *err)
{
    struct game g = {.player = p,
                     .curves = c,
                     .workers = workers,
                     .best = INFINITY,
                     .best_true = INFINITY,
                     .dice = {dice_mix(c->seed + 7)},
                     .out = out};
    int rc = -1;

    memset(out, 0, sizeof *out);
    g.object = object_new(p->tuner, p->args, c->seed, c->space, err);
    if (g.object != NULL && p->assessor != NULL)
        g.judge = judge_new(p->assessor, p->assessor_args, err);
    if (g.object != NULL && (p->assessor == NULL) == (g.judge == NULL))
        rc = spend(&g, full * c->longest, err);
    for (size_t i = 0; i < g.n; i++)
        free(g.at[i]);
    free(g.at);
    judge_free(g.judge);
    object_free(g.object);
    return rc;
}
