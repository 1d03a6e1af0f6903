/* SPDX-License-Identifier: MIT */
#include "core/own.h"

#include "core/err.h"
#include "core/file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int
own_check(const char *path, unsigned flags, struct err *err)
{
    uid_t me = geteuid();
    struct stat st;

    if (stat(path, &st) != 0)
        return err_errno(err, ERR_CONFIG, "%s", path);
    if (st.st_uid != me && !((flags & OWN_OR_ROOTS) && st.st_uid == 0))
        return err_set(err, ERR_CONFIG,
                       "%s: nothing is run because of it: it belongs to user "
                       "%ld, expected %ld, who runs this%s; look at it, and go "
                       "on with a copy of your own (cp -r)",
                       path, (long)st.st_uid, (long)me,
                       flags & OWN_OR_ROOTS ? ", or root" : "");
    if ((flags & OWN_STICKY) && S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX))
        return 0;
    if ((st.st_mode & S_IWOTH) ||
        ((st.st_mode & S_IWGRP) && st.st_gid != st.st_uid))
        return err_set(err, ERR_CONFIG,
                       "%s: nothing is run because of it: others than its "
                       "owner may write to it (mode %04o): look at it, then "
                       "chmod go-w %s",
                       path, (unsigned)st.st_mode & 07777, path);
    return 0;
}

static int
check_with_folder(const char *file, struct err *err)
{
    char *folder;
    int rc;

    if (own_check(file, OWN_OR_ROOTS, err) != 0)
        return -1;
    folder = file_folder(file);
    rc = folder == NULL ? err_set(err, ERR_MEMORY, "%s: out of memory", file)
                        : own_check(folder, OWN_OR_ROOTS | OWN_STICKY, err);
    free(folder);
    return rc;
}

int
own_check_plugin(const char *file, struct err *err)
{
    char *real;
    int rc;

    if (check_with_folder(file, err) != 0)
        return -1;
    real = realpath(file, NULL);
    if (real == NULL)
        return err_errno(err, ERR_CONFIG, "%s", file);
    rc = check_with_folder(real, err);
    free(real);
    return rc;
}
