/* SPDX-License-Identifier: MIT */
/* DESIGN.  What is deleted: of one trial, what the policy does not keep; then,
 * as long as all together are above the quota, those of ended trials from the
 * worst on, then older ones of trials that go on.  The newest of a trial that
 * has not ended, or is paused, always stays, since another attempt may need it,
 * or another trial; where it was saved behind the end of the trial's budget,
 * the one before, too.  One that is deleted is renamed first, so that half of
 * it is never given to anybody. */
#include "manager/checkpoints_inside.h"

#include "config/experiment.h"
#include "core/folder.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- claims ---- */

static struct checkpoint_claim *
find_claim(const struct checkpoints *c, uint64_t trial)
{
    for (size_t i = 0; i < c->n_claims; i++)
        if (c->claims[i].trial == trial)
            return &c->claims[i];
    return NULL;
}

const struct checkpoint_claim *
checkpoints_claim(const struct checkpoints *c, uint64_t trial)
{
    return find_claim(c, trial);
}

/* NULL: no memory; then what is saved stays. */
static struct checkpoint_claim *
claim(struct checkpoints *c, uint64_t trial)
{
    struct checkpoint_claim *found = find_claim(c, trial);

    if (found != NULL)
        return found;
    if (c->n_claims == c->claims_cap) {
        size_t cap = c->claims_cap == 0 ? 16 : 2 * c->claims_cap;
        struct checkpoint_claim *claims =
            realloc(c->claims, cap * sizeof *claims);

        if (claims == NULL)
            return NULL;
        c->claims = claims;
        c->claims_cap = cap;
    }
    found = &c->claims[c->n_claims++];
    *found = (struct checkpoint_claim){.trial = trial};
    return found;
}

static void
forget(struct checkpoints *c, struct checkpoint_claim *found)
{
    *found = c->claims[--c->n_claims];
}

static bool
is_pinned(const struct checkpoints *c, uint64_t trial)
{
    const struct checkpoint_claim *found = find_claim(c, trial);

    return found != NULL && found->pins > 0;
}

/* ---- deletion ---- */

static void delete (struct checkpoints *c, struct checkpoint *item)
{
    char *from = checkpoints_place_of(c, item->trial, "", item->number);
    char *to = checkpoints_place_of(c, item->trial, TRIAL_CHECKPOINT_GONE,
                                    item->number);

    if (from != NULL && to != NULL && rename(from, to) == 0)
        folder_remove(to);
    checkpoints_steps_remove(c, item->trial, item->number);
    free(from);
    free(to);
    c->bytes -= item->bytes;
    memmove(item, item + 1,
            (size_t)(c->items + c->n - item - 1) * sizeof *item);
    c->n--;
}

/* Of all, or of those that are not beyond the budget. */
static bool
is_newest(const struct checkpoints *c, const struct checkpoint *item, bool all)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == item->trial &&
            c->items[i].number > item->number && (all || !c->items[i].beyond))
            return false;
    return true;
}

static bool
has_to_stay(const struct checkpoints *c, const struct checkpoint *item)
{
    if (item->ended && !is_pinned(c, item->trial))
        return false;
    return is_newest(c, item, true) ||
           (!item->beyond && is_newest(c, item, false)) ||
           (c->lockstep && item->given);
}

static bool
is_older(const struct checkpoint *a, const struct checkpoint *b)
{
    return a->trial != b->trial ? a->trial < b->trial : a->number < b->number;
}

/* One without a value is worse than any. */
static bool
is_worse(const struct checkpoints *c, const struct checkpoint *a,
         const struct checkpoint *b)
{
    bool known_a = a->valued && !isnan(a->value);
    bool known_b = b->valued && !isnan(b->value);

    if (known_a != known_b)
        return known_b;
    if (known_a && (a->value < b->value || a->value > b->value))
        return c->minimize ? a->value > b->value : a->value < b->value;
    return is_older(a, b);
}

/* How many of a trial's the policy lets be, apart from one that has to stay. */
static size_t
allowed(const struct checkpoints *c, bool ended)
{
    size_t max = c->policy->max > 0 ? (size_t)c->policy->max : 1;

    switch (c->policy->keep) {
    case CHECKPOINTS_LAST:
        return ended ? max : max - 1;
    case CHECKPOINTS_BEST:
        return max;
    case CHECKPOINTS_ALL:
        if (c->policy->max == 0)
            return SIZE_MAX;
        return ended ? max : max - 1;
    case CHECKPOINTS_NONE:
        break;
    }
    return 0;
}

