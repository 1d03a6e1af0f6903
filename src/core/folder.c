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

/* What is done with each thing that is found; a folder comes behind what is in
 * it.  Other than 0 ends the walk. */
typedef int visit(void *ctx, const char *path, const struct stat *st,
                  struct err *err);

static int walk(const char *path, int depth, visit *each, void *ctx,
                struct err *err);

static int
walk_folder(const char *path, int depth, visit *each, void *ctx,
            struct err *err)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int rc = 0;

    if (folder == NULL)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        char *inner;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        inner = file_join(path, entry->d_name);
        rc = inner == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                           : walk(inner, depth + 1, each, ctx, err);
        free(inner);
    }
    closedir(folder);
    return rc;
}

static int
walk(const char *path, int depth, visit *each, void *ctx, struct err *err)
{
    struct stat st;

    if (depth > DEPTH_MAX)
        return err_set(err, ERR_INPUT, "%s: more than %d folders deep", path,
                       DEPTH_MAX);
    if (lstat(path, &st) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot look at", path);
    if (S_ISDIR(st.st_mode) && walk_folder(path, depth, each, ctx, err) != 0)
        return -1;
    return each(ctx, path, &st, err);
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
copy_file(const char *from, const char *to, mode_t mode, struct err *err)
{
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out = in < 0 ? -1
                     : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                            (mode & 0700) | 0200);
    int rc = 0;

    if (in < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot open", from);
    else if (out < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot create", to);
    else if (ioctl(out, FICLONE, in) != 0)
        rc = copy_pieces(in, out, from, err);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && rc == 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot write", to);
    return rc;
}

static int
copy_link(const char *from, const char *to, struct err *err)
{
    char text[LINK_TEXT_MAX];
    ssize_t n = readlink(from, text, sizeof text - 1);

    if (n >= 0)
        text[n] = '\0';
    if (n < 0 || symlink(text, to) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot copy the link to %s",
                         from, to);
    return 0;
}

static int
link_file(const char *from, const char *to, mode_t mode, struct err *err)
{
    (void)mode;
    return link(from, to) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "%s: cannot link to %s", to, from);
}

typedef int copy_content(const char *from, const char *to, mode_t mode,
                         struct err *err);

static int copy_one(const char *from, const char *to, int depth,
                    copy_content *content, struct err *err);

static int
copy_folder(const char *from, const char *to, int depth, copy_content *content,
            struct err *err)
{
    DIR *folder = opendir(from);
    struct dirent *entry;
    int rc = 0;

    if (folder == NULL)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", from);
    if (mkdir(to, 0700) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", to);
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        char *a, *b;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        a = file_join(from, entry->d_name);
        b = file_join(to, entry->d_name);
        rc = a == NULL || b == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                                    : copy_one(a, b, depth + 1, content, err);
        free(a);
        free(b);
    }
    closedir(folder);
    return rc;
}

static int
copy_one(const char *from, const char *to, int depth, copy_content *content,
         struct err *err)
{
    struct stat st;

    if (depth > DEPTH_MAX)
        return err_set(err, ERR_INPUT, "%s: more than %d folders deep", from,
                       DEPTH_MAX);
    if (lstat(from, &st) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot look at", from);
    if (S_ISDIR(st.st_mode))
        return copy_folder(from, to, depth, content, err);
    if (S_ISLNK(st.st_mode))
        return copy_link(from, to, err);
    if (S_ISREG(st.st_mode))
        return content(from, to, st.st_mode, err);
    return err_set(err, ERR_INPUT, "%s: neither a file nor a folder", from);
}

int
folder_copy(const char *from, const char *to, struct err *err)
{
    return copy_one(from, to, 0, copy_file, err);
}

int
folder_link(const char *from, const char *to, struct err *err)
{
    return copy_one(from, to, 0, link_file, err);
}

/* ---- the others ---- */

static int
sync_one(void *ctx, const char *path, const struct stat *st, struct err *err)
{
    int fd, rc;

    (void)ctx;
    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    rc = fd < 0 || fsync(fd) != 0
             ? err_errno(err, ERR_SYSTEM, "%s: cannot sync", path)
             : 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

int
folder_sync(const char *path, struct err *err)
{
    return walk(path, 0, sync_one, NULL, err);
}

static int
add_bytes(void *ctx, const char *path, const struct stat *st, struct err *err)
{
    uint64_t *sum = ctx;

    (void)path;
    (void)err;
    *sum += (uint64_t)st->st_blocks * 512;
    return 0;
}

uint64_t
folder_bytes(const char *path)
{
    uint64_t sum = 0;

    walk(path, 0, add_bytes, &sum, NULL);
    return sum;
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
remove_one(void *ctx, const char *path, const struct stat *st, struct err *err)
{
    (void)ctx;
    (void)st;
    (void)err;
    remove(path);
    return 0;
}

void
folder_remove(const char *path)
{
    walk(path, 0, remove_one, NULL, NULL);
}
