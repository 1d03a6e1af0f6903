/* SPDX-License-Identifier: MIT */
/* DESIGN.  What is deleted: of one trial, what the policy does not keep; then,
 * as long as all together are above the quota, those of ended trials from the
 * worst on, then older ones of trials that go on.  The newest of a trial that
 * has not ended, or is paused, always stays, since another attempt may need it,
 * or another trial; where it was saved behind the end of the trial's budget,
 * the one before, too.  One that is deleted is renamed first (trash.h), so
 * that half of it is never given to anybody. */
#include "manager/checkpoints_inside.h"

#include "config/experiment.h"
#include "core/map.h"
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

/* Its row stays until sweep(). */
static void delete (struct checkpoints *c, struct checkpoint *item)
{
    char *path = checkpoints_place_of(c, item->trial, "", item->number);

    if (path != NULL)
        trash_put(&c->trash, path);
    checkpoints_steps_remove(c, item->trial, item->number);
    free(path);
    c->bytes -= item->bytes;
    item->deleted = true;
}

static void
sweep(struct checkpoints *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (!c->items[i].deleted)
            c->items[n++] = c->items[i];
    c->n = n;
}

/* The newest that a trial has, of all and of those within its budget. */
struct newest {
    uint64_t all, within;
};

static void
note(struct newest *newest, const struct checkpoint *item)
{
    if (item->number > newest->all)
        newest->all = item->number;
    if (!item->beyond && item->number > newest->within)
        newest->within = item->number;
}

static bool
has_to_stay(const struct checkpoints *c, const struct checkpoint *item,
            const struct newest *newest)
{
    if (item->ended && !is_pinned(c, item->trial))
        return false;
    return item->number == newest->all || item->number == newest->within ||
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
choose_of(struct checkpoints *c, uint64_t trial, const struct newest *newest,
          struct checkpoint **victim)
{
    bool best = c->policy->keep == CHECKPOINTS_BEST, ended = false;
    size_t n = 0;

    *victim = NULL;
    for (size_t i = 0; i < c->n; i++) {
        struct checkpoint *item = &c->items[i];

        if (item->trial != trial || item->deleted)
            continue;
        ended = item->ended;
        if (has_to_stay(c, item, newest))
            continue;
        n++;
        if (*victim == NULL ||
            (best ? is_worse(c, item, *victim) : is_older(item, *victim)))
            *victim = item;
    }
    return n > allowed(c, ended);
}

static void
prune_trial(struct checkpoints *c, uint64_t trial)
{
    struct newest newest = {0, 0};
    struct checkpoint *victim;

    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == trial)
            note(&newest, &c->items[i]);
    while (choose_of(c, trial, &newest, &victim))
        delete (c, victim);
    sweep(c);
}

/* ---- the quota ---- */

struct candidate {
    const struct checkpoints *c;
    struct checkpoint *item;
};

/* What goes first. */
static int
compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    bool first;

    if (x->item->ended != y->item->ended)
        return x->item->ended ? -1 : 1;
    first = x->item->ended ? is_worse(x->c, x->item, y->item)
                           : is_older(x->item, y->item);
    return first ? -1 : 1;
}

/* Of each trial, by its number; NULL: no memory. */
static struct newest *
find_newest(const struct checkpoints *c, struct map *by_trial)
{
    struct newest *all = calloc(c->n + 1, sizeof *all);
    size_t n = 0;

    for (size_t i = 0; all != NULL && i < c->n; i++) {
        const struct checkpoint *item = &c->items[i];
        struct newest *of = map_get(by_trial, &item->trial, sizeof item->trial);

        if (of == NULL) {
            of = &all[n++];
            if (map_put(by_trial, &item->trial, sizeof item->trial, of) != 0) {
                free(all);
                return NULL;
            }
        }
        note(of, item);
    }
    return all;
}

/* All that may go, in the order in which they do; NULL: no memory. */
static struct candidate *
find_candidates(struct checkpoints *c, size_t *n)
{
    struct candidate *found = calloc(c->n + 1, sizeof *found);
    struct map by_trial = {0};
    struct newest *newest = find_newest(c, &by_trial);

    *n = 0;
    for (size_t i = 0; found != NULL && newest != NULL && i < c->n; i++) {
        struct checkpoint *item = &c->items[i];

        if (!has_to_stay(c, item,
                         map_get(&by_trial, &item->trial, sizeof item->trial)))
            found[(*n)++] = (struct candidate){c, item};
    }
    if (*n > 0)
        qsort(found, *n, sizeof *found, compare);
    map_fini(&by_trial);
    free(newest);
    return found;
}

static void
prune_all(struct checkpoints *c)
{
    struct candidate *found;
    size_t n, i = 0;

    c->crowded = false;
    if (c->policy->quota == 0 || c->bytes <= c->policy->quota)
        return;
    found = find_candidates(c, &n);
    for (; i < n && c->bytes > c->policy->quota; i++)
        delete (c, found[i].item);
    c->crowded = c->bytes > c->policy->quota;
    free(found);
    sweep(c);
}

/* Its folder goes, too, where nothing is in it. */
static void
leave(const struct checkpoints *c, uint64_t trial)
{
    char *home = checkpoints_place(c, trial, NULL);

    if (home != NULL)
        rmdir(home);
    free(home);
}

/* True: it is crowded, and was not before. */
bool
checkpoints_prune(struct checkpoints *c, uint64_t trial)
{
    bool before = c->crowded;

    if (c->deferred)
        return false; /* a trial to come may go on from any of them */
    prune_trial(c, trial);
    leave(c, trial);
    prune_all(c);
    return c->crowded && !before;
}

/* ---- release ---- */

void
checkpoints_delete(struct checkpoints *c, uint64_t trial)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == trial)
            delete (c, &c->items[i]);
    sweep(c);
    leave(c, trial);
}

static void
drop(struct checkpoints *c, struct checkpoint_claim *found)
{
    uint64_t trial = found->trial;

    if (c->deferred || found->pins > 0 || (found->released && !found->ended))
        return;
    if (found->released && c->policy->keep != CHECKPOINTS_ALL)
        checkpoints_delete(c, trial);
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
    for (size_t i = c->n; i > 0; i--)
        if (i <= c->n)
            checkpoints_prune(c, c->items[i - 1].trial);
}
