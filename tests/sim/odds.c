/* SPDX-License-Identifier: MIT */
#include "sim/odds.h"

#include "sim/dice.h"

static double
sometimes(struct dice *dice, double most)
{
    return dice_chance(dice, 0.5) ? 0 : most * dice_unit(dice);
}

static void
draw_trouble(struct odds *odds, struct dice *dice)
{
    odds->fails = sometimes(dice, 0.4);
    odds->killed = sometimes(dice, 0.3);
    odds->silent = sometimes(dice, 0.2);
    odds->unfinished = sometimes(dice, 0.3);
    odds->final_only = sometimes(dice, 0.3);
    odds->repeats = sometimes(dice, 0.3);
    odds->ignores = sometimes(dice, 0.5);
    odds->lost = sometimes(dice, 0.2);
    odds->late_final = sometimes(dice, 0.2);
    odds->gap = sometimes(dice, 0.3);
    odds->odd = sometimes(dice, 0.1);
    if (dice_chance(dice, 0.1)) /* nothing works any more */
        odds->fails = 1;
}

void
odds_draw(struct odds *odds, struct dice *dice)
{
    *odds = (struct odds){
        .workers = 1 + dice_below(dice, dice_chance(dice, 0.5) ? 4 : 24),
        .prefetch = dice_chance(dice, 0.7) ? 0 : dice_below(dice, 8),
        .wanted = 10 + dice_below(dice, 140),
        .extensions = dice_chance(dice, 0.6),
        .spread = dice_unit(dice),
        .reload = dice_chance(dice, 0.5) ? 0.01 : 0,
        .update = dice_chance(dice, 0.1) ? 0.005 : 0,
    };
    if (dice_chance(dice, 0.75))
        draw_trouble(odds, dice);
}
