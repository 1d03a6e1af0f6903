/* SPDX-License-Identifier: MIT */
/* DESIGN.  What another trial saved becomes this one's own, as its NUMBER 1,
 * before the first attempt begins: behind that an attempt goes on from the
 * newest of its trial, whoever saved it.  It is made under another name and
 * renamed, so that it is there, with its steps, or is made again. */
#include "manager/checkpoints_inside.h"

#include "core/err.h"
#include "core/folder.h"
#include "core/number.h"
#include "manager/trial.h"
#include "trial/checkpoint.h"
#include "trial/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIVEN_NUMBER 1

/* Of one that nobody was told of yet it is not known how far it was. */
static int
worth(bool known, const struct checkpoint_steps *steps)
{
    return !known ? 0 : steps->beyond ? 1 : 2;
}

/* The newest that its budget has paid for; without such a one, the newest. */
static uint64_t
choose(const struct checkpoints *c, uint64_t trial, const char *home,
       struct checkpoint_steps *steps)
{
    DIR *all = opendir(home);
    struct dirent *entry;
    uint64_t best = 0, number;
    int best_worth = -1;

    *steps = (struct checkpoint_steps){0};
    while (all != NULL && (entry = readdir(all)) != NULL) {
        struct checkpoint_steps of;
        int this_worth;

        if (!number_parse_u64(entry->d_name, strlen(entry->d_name), &number))
            continue;
        this_worth = worth(checkpoints_steps_read(c, trial, number, &of), &of);
        if (this_worth > best_worth ||
            (this_worth == best_worth && number > best)) {
            best_worth = this_worth;
            best = number;
            *steps = of;
        }
    }
    if (all != NULL)
        closedir(all);
    return best;
}

/* What is deleted meanwhile is renamed first: then it is not there any more. */
static int
check_there(const char *from, struct err *err)
{
    return access(from, F_OK) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "%s: went while it was copied",
                           from);
}

/* Of a promoted trial nobody writes to the same files: it is the same one. */
static int
copy(const struct trial *t, const char *from, const char *to, struct err *err)
{
    if (t->origin.how == ORIGIN_PROMOTED && folder_link(from, to, NULL) == 0)
        return 0;
    folder_remove(to);
    return folder_copy(from, to, err);
}

static int
give(struct checkpoints *c, const struct trial *t, const char *from,
     const struct checkpoint_steps *steps, struct err *err)
{
    char *tmp = checkpoints_place_of(c, t->number, TRIAL_CHECKPOINT_GIVEN,
                                     GIVEN_NUMBER);
    char *to = checkpoints_place_of(c, t->number, "", GIVEN_NUMBER);
    int rc = tmp == NULL || to == NULL
                 ? err_set(err, ERR_MEMORY, "out of memory")
                 : 0;

    if (rc == 0)
        rc = copy(t, from, tmp, err);
    if (rc == 0)
        rc = check_there(from, err);
    if (rc == 0)
        rc = folder_sync(tmp, err);
    if (rc == 0)
        rc = checkpoints_steps_write(c, t->number, GIVEN_NUMBER, steps, err);
    if (rc == 0 && rename(tmp, to) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot become %s", tmp, to);
    if (rc == 0)
        rc = folder_sync(to, err);
    if (rc == 0)
        checkpoints_add(c, t->number, GIVEN_NUMBER);
    else if (tmp != NULL)
        folder_remove(tmp);
    free(tmp);
    free(to);
    return rc;
}

/* The checkpoint, to be freed; NULL: there is none, or no memory. */
static char *
choose_from(const struct checkpoints *c, const struct trial *t,
            struct checkpoint_steps *steps)
{
    char *home = checkpoints_place(c, t->origin.from, NULL);
    uint64_t number = home == NULL ? 0 : choose(c, t->origin.from, home, steps);

    free(home);
    return number == 0 ? NULL
                       : checkpoints_place_of(c, t->origin.from, "", number);
}

static int
make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return 0;
    return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", path);
}

int
checkpoints_inherit(struct checkpoints *c, const struct trial *t,
                    struct err *err)
{
    char *home = checkpoints_place(c, t->number, NULL);
    struct checkpoint_steps steps;
    char *from = choose_from(c, t, &steps);
    int rc = 0;

    steps.given = true;
    steps.beyond = false;
    if (home == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (from != NULL && (rc = make_folder(home, err)) == 0)
        rc = give(c, t, from, &steps, err); /* else from the beginning */
    free(from);
    free(home);
    return rc;
}

/* Whether the trial is to be given anything, and has not been. */
static bool
is_heir(const struct trial *t, const char *home)
{
    return t->origin.how != ORIGIN_NONE && !t->settled &&
           checkpoint_newest(home) == 0;
}

uint64_t
checkpoints_to_copy(const struct checkpoints *c, const struct trial *t)
{
    char *home = c->folder == NULL || t->origin.how != ORIGIN_CLONED
                     ? NULL
                     : checkpoints_place(c, t->number, NULL);
    struct checkpoint_steps steps;
    char *from = NULL;
    uint64_t bytes;

    if (home != NULL && is_heir(t, home))
        from = choose_from(c, t, &steps);
    bytes = from == NULL ? 0 : folder_bytes(from);
    free(from);
    free(home);
    return bytes;
}

void
checkpoints_inherited(struct checkpoints *c, const struct trial *t)
{
    checkpoints_add(c, t->number, GIVEN_NUMBER);
}

/* What an earlier attempt saved, but in lock step, where each attempt reports
 * all that the first one did. */
static uint64_t
choose_own(const struct checkpoints *c, const struct trial *t, const char *home)
{
    struct checkpoint_steps first;

    if (!c->lockstep && t->attempt > 0)
        return checkpoint_newest(home);
    return checkpoints_steps_read(c, t->number, GIVEN_NUMBER, &first) &&
                   first.given
               ? GIVEN_NUMBER
               : 0;
}

static int
go_on(struct checkpoints *c, struct trial *t, const char *home, struct err *err)
{
    struct checkpoint_steps steps;

    checkpoints_clean(c, home);
    if (is_heir(t, home) && checkpoints_inherit(c, t, err) != 0)
        return -1;
    t->restore = choose_own(c, t, home);
    if (t->restore == 0)
        return 0;
    if (!checkpoints_steps_read(c, t->number, t->restore, &steps)) {
        steps.steps = checkpoints_steps_find(c, t, t->restore);
        if (checkpoints_steps_write(c, t->number, t->restore, &steps, err) != 0)
            return -1;
    }
    t->step = steps.steps;
    return 0;
}

int
checkpoints_begin(struct checkpoints *c, struct trial *t, struct err *err)
{
    char *home = checkpoints_place(c, t->number, NULL);
    char *saving = checkpoints_saving(c, t);
    int rc = home == NULL || saving == NULL
                 ? err_set(err, ERR_MEMORY, "out of memory")
                 : make_folder(home, err);

    t->restore = t->step = 0;
    if (rc == 0 && (t->attempt > 0 || t->origin.how != ORIGIN_NONE))
        rc = go_on(c, t, home, err); /* else nobody was there before */
    if (rc == 0)
        rc = make_folder(saving, err);
    free(saving);
    free(home);
    return rc;
}

char *
checkpoints_saving(const struct checkpoints *c, const struct trial *t)
{
    return checkpoints_place_of(c, t->number, TRIAL_CHECKPOINT_SAVING,
                                t->attempt);
}

char *
checkpoints_restore(const struct checkpoints *c, const struct trial *t)
{
    return t->restore > 0 ? checkpoints_place_of(c, t->number, "", t->restore)
                          : NULL;
}