/* Whether some of the trial's has to go; *victim is the first to. */
static bool
choose_of(struct checkpoints *c, uint64_t trial, struct checkpoint **victim)
{
    bool best = c->policy->keep == CHECKPOINTS_BEST, ended = false;
    size_t n = 0;

    *victim = NULL;
    for (size_t i = 0; i < c->n; i++) {
        struct checkpoint *item = &c->items[i];

        if (item->trial != trial)
            continue;
        ended = item->ended;
        if (has_to_stay(c, item))
            continue;
        n++;
        if (*victim == NULL ||
            (best ? is_worse(c, item, *victim) : is_older(item, *victim)))
            *victim = item;
    }
    return n > allowed(c, ended);
}

/* The first of all that goes for the quota; NULL: all have to stay. */
static struct checkpoint *
choose(const struct checkpoints *c)
{
    struct checkpoint *victim = NULL;

    for (size_t i = 0; i < c->n; i++) {
        struct checkpoint *item = &c->items[i];

        if (has_to_stay(c, item))
            continue;
        if (victim == NULL || (item->ended != victim->ended
                                   ? item->ended
                                   : (item->ended ? is_worse(c, item, victim)
                                                  : is_older(item, victim))))
            victim = item;
    }
    return victim;
}

/* True: it is crowded, and was not before. */
bool
checkpoints_prune(struct checkpoints *c, uint64_t trial)
{
    bool before = c->crowded;
    struct checkpoint *victim;

    while (choose_of(c, trial, &victim))
        delete (c, victim);
    c->crowded = false;
    while (c->policy->quota > 0 && c->bytes > c->policy->quota) {
        victim = choose(c);
        if (victim == NULL) {
            c->crowded = true;
            break;
        }
        delete (c, victim);
    }
    return c->crowded && !before;
}

/* ---- release ---- */

/* Deletes all that the trial has saved. */
static void
delete_all(struct checkpoints *c, uint64_t trial)
{
    char *home = checkpoints_place(c, trial, NULL);

    for (size_t i = c->n; i > 0; i--)
        if (c->items[i - 1].trial == trial)
            delete (c, &c->items[i - 1]);
    if (home != NULL)
        rmdir(home);
    free(home);
}

static void
drop(struct checkpoints *c, struct checkpoint_claim *found)
{
    uint64_t trial = found->trial;

    if (c->deferred || found->pins > 0 || (found->released && !found->ended))
        return;
    if (found->released && c->policy->keep != CHECKPOINTS_ALL)
        delete_all(c, trial);
    forget(c, found);
    checkpoints_prune(c, trial); /* what was pinned need not stay */
}

void
checkpoints_pin(struct checkpoints *c, uint64_t trial)
{
    struct checkpoint_claim *found = c->folder == NULL ? NULL : claim(c, trial);

    if (found != NULL)
        found->pins++;
}

void
checkpoints_unpin(struct checkpoints *c, uint64_t trial, bool done)
{
    struct checkpoint_claim *found =
        c->folder == NULL ? NULL : find_claim(c, trial);

    if (found == NULL)
        return;
    found->pins -= found->pins > 0;
    if (done) /* it waited for the other's end */
        found->released = found->ended = true;
    drop(c, found);
}

void
checkpoints_release(struct checkpoints *c, uint64_t trial, bool ended)
{
    struct checkpoint_claim *found = c->folder == NULL ? NULL : claim(c, trial);

    if (found == NULL)
        return;
    found->released = true;
    found->ended |= ended;
    drop(c, found);
}

void
checkpoints_drop(struct checkpoints *c, uint64_t trial)
{
    struct checkpoint_claim *found = find_claim(c, trial);

    if (found == NULL)
        return;
    found->ended = true;
    drop(c, found);
}

void
checkpoints_settle(struct checkpoints *c)
{
    c->deferred = false;
    for (size_t i = c->n_claims; i > 0; i--)
        drop(c, &c->claims[i - 1]);
}
