/* SPDX-License-Identifier: MIT */
#include "trial/checkpoint.h"

#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/number.h"
#include "trial/files.h"
#include "trial/note.h"
#include "trial/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t
checkpoint_newest(const char *folder)
{
    DIR *all = opendir(folder);
    struct dirent *entry;
    uint64_t newest = 0, number;

    while (all != NULL && (entry = readdir(all)) != NULL)
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &number) &&
            number > newest)
            newest = number;
    if (all != NULL)
        closedir(all);
    return newest;
}

/* The trial's folder of checkpoints, in which `saving` lies, to be freed. */
static char *
parent(const char *saving, struct err *err)
{
    char *home = strdup(saving), *slash;

    slash = home == NULL ? NULL : strrchr(home, '/');
    if (slash != NULL) {
        *slash = '\0';
        return home;
    }
    err_set(err, ERR_USAGE, TRIAL_ENV_CHECKPOINT " is '%s', expected a path",
            saving);
    free(home);
    return NULL;
}

static int
sync_folder(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0
                 ? err_errno(err, ERR_SYSTEM, "%s: cannot sync", path)
                 : 0;

    if (fd >= 0)
        close(fd);
    return rc;
}

/* Renames a folder to the first free number.  A checkpoint is never empty, and
 * a rename never replaces a folder that is not empty. */
static int
move(const char *from, const char *home, uint64_t *number, struct err *err)
{
    uint64_t n = checkpoint_newest(home);
    char *to;
    int rc;

    do {
        if (asprintf(&to, "%s/%llu", home, (unsigned long long)++n) < 0)
            return err_set(err, ERR_MEMORY, "out of memory");
        rc = rename(from, to);
        if (rc != 0 && errno != EEXIST && errno != ENOTEMPTY) {
            rc = err_errno(err, ERR_SYSTEM, "%s: cannot become %s", from, to);
            free(to);
            return rc;
        }
        free(to);
    } while (rc != 0);
    *number = n;
    return 0;
}

/* The last part of a path, without slashes behind it. */
static char *
last_part(const char *path)
{
    size_t end = strlen(path), begin;

    while (end > 1 && path[end - 1] == '/')
        end--;
    begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    return strndup(path + begin, end - begin);
}

static int
copy_into(const char *path, const char *folder, struct err *err)
{
    char *name = last_part(path), *to = NULL;
    int rc = -1;

    if (name != NULL)
        to = file_join(folder, name);
    if (to == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (name[0] == '\0' || strcmp(name, ".") == 0 ||
             strcmp(name, "..") == 0)
        err_set(err, ERR_USAGE, "'%s': expected a file or folder with a name",
                path);
    else
        rc = folder_copy(path, to, err);
    free(to);
    free(name);
    return rc;
}

/* Copies these files and folders into a new folder beside `saving`. */
static int
copy_all(struct checkpoint_draft *d, const char *saving,
         const char *const paths[], size_t n, struct err *err)
{
    char *own;

    if (asprintf(&own, "%s.XXXXXX", saving) < 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (mkdtemp(own) == NULL) {
        err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", own);
        free(own);
        return -1;
    }
    d->folder = own;
    for (size_t i = 0; i < n; i++)
        if (copy_into(paths[i], own, err) != 0)
            return -1;
    return 0;
}

int
checkpoint_draft(struct checkpoint_draft *d, const char *saving,
                 const char *const paths[], size_t n, struct err *err)
{
    int rc = 0;

    *d = (struct checkpoint_draft){
        .saving = n == 0 || (n == 1 && strcmp(paths[0], saving) == 0)};
    d->home = parent(saving, err);
    if (d->home == NULL)
        rc = -1;
    else if (!d->saving)
        rc = copy_all(d, saving, paths, n, err);
    else if ((d->folder = strdup(saving)) == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    if (rc == 0 && folder_is_empty(d->folder))
        rc =
            err_set(err, ERR_INPUT,
                    "%s: nothing was saved into it, expected files", d->folder);
    if (rc == 0)
        rc = folder_sync(d->folder, err);
    if (rc != 0)
        checkpoint_drop(d);
    return rc;
}

int
checkpoint_publish(struct checkpoint_draft *d, const char *trial_folder,
                   struct err *err)
{
    uint64_t number = 0;
    int rc = move(d->folder, d->home, &number, err);

    if (rc == 0)
        rc = sync_folder(d->home, err);
    if (rc == 0)
        rc = report_checkpoint(trial_folder, number, err);
    if (rc == 0 && d->saving && mkdir(d->folder, 0700) != 0 && errno != EEXIST)
        rc =
            err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", d->folder);
    return rc;
}

void
checkpoint_note(const char *trial_folder, const char *const paths[], size_t n)
{
    char *home = realpath(trial_folder, NULL);
    size_t len = home == NULL ? 0 : strlen(home);

    for (size_t i = 0; home != NULL && i < n; i++) {
        char *path = realpath(paths[i], NULL);

        if (path != NULL && (strncmp(path, home, len) != 0 || path[len] != '/'))
            note_add(trial_folder, TRIAL_SAVED_FROM, path,
                     TRIAL_SAVED_FROM_LINE);
        free(path);
    }
    free(home);
}

void
checkpoint_drop(struct checkpoint_draft *d)
{
    if (d->folder != NULL && !d->saving)
        folder_remove(d->folder); /* gone, where it has a number */
    free(d->folder);
    free(d->home);
    *d = (struct checkpoint_draft){0};
}
