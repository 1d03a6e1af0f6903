/* SPDX-License-Identifier: MIT */
#include "trial/checkpoint.h"

#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/number.h"
#include "trial/files.h"
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

static int
commit(const char *folder, const char *home, const char *trial_folder,
       uint64_t *number, struct err *err)
{
    if (folder_is_empty(folder))
        return err_set(err, ERR_INPUT,
                       "%s: nothing was saved into it, expected files", folder);
    if (folder_sync(folder, err) != 0 || move(folder, home, number, err) != 0 ||
        sync_folder(home, err) != 0)
        return -1;
    return report_checkpoint(trial_folder, *number, err);
}

int
checkpoint_commit(const char *saving, const char *trial_folder,
                  uint64_t *number, struct err *err)
{
    char *home = parent(saving, err);
    int rc =
        home == NULL ? -1 : commit(saving, home, trial_folder, number, err);

    if (rc == 0 && mkdir(saving, 0700) != 0 && errno != EEXIST)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", saving);
    free(home);
    return rc;
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

int
checkpoint_save(const char *saving, const char *trial_folder,
                char *const paths[], size_t n, uint64_t *number,
                struct err *err)
{
    char *home = parent(saving, err), *own = NULL;
    int rc = home == NULL ? -1 : 0;

    if (rc == 0 && (asprintf(&own, "%s.XXXXXX", saving) < 0)) {
        own = NULL;
        rc = err_set(err, ERR_MEMORY, "out of memory");
    }
    if (rc == 0 && mkdtemp(own) == NULL)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", own);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = copy_into(paths[i], own, err);
    if (rc == 0)
        rc = commit(own, home, trial_folder, number, err);
    if (rc != 0 && own != NULL)
        folder_remove(own);
    free(own);
    free(home);
    return rc;
}
