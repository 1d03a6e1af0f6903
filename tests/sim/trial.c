/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "sim/game_state.h"
#include "space/space.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* By itself it gets so far; a budget that is not whole is used up by the
 * step that passes it. */
static uint64_t
length(const struct game *g, const struct played *p)
{
    if (p->ignores || p->s.budget <= 0)
        return g->setup->longest;
    return (uint64_t)ceil(p->s.budget);
}

void
trial_draw(struct game *g, size_t i)
{
    const struct odds *o = &g->odds;
    struct played *p = &g->at[i];
    const struct {
        enum fate fate;
        double chance;
    } fates[] = {
        {FATE_FAILS, o->fails},           {FATE_KILLED, o->killed},
        {FATE_SILENT, o->silent},         {FATE_UNFINISHED, o->unfinished},
        {FATE_FINAL_ONLY, o->final_only},
    };

    for (size_t k = 0; k < sizeof fates / sizeof *fates; k++)
        if (p->fate == FATE_RUNS && dice_chance(&g->dice, fates[k].chance))
            p->fate = fates[k].fate;
    p->ignores = dice_chance(&g->dice, o->ignores);
    p->lost = dice_chance(&g->dice, o->lost);
    p->late_final = dice_chance(&g->dice, o->late_final);
    p->fate_step = dice_below(&g->dice, length(g, p) + 1);
    if (dice_chance(&g->dice, o->repeats))
        p->repeats_at = 1 + dice_below(&g->dice, length(g, p));
    p->speed = exp(o->spread * 4 * (dice_unit(&g->dice) - 0.5));
}

static void
wait_for_next(struct game *g, struct played *p)
{
    p->next = g->now + p->speed * (0.5 + dice_unit(&g->dice));
}

void
trial_start(struct game *g, size_t i)
{
    struct played *p = &g->at[i];
    const struct played *parent = game_find(g, p->s.from);

    p->stage = STAGE_RUNS;
    if (g->odds.extensions && parent != NULL && !p->lost)
        p->base = parent->step;
    p->step = p->base;
    p->fate_step += p->base;
    wait_for_next(g, p);
    g->n_waiting--;
    g->n_running++;
    g->n_started++;
}

/* Its learning curve: depends on its point alone, comes down to some level at
 * some pace, and is often the same as another one's. */
static double
curve(const struct played *p, uint64_t step)
{
    uint64_t key = 0, bits;
    double level, pace;

    for (size_t i = 0; i < p->s.n_dims; i++) {
        memcpy(&bits, &p->s.x[i], sizeof bits);
        key = dice_mix(key ^ bits);
    }
    level = (double)(key % 64) / 64;
    pace = 1 + (double)(key / 64 % 8);
    return level + (1 - level) / (1 + (double)step / pace);
}

double
game_value(const struct game *g, size_t i, uint64_t step)
{
    double v = curve(&g->at[i], step);

    return g->setup->maximize ? 1 - v : v;
}

static double
value_at(struct game *g, const struct played *p, uint64_t step)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    double v = curve(p, step);

    if (dice_chance(&g->dice, g->odds.odd))
        return odd[dice_below(&g->dice, 3)];
    return g->setup->maximize ? 1 - v : v;
}

static int
tell_final(struct game *g, struct played *p, double value, struct err *err)
{
    const struct tp_result result = {.how = TP_RESULT_FINAL, .value = value};

    p->has_value = p->has_final = true;
    p->value = value;
    if (pair_tell(&g->pair, p->id, p->s.x, &result, err) != 0)
        return -1;
    return game_after(g, err);
}

/* What was suggested for a space before tells the new one something, too. */
static int
tell_import(struct game *g, const struct played *p, struct err *err)
{
    const struct tp_result result = {.how = TP_RESULT_IMPORTED,
                                     .value = value_at(g, p, p->step)};
    double x[SIM_DIMS];

    space_sample(g->setup->spaces[g->which], g->setup->seed, ~p->id, x);
    if (pair_tell(&g->pair, TP_NO_ID, x, &result, err) != 0)
        return -1;
    return game_after(g, err);
}

