/* SPDX-License-Identifier: MIT */
#include "manager/checkpoints_inside.h"

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

char *
checkpoints_place(const struct checkpoints *c, uint64_t trial, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%05llu%s%s", c->folder, (unsigned long long)trial,
                 name == NULL ? "" : "/", name == NULL ? "" : name) < 0)
        return NULL;
    return path;
}

char *
checkpoints_place_of(const struct checkpoints *c, uint64_t trial,
                     const char *prefix, uint64_t number)
{
    char name[64];

    snprintf(name, sizeof name, "%s%llu", prefix, (unsigned long long)number);
    return checkpoints_place(c, trial, name);
}

static struct checkpoint *
find(const struct checkpoints *c, uint64_t trial, uint64_t number)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == trial && c->items[i].number == number)
            return &c->items[i];
    return NULL;
}

struct checkpoint *
checkpoints_add(struct checkpoints *c, uint64_t trial, uint64_t number)
{
    char *path = checkpoints_place_of(c, trial, "", number);
    struct checkpoint *item = find(c, trial, number);
    struct checkpoint_steps steps;

    if (item != NULL || path == NULL || access(path, F_OK) != 0)
        goto out;
    if (c->n == c->cap) {
        size_t cap = c->cap == 0 ? 16 : 2 * c->cap;
        struct checkpoint *items = realloc(c->items, cap * sizeof *items);

        if (items == NULL)
            goto out;
        c->items = items;
        c->cap = cap;
    }
    checkpoints_steps_read(c, trial, number, &steps);
    item = &c->items[c->n++];
    *item = (struct checkpoint){.trial = trial,
                                .number = number,
                                .bytes = folder_bytes(path),
                                .given = steps.given,
                                .beyond = steps.beyond};
    c->bytes += item->bytes;
out:
    free(path);
    return item;
}

/* ---- a trial ---- */

static bool
is_unfinished(const char *name)
{
    static const char *const prefixes[] = {
        TRIAL_CHECKPOINT_SAVING, TRIAL_CHECKPOINT_GONE, TRIAL_CHECKPOINT_GIVEN};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* What tells of one that is not there. */
static bool
is_orphan(const char *home, const char *name)
{
    static const char prefix[] = TRIAL_CHECKPOINT_STEPS;
    char *path;
    bool there;

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    path = file_join(home, name + sizeof prefix - 1);
    there = path != NULL && access(path, F_OK) == 0;
    free(path);
    return !there;
}

void
checkpoints_clean(struct checkpoints *c, const char *home)
{
    DIR *folder = opendir(home);
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        char *path = is_unfinished(name) || is_orphan(home, name)
                         ? file_join(home, name)
                         : NULL;

        if (path != NULL)
            trash_put(&c->trash, path);
        free(path);
    }
    if (folder != NULL)
        closedir(folder);
}

static void
note_steps(struct checkpoints *c, const struct trial *t,
           struct checkpoint *item, uint64_t reports)
{
    struct checkpoint_steps steps;

    if (checkpoints_steps_read(c, t->number, item->number, &steps))
        return; /* it is told again */
    steps.steps = t->step + reports;
    steps.given = false;
    steps.beyond = t->budget > 0 && (double)steps.steps > t->budget;
    item->beyond = steps.beyond;
    checkpoints_steps_write(c, t->number, item->number, &steps, NULL);
}

bool
checkpoints_saved(struct checkpoints *c, const struct trial *t, uint64_t number,
                  uint64_t reports)
{
    struct checkpoint *item;

    if (c->folder == NULL)
        return false;
    item = checkpoints_add(c, t->number, number);
    if (item == NULL)
        return false;
    note_steps(c, t, item, reports);
    item->valued = t->has_read;
    item->value = t->read;
    return checkpoints_prune(c, t->number);
}

/* What the trial saved and did not come to tell. */
static void
take_stock(struct checkpoints *c, uint64_t trial, const char *home)
{
    DIR *folder = opendir(home);
    struct dirent *entry;
    uint64_t number;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &number))
            checkpoints_add(c, trial, number);
    if (folder != NULL)
        closedir(folder);
}

void
checkpoints_known(struct checkpoints *c, uint64_t trial, bool paused)
{
    char *home = c->folder == NULL ? NULL : checkpoints_place(c, trial, NULL);

    if (home == NULL)
        return;
    checkpoints_clean(c, home);
    if (rmdir(home) != 0 && errno != ENOENT) {
        take_stock(c, trial, home);
        for (size_t i = 0; i < c->n; i++)
            if (c->items[i].trial == trial)
                c->items[i].ended = !paused;
        checkpoints_prune(c, trial);
        rmdir(home);
    }
    checkpoints_drop(c, trial);
    free(home);
}

/* It was ended between the saving and the telling: all reports count. */
static void
note_untold(struct checkpoints *c, const struct trial *t)
{
    uint64_t reports = t->metrics.intermediates > t->matches
                           ? t->metrics.intermediates
                           : t->matches;
    char *home = checkpoints_place(c, t->number, NULL);

    if (home != NULL)
        take_stock(c, t->number, home);
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == t->number)
            note_steps(c, t, &c->items[i], reports);
    free(home);
}

void
checkpoints_ended(struct checkpoints *c, const struct trial *t)
{
    if (c->folder != NULL)
        note_untold(c, t);
    checkpoints_known(c, t->number, t->state == TRIAL_PAUSED);
}

void
checkpoints_over(struct checkpoints *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->items[i].ended = true;
    checkpoints_settle(c);
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
            home = checkpoints_place(c, trial, NULL);
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
    *c = (struct checkpoints){
        .policy = policy, .trash = TRASH_CLOSED, .minimize = minimize};
    c->folder = file_join(experiment_folder, TRIAL_CHECKPOINTS);
    if (c->folder == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (file_make_folder(c->folder, err) != 0)
        return -1;
    if (trash_open(&c->trash, c->folder, err) != 0)
        return -1;
    take_all(c);
    return 0;
}

void
checkpoints_close(struct checkpoints *c)
{
    if (c->folder != NULL)
        trash_close(&c->trash);
    free(c->folder);
    free(c->items);
    free(c->claims);
    *c = (struct checkpoints){0};
}
