/* SPDX-License-Identifier: MIT */
#include "sim/rungs.h"

#include "core/err.h"
#include "sim/game.h"

#include <inttypes.h>
#include <math.h>

/* The values that were reported are all there are, each once. */
static bool
is_plain(const struct game *g)
{
    const struct odds *o = game_odds(g);

    return o->late_final == 0 && o->odd == 0 && o->repeats == 0 &&
           o->ignores == 0 && o->gap == 0 && o->final_only == 0 &&
           o->lost == 0 && o->update == 0;
}

/* Whether the advisor has been told of k at this level. */
static bool
was_at(const struct game *g, size_t k, uint64_t level)
{
    const struct played *p = game_at(g, k);

    return p->reached >= level && p->base < level &&
           (p->told == TP_GO || level <= p->told_at);
}

/* How many were at the level before, and how many of them were no worse. */
static void
count(const struct game *g, size_t i, uint64_t level, size_t *n, size_t *above)
{
    double value = game_value(g, i, level - 1);

    *n = *above = 0;
    for (size_t k = 0; k < game_count(g); k++) {
        if (k == i || !was_at(g, k, level))
            continue;
        ++*n;
        *above += !game_better(g, value, game_value(g, k, level - 1));
    }
}

static bool
is_level(const struct rungs *r, uint64_t reached)
{
    for (uint64_t level = r->least; level < r->most; level *= r->eta)
        if (level == reached)
            return true;
    return false;
}

static int
judged_stopping(const struct game *g, size_t i, int decision, struct err *err)
{
    const struct rungs *r = game_setup(g)->rules_arg;
    const struct played *p = game_at(g, i);
    int expected = p->reached >= r->most ? TP_FINISH : TP_GO;
    size_t n, above, most;

    if (!is_plain(g) || p->told != TP_GO)
        return 0;
    if (is_level(r, p->reached)) {
        count(g, i, p->reached, &n, &above);
        most = (n + 1) / (size_t)r->eta;
        if (above >= (most == 0 ? 1 : most))
            expected = TP_STOP;
    }
    if (decision == expected)
        return 0;
    return err_set(err, ERR_PLUGIN,
                   "%" PRIu64 " with %" PRIu64 " used was told %d, not %d",
                   p->id, p->reached, decision, expected);
}

/* At any moment; in order of arrival, equal ones that came later are no
 * better, which is not known here: they count as neither. */
static int
asked_promotion(const struct game *g, size_t i, struct err *err)
{
    const struct rungs *r = game_setup(g)->rules_arg;
    const struct played *p = game_at(g, i);
    const struct played *from = game_find(g, p->s.from);
    uint64_t level = (uint64_t)p->s.budget;
    size_t n = 0, above = 0;
    double value;

    if (level != r->most && !is_level(r, level))
        return err_set(err, ERR_PLUGIN, "%" PRIu64 " has a budget of %g", p->id,
                       p->s.budget);
    if (from == NULL || !is_plain(g))
        return 0;
    level = (uint64_t)from->s.budget;
    value = game_value(g, i, level - 1); /* the same point */
    for (size_t k = 0; k < game_count(g); k++) {
        const struct played *q = game_at(g, k);

        if ((uint64_t)q->s.budget != level || q->reached < level)
            continue;
        n++;
        above += game_better(g, game_value(g, k, level - 1), value);
    }
    if (above < n / r->eta)
        return 0;
    return err_set(err, ERR_PLUGIN,
                   "%" PRIu64 " goes on from a rung of %zu where %zu are "
                   "better",
                   p->id, n, above);
}

const struct rules rules_asha_stopping = {
    .name = "asha, stopping",
    .never_waits = true,
    .endless = true,
    .judged = judged_stopping,
};

const struct rules rules_asha_promotion = {
    .name = "asha, promotion",
    .never_waits = true,
    .endless = true,
    .asked = asked_promotion,
};

const struct rules rules_asha = {
    .name = "asha",
    .never_waits = true,
    .endless = true,
};

const struct rules rules_asha_configurations = {.name = "asha, so many"};