static int
end(struct game *g, size_t i, int how, struct err *err)
{
    struct played *p = &g->at[i];

    p->stage = STAGE_ENDED;
    g->n_running--;
    g->counts.paused += how == TP_ENDED_PAUSED;
    g->counts.stopped += how == TP_ENDED_STOPPED;
    g->counts.failed += how == TP_ENDED_FAILED || how == TP_ENDED_CANCELLED;
    if (p->foreign)
        return 0;
    p->how = how;
    p->ended = ++g->n_ended;
    if (pair_ended(&g->pair, p->id, p->s.x, how, err) != 0)
        return -1;
    return game_after(g, err);
}

/* With a result, which may come behind the end. */
static int
end_with(struct game *g, size_t i, double value, struct err *err)
{
    bool late = g->at[i].late_final;

    if (g->at[i].foreign) {
        if (end(g, i, TP_ENDED_SUCCEEDED, err) != 0)
            return -1;
        return tell_import(g, &g->at[i], err);
    }
    if (!late && tell_final(g, &g->at[i], value, err) != 0)
        return -1;
    if (end(g, i, TP_ENDED_SUCCEEDED, err) != 0)
        return -1;
    return late ? tell_final(g, &g->at[i], value, err) : 0;
}

static int
end_as_told(struct game *g, size_t i, struct err *err)
{
    const struct played *p = &g->at[i];

    if (p->told == TP_PAUSE)
        return end(g, i, TP_ENDED_PAUSED, err);
    if (p->told == TP_STOP)
        return end(g, i, TP_ENDED_STOPPED, err);
    g->counts.finished++;
    if (!p->has_value)
        return end(g, i, TP_ENDED_SUCCEEDED, err);
    return end_with(g, i, p->value, err);
}

static int
end_by_itself(struct game *g, size_t i, struct err *err)
{
    const struct played *p = &g->at[i];

    if (p->fate == FATE_SILENT || p->fate == FATE_UNFINISHED)
        return end(g, i, TP_ENDED_SUCCEEDED, err);
    return end_with(g, i, value_at(g, p, p->step == 0 ? 0 : p->step - 1), err);
}

static int
check_judged(const struct game *g, size_t i, int decision, struct err *err)
{
    const struct played *p = &g->at[i];
    const struct rules *rules = g->setup->rules;

    if (p->s.budget > 0 && (double)p->reached >= p->s.budget &&
        decision == TP_GO)
        return err_set(err, ERR_PLUGIN,
                       "%" PRIu64 " goes on behind its budget of %g", p->id,
                       p->s.budget);
    if (rules->judged == NULL)
        return 0;
    return rules->judged(g, i, decision, err);
}

void
trial_told(struct played *p, int decision, uint64_t left)
{
    p->told = decision;
    p->told_at = p->reached;
    p->left = left;
}

static int
report(struct game *g, size_t i, struct err *err)
{
    struct played *p = &g->at[i];
    const struct tp_metric m = {.value = value_at(g, p, p->step),
                                .step = p->step,
                                .attempt = p->attempt};
    int decision;

    p->has_value = true;
    p->value = m.value;
    p->reached = m.step + 1;
    g->counts.metrics++;
    p->step++;
    if (pair_metric(&g->pair, p->id, p->s.x, &m, &decision, err) != 0 ||
        check_judged(g, i, decision, err) != 0)
        return -1;
    if (p->told == TP_GO && (decision == TP_STOP || g->odds.extensions)) {
        trial_told(p, decision, dice_below(&g->dice, 3));
    }
    return game_after(g, err);
}

static bool
is_heard(struct game *g, const struct played *p)
{
    return !p->foreign && p->fate != FATE_SILENT &&
           p->fate != FATE_FINAL_ONLY && !dice_chance(&g->dice, g->odds.gap);
}

int
trial_advance(struct game *g, size_t i, struct err *err)
{
    struct played *p = &g->at[i];

    if (p->told != TP_GO && p->left-- == 0)
        return end_as_told(g, i, err);
    wait_for_next(g, p);
    if (p->step >= p->fate_step && p->fate == FATE_FAILS)
        return end(g, i, TP_ENDED_FAILED, err);
    if (p->step >= p->fate_step && p->fate == FATE_KILLED)
        return end(g, i, TP_ENDED_CANCELLED, err);
    if (p->repeats_at > 0 && p->step >= p->repeats_at) {
        p->repeats_at = 0;
        p->attempt++;
        p->step = p->base;
    }
    if (p->step >= length(g, p))
        return end_by_itself(g, i, err);
    if (is_heard(g, p))
        return report(g, i, err);
    p->step++;
    return 0;
}
