/* SPDX-License-Identifier: MIT */
#include "core/file.h"

#include "core/buf.h"
#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
read_all(int fd, const char *path, size_t max, struct buf *b, struct err *err)
{
    size_t total = 0;

    for (;;) {
        char *to = buf_reserve(b, 65536);
        ssize_t n;

        if (to == NULL)
            return buf_check(b, path, err);
        n = read(fd, to, 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, ERR_SYSTEM, "%s: cannot read", path);
        if (n == 0)
            return 0;
        b->len += (size_t)n;
        total += (size_t)n;
        if (total > max)
            return err_set(err, ERR_INPUT, "%s: longer than %zu bytes", path,
                           max);
    }
}

int
file_read(const char *path, size_t max, struct buf *b, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    rc = read_all(fd, path, max, b, err);
    close(fd);
    return rc;
}

int
file_write_all(int fd, const void *data, size_t len, struct err *err)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, ERR_SYSTEM, "cannot write");
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int
file_write(const char *path, const void *data, size_t len, struct err *err)
{
    char temporary[PATH_MAX];
    int fd, rc;

    if ((size_t)snprintf(temporary, sizeof temporary, "%s.tmp", path) >=
        sizeof temporary)
        return err_set(err, ERR_INPUT, "%s: path too long", path);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot create", temporary);
    rc = file_write_all(fd, data, len, err);
    if (close(fd) != 0 && rc == 0)
        rc = err_errno(err, ERR_SYSTEM, "cannot write");
    if (rc != 0)
        err_place(err, "%s", temporary);
    else if (rename(temporary, path) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot replace", path);
    if (rc != 0)
        unlink(temporary);
    return rc;
}

int
file_make_folder(const char *path, struct err *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);

    if (len == 0 || len >= sizeof part)
        return err_set(err, ERR_INPUT, "'%s': not a usable path", path);
    memcpy(part, path, len + 1);
    for (char *p = part + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char kept = *p;

        *p = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder",
                             part);
        *p = kept;
        if (kept == '\0')
            return 0;
    }
}

char *
file_join(const char *folder, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

char *
file_program_folder(void)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash;

    if (len <= 0)
        return NULL;
    path[len] = '\0';
    slash = strrchr(path, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    return strdup(path);
}
