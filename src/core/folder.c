/* SPDX-License-Identifier: MIT */
#include "core/folder.h"

#include "core/err.h"
#include "core/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64
#define PIECE ((size_t)1 << 20)
#define LINK_TEXT_MAX 4096

/* DESIGN.  Each folder is opened through the descriptor of the folder it lies
 * in, and no link is followed: so nobody can lead a walk elsewhere by changing
 * the folders meanwhile. */

/* An entry that a walk comes to: `name` in the folder `at`; its path, for
 * people. */
struct thing {
    int at;
    const char *name, *path;
};

static struct thing
top(const char *path)
{
    return (struct thing){AT_FDCWD, path, path};
}

/* What a walk does with each entry; a folder comes behind what is in it. Other
 * than 0 ends the walk. */
typedef int visit(void *ctx, const struct thing *t, const struct stat *st,
                  struct err *err);

static DIR *
open_folder(const struct thing *t, struct err *err)
{
    int fd =
        openat(t->at, t->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);

    if (folder == NULL) {
        err_errno(err, ERR_SYSTEM, "%s: cannot open", t->path);
        if (fd >= 0)
            close(fd);
    }
    return folder;
}

/* The next entry, and its path, to be freed; NULL: there are no more. */
static const char *
next_entry(DIR *folder, const char *path, char **inner)
{
    struct dirent *entry;

    while ((entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0) {
            *inner = file_join(path, entry->d_name);
            return entry->d_name;
        }
    return NULL;
}

/* Looks at an entry as it is now; folders may not be too deep. */
static int
look(const struct thing *t, int depth, struct stat *st, struct err *err)
{
    if (depth > DEPTH_MAX)
        return err_set(err, ERR_INPUT, "%s: more than %d folders deep", t->path,
                       DEPTH_MAX);
    if (fstatat(t->at, t->name, st, AT_SYMLINK_NOFOLLOW) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot look at", t->path);
    return 0;
}

static int walk(const struct thing *t, int depth, visit *each, void *ctx,
                struct err *err);

static int
walk_folder(const struct thing *t, int depth, visit *each, void *ctx,
            struct err *err)
{
    DIR *folder = open_folder(t, err);
    const char *name;
    int rc = folder == NULL ? -1 : 0;
    char *path;

    while (rc == 0 && (name = next_entry(folder, t->path, &path)) != NULL) {
        struct thing inner = {dirfd(folder), name, path};

        rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : walk(&inner, depth + 1, each, ctx, err);
        free(path);
    }
    if (folder != NULL)
        closedir(folder);
    return rc;
}

static int
walk(const struct thing *t, int depth, visit *each, void *ctx, struct err *err)
{
    struct stat st;

    if (look(t, depth, &st, err) != 0 ||
        (S_ISDIR(st.st_mode) && walk_folder(t, depth, each, ctx, err) != 0))
        return -1;
    return each(ctx, t, &st, err);
}

/* ---- copy ---- */

static int
copy_pieces(int from, int to, const char *path, struct err *err)
{
    char *piece = malloc(PIECE);
    ssize_t n = 1;
    int rc = piece == NULL ? err_set(err, ERR_MEMORY, "out of memory") : 0;

    while (rc == 0 && n > 0) {
        n = read(from, piece, PIECE);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            rc = err_errno(err, ERR_SYSTEM, "%s: cannot read", path);
        else if (n > 0)
            rc = file_write_all(to, piece, (size_t)n, err);
    }
    free(piece);
    return rc;
}

static int
copy_file(const struct thing *from, const char *to, mode_t mode,
          struct err *err)
{
    int in = openat(from->at, from->name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int out = in < 0 ? -1
                     : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                            (mode & 0700) | 0200);
    int rc = 0;

    if (in < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot open", from->path);
    else if (out < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot create", to);
    else if (ioctl(out, FICLONE, in) != 0)
        rc = copy_pieces(in, out, from->path, err);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && rc == 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot write", to);
    return rc;
}

static int
copy_link(const struct thing *from, const char *to, struct err *err)
{
    char text[LINK_TEXT_MAX];
    ssize_t n = readlinkat(from->at, from->name, text, sizeof text - 1);

    if (n >= 0)
        text[n] = '\0';
    if (n < 0 || symlink(text, to) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot copy the link to %s",
                         from->path, to);
    return 0;
}

static int
link_file(const struct thing *from, const char *to, mode_t mode,
          struct err *err)
{
    (void)mode;
    return linkat(from->at, from->name, AT_FDCWD, to, 0) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "%s: cannot link to %s", to,
                           from->path);
}

typedef int copy_content(const struct thing *from, const char *to, mode_t mode,
                         struct err *err);

static int copy_one(const struct thing *from, const char *to, int depth,
                    copy_content *content, struct err *err);

static int
copy_folder(const struct thing *from, const char *to, int depth,
            copy_content *content, struct err *err)
{
    DIR *folder = open_folder(from, err);
    const char *name;
    int rc = folder == NULL ? -1 : 0;
    char *path;

    if (rc == 0 && mkdir(to, 0700) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", to);
    while (rc == 0 && (name = next_entry(folder, from->path, &path)) != NULL) {
        struct thing inner = {dirfd(folder), name, path};
        char *copy = file_join(to, name);

        rc = path == NULL || copy == NULL
                 ? err_set(err, ERR_MEMORY, "out of memory")
                 : copy_one(&inner, copy, depth + 1, content, err);
        free(path);
        free(copy);
    }
    if (folder != NULL)
        closedir(folder);
    return rc;
}

static int
copy_one(const struct thing *from, const char *to, int depth,
         copy_content *content, struct err *err)
{
    struct stat st;

    if (look(from, depth, &st, err) != 0)
        return -1;
    if (S_ISDIR(st.st_mode))
        return copy_folder(from, to, depth, content, err);
    if (S_ISLNK(st.st_mode))
        return copy_link(from, to, err);
    if (S_ISREG(st.st_mode))
        return content(from, to, st.st_mode, err);
    return err_set(err, ERR_INPUT, "%s: neither a file nor a folder",
                   from->path);
}

int
folder_copy(const char *from, const char *to, struct err *err)
{
    struct thing t = top(from);

    return copy_one(&t, to, 0, copy_file, err);
}

int
folder_link(const char *from, const char *to, struct err *err)
{
    struct thing t = top(from);

    return copy_one(&t, to, 0, link_file, err);
}

/* ---- the others ---- */

static int
sync_one(void *ctx, const struct thing *t, const struct stat *st,
         struct err *err)
{
    int fd, rc;

    (void)ctx;
    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
        return 0;
    fd = openat(t->at, t->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    rc = fd < 0 || fsync(fd) != 0
             ? err_errno(err, ERR_SYSTEM, "%s: cannot sync", t->path)
             : 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

int
folder_sync(const char *path, struct err *err)
{
    struct thing t = top(path);

    return walk(&t, 0, sync_one, NULL, err);
}

static int
add_bytes(void *ctx, const struct thing *t, const struct stat *st,
          struct err *err)
{
    uint64_t *sum = ctx;

    (void)t;
    (void)err;
    *sum += (uint64_t)st->st_blocks * 512;
    return 0;
}

uint64_t
folder_bytes(const char *path)
{
    struct thing t = top(path);
    uint64_t sum = 0;

    walk(&t, 0, add_bytes, &sum, NULL);
    return sum;
}

int
folder_make_roomy(const char *path, struct err *err)
{
    int fd, flags;

    if (file_make_folder(path, err) != 0)
        return -1;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 &&
        (flags & FS_TOPDIR_FL) == 0) {
        flags |= FS_TOPDIR_FL;
        ioctl(fd, FS_IOC_SETFLAGS, &flags); /* others have no such flag */
    }
    if (fd >= 0)
        close(fd);
    return 0;
}

bool
folder_is_empty(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int n = 0;

    while (folder != NULL && n <= 2 && (entry = readdir(folder)) != NULL)
        n++;
    if (folder != NULL)
        closedir(folder);
    return n <= 2;
}

static int
remove_one(void *ctx, const struct thing *t, const struct stat *st,
           struct err *err)
{
    (void)ctx;
    (void)err;
    unlinkat(t->at, t->name, S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0);
    return 0;
}

void
folder_remove(const char *path)
{
    struct thing t = top(path);

    walk(&t, 0, remove_one, NULL, NULL);
}
