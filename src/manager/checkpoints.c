/* SPDX-License-Identifier: MIT */
/* DESIGN.  What is deleted: of one trial, what the policy does not keep; then,
 * as long as all together are above the quota, those of ended trials from the
 * worst on, then older ones of trials that go on.  The newest of a trial that
 * has not ended always stays, since another attempt may need it.  One that is
 * deleted is renamed first, so that half of it is never given to anybody. */
#include "manager/checkpoints.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/number.h"
#include "manager/trial.h"
#include "trial/checkpoint.h"
#include "trial/files.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The trial's folder, or, where a name is given, what is in it. */
static char *
place(const struct checkpoints *c, uint64_t trial, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%05llu%s%s", c->folder, (unsigned long long)trial,
                 name == NULL ? "" : "/", name == NULL ? "" : name) < 0)
        return NULL;
    return path;
}

static char *
place_of(const struct checkpoints *c, uint64_t trial, const char *prefix,
         uint64_t number)
{
    char name[64];

    snprintf(name, sizeof name, "%s%llu", prefix, (unsigned long long)number);
    return place(c, trial, name);
}

static struct checkpoint *
find(const struct checkpoints *c, uint64_t trial, uint64_t number)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == trial && c->items[i].number == number)
            return &c->items[i];
    return NULL;
}

/* NULL: there is no such folder, or no memory. */
static struct checkpoint *
add(struct checkpoints *c, uint64_t trial, uint64_t number)
{
    char *path = place_of(c, trial, "", number);
    struct checkpoint *item = NULL;

    if (path == NULL || access(path, F_OK) != 0)
        goto out;
    if (c->n == c->cap) {
        size_t cap = c->cap == 0 ? 16 : 2 * c->cap;
        struct checkpoint *items = realloc(c->items, cap * sizeof *items);

        if (items == NULL)
            goto out;
        c->items = items;
        c->cap = cap;
    }
    item = &c->items[c->n++];
    *item = (struct checkpoint){
        .trial = trial, .number = number, .bytes = folder_bytes(path)};
    c->bytes += item->bytes;
out:
    free(path);
    return item;
}

/* ---- deletion ---- */

static void delete (struct checkpoints *c, struct checkpoint *item)
{
    char *from = place_of(c, item->trial, "", item->number);
    char *to = place_of(c, item->trial, TRIAL_CHECKPOINT_GONE, item->number);

    if (from != NULL && to != NULL && rename(from, to) == 0)
        folder_remove(to);
    free(from);
    free(to);
    c->bytes -= item->bytes;
    memmove(item, item + 1,
            (size_t)(c->items + c->n - item - 1) * sizeof *item);
    c->n--;
}

static bool
is_newest(const struct checkpoints *c, const struct checkpoint *item)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == item->trial &&
            c->items[i].number > item->number)
            return false;
    return true;
}

static bool
has_to_stay(const struct checkpoints *c, const struct checkpoint *item)
{
    return !item->ended && is_newest(c, item);
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
static bool
prune(struct checkpoints *c, uint64_t trial)
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

/* ---- a trial ---- */

static bool
is_unfinished(const char *name)
{
    static const char *const prefixes[] = {TRIAL_CHECKPOINT_SAVING,
                                           TRIAL_CHECKPOINT_GONE};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Whatever no checkpoint is, in a trial's folder. */
static void
clean(const char *home)
{
    DIR *folder = opendir(home);
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *path = is_unfinished(entry->d_name)
                         ? file_join(home, entry->d_name)
                         : NULL;

        if (path != NULL)
            folder_remove(path);
        free(path);
    }
    if (folder != NULL)
        closedir(folder);
}

int
checkpoints_begin(const struct checkpoints *c, struct trial *t, struct err *err)
{
    char *home = place(c, t->number, NULL), *saving = checkpoints_saving(c, t);
    int rc = 0;

    t->restore = 0;
    if (home == NULL || saving == NULL) {
        rc = err_set(err, ERR_MEMORY, "out of memory");
    } else if (mkdir(home, 0700) != 0 && errno != EEXIST) {
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", home);
    } else {
        if (t->attempt > 0) { /* else nobody was there before */
            clean(home);
            t->restore = checkpoint_newest(home);
        }
        if (mkdir(saving, 0700) != 0 && errno != EEXIST)
            rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the folder",
                           saving);
    }
    free(saving);
    free(home);
    return rc;
}

char *
checkpoints_saving(const struct checkpoints *c, const struct trial *t)
{
    return place_of(c, t->number, TRIAL_CHECKPOINT_SAVING, t->attempt);
}

char *
checkpoints_restore(const struct checkpoints *c, const struct trial *t)
{
    return t->restore > 0 ? place_of(c, t->number, "", t->restore) : NULL;
}

bool
checkpoints_saved(struct checkpoints *c, const struct trial *t, uint64_t number)
{
    struct checkpoint *item;

    if (c->folder == NULL)
        return false;
    item = find(c, t->number, number);
    if (item == NULL)
        item = add(c, t->number, number);
    if (item == NULL)
        return false;
    item->valued = t->has_read;
    item->value = t->read;
    return prune(c, t->number);
}

/* What the trial saved and did not come to tell. */
static void
take_stock(struct checkpoints *c, uint64_t trial, const char *home)
{
    DIR *folder = opendir(home);
    struct dirent *entry;
    uint64_t number;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &number) &&
            find(c, trial, number) == NULL)
            add(c, trial, number);
    if (folder != NULL)
        closedir(folder);
}

void
checkpoints_ended(struct checkpoints *c, uint64_t trial)
{
    char *home = c->folder == NULL ? NULL : place(c, trial, NULL);

    if (home == NULL)
        return;
    clean(home);
    if (rmdir(home) != 0 && errno != ENOENT) {
        take_stock(c, trial, home);
        for (size_t i = 0; i < c->n; i++)
            if (c->items[i].trial == trial)
                c->items[i].ended = true;
        prune(c, trial);
        rmdir(home);
    }
    free(home);
}

/* ---- all ---- */

static void
take_all(struct checkpoints *c)
{
    DIR *folder = opendir(c->folder);
    struct dirent *entry;
    uint64_t trial;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *home = NULL;

        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &trial))
            home = place(c, trial, NULL);
        if (home != NULL)
            take_stock(c, trial, home);
        free(home);
    }
    if (folder != NULL)
        closedir(folder);
}

int
checkpoints_open(struct checkpoints *c, const char *experiment_folder,
                 const struct checkpoint_policy *policy, bool minimize,
                 struct err *err)
{
    *c = (struct checkpoints){.policy = policy, .minimize = minimize};
    c->folder = file_join(experiment_folder, TRIAL_CHECKPOINTS);
    if (c->folder == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (file_make_folder(c->folder, err) != 0)
        return -1;
    take_all(c);
    return 0;
}

void
checkpoints_close(struct checkpoints *c)
{
    free(c->folder);
    free(c->items);
    *c = (struct checkpoints){0};
}
