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
        char more, *to = &more; /* whether it has more than it may */
        size_t room = max - total < 65536 ? max - total : 65536;
        ssize_t n;

        if (room > 0 && (to = buf_reserve(b, room)) == NULL)
            return buf_check(b, path, err);
        n = read(fd, to, room > 0 ? room : 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, ERR_SYSTEM, "%s: cannot read", path);
        if (n == 0)
            return 0;
        if (room == 0)
            return err_set(err, ERR_INPUT, "%s: longer than %zu bytes", path,
                           max);
        b->len += (size_t)n;
        total += (size_t)n;
    }
}

/* Reads a file that was just opened as fd, which it closes; a negative fd is a
 * failure that errno tells. */
static int
read_opened(int fd, const char *path, size_t max, struct buf *b,
            struct err *err)
{
    int rc;

    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    rc = read_all(fd, path, max, b, err);
    close(fd);
    return rc;
}

int
file_read(const char *path, size_t max, struct buf *b, struct err *err)
{
    return read_opened(open(path, O_RDONLY | O_CLOEXEC), path, max, b, err);
}

/* Opens the folder in which a file lies, unless it is a link; *name becomes the
 * file's name in it. */
static int
open_parent(const char *path, const char **name)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const char *slash = strrchr(path, '/');
    char parent[PATH_MAX];
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);

    *name = slash == NULL ? path : slash + 1;
    if (len == 0)
        return open(slash == NULL ? "." : "/", flags);
    if (len >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(parent, path, len);
    parent[len] = '\0';
    return open(parent, flags);
}

int
file_open_plain(const char *path, int flags)
{
    const char *name;
    int parent = open_parent(path, &name), fd = -1, why;
    struct stat st;

    if (parent < 0)
        return -1;
    fd =
        openat(parent, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    why = errno;
    close(parent);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
        why = ENXIO;
    }
    errno = why;
    return fd;
}

int
file_read_plain(const char *path, size_t max, struct buf *b, struct err *err)
{
    return read_opened(file_open_plain(path, O_RDONLY), path, max, b, err);
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

/* Puts a file in the place of `name`, by a new temporary one: whatever has the
 * temporary's name already is not written to. */
static int
replace(int folder, const char *name, const char *path, const void *data,
        size_t len, struct err *err)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    char temporary[PATH_MAX];
    int fd, rc;

    if ((size_t)snprintf(temporary, sizeof temporary, "%s.tmp", name) >=
        sizeof temporary)
        return err_set(err, ERR_INPUT, "%s: path too long", path);
    fd = openat(folder, temporary, flags, 0600);
    if (fd < 0 && errno == EEXIST && unlinkat(folder, temporary, 0) == 0)
        fd = openat(folder, temporary, flags, 0600);
    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s.tmp: cannot create", path);
    rc = file_write_all(fd, data, len, err);
    if (close(fd) != 0 && rc == 0)
        rc = err_errno(err, ERR_SYSTEM, "cannot write");
    if (rc != 0)
        err_place(err, "%s.tmp", path);
    else if (renameat(folder, temporary, folder, name) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot replace", path);
    if (rc != 0)
        unlinkat(folder, temporary, 0);
    return rc;
}

int
file_write(const char *path, const void *data, size_t len, struct err *err)
{
    return replace(AT_FDCWD, path, path, data, len, err);
}

int
file_write_plain(const char *path, const void *data, size_t len,
                 struct err *err)
{
    const char *name;
    int parent = open_parent(path, &name), rc;

    if (parent < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot create", path);
    rc = replace(parent, name, path, data, len, err);
    close(parent);
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

bool
file_is_same(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

char *
file_folder(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

char *
file_join(const char *folder, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

bool
file_has(const char *folder, const char *name)
{
    char *path = file_join(folder, name);
    bool has = path != NULL && access(path, F_OK) == 0;

    free(path);
    return has;
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

char *
file_shared(const char *tree, const char *name)
{
    char *folder = file_program_folder(), *path, *found = NULL;

    for (int i = 0; i < 2 && folder != NULL && found == NULL; i++) {
        if (asprintf(&path, "%s/%s%s/%s", folder,
                     i == 0 ? "../share/tunepipe" : "../../",
                     i == 0 ? "" : tree, name) < 0)
            break;
        found = realpath(path, NULL);
        free(path);
    }
    free(folder);
    return found;
}

bool
file_can_be_holed(const char *folder)
{
    char *path = NULL;
    int fd = -1;
    bool can;

    if (asprintf(&path, "%s/.hole.XXXXXX", folder) >= 0)
        fd = mkostemp(path, O_CLOEXEC);
    can =
        fd >= 0 && ftruncate(fd, 8192) == 0 &&
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 1) == 0;
    if (fd >= 0) {
        unlink(path);
        close(fd);
    }
    free(path);
    return can;
}
