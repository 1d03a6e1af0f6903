/* SPDX-License-Identifier: MIT */
/* segments_fault.h - system calls under a log, each of which can be made to
 * fail once. */
#ifndef TESTS_SEGMENTS_FAULT_H
#define TESTS_SEGMENTS_FAULT_H

#include "segments_help.h"

#include <errno.h>

enum call { OPEN, PWRITE, SYNC, TRUNCATE, LINK, RENAME, UNLINK, CALLS };

static int counts[CALLS], fail_at[CALLS], fail_error;

static bool
fails(enum call call)
{
    if (++counts[call] != fail_at[call])
        return false;
    errno = fail_error;
    return true;
}

static int
io_open(const char *path, int flags, mode_t mode)
{
    return fails(OPEN) ? -1 : open(path, flags, mode);
}

static ssize_t
io_pwrite(int fd, const void *data, size_t len, off_t at)
{
    return fails(PWRITE) ? -1 : pwrite(fd, data, len, at);
}

static int
io_fdatasync(int fd)
{
    (void)fd;
    return fails(SYNC) ? -1 : 0;
}

static int
io_ftruncate(int fd, off_t len)
{
    return fails(TRUNCATE) ? -1 : ftruncate(fd, len);
}

static int
io_link(const char *from, const char *to)
{
    return fails(LINK) ? -1 : link(from, to);
}

static int
io_rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : rename(from, to);
}

static int
io_unlink(const char *path)
{
    return fails(UNLINK) ? -1 : unlink(path);
}

static const struct logio faulty = {
    .open = io_open,
    .pread = pread,
    .pwrite = io_pwrite,
    .fallocate = fallocate,
    .fdatasync = io_fdatasync,
    .ftruncate = io_ftruncate,
    .link = io_link,
    .rename = io_rename,
    .unlink = io_unlink,
};

static void
none_fails(void)
{
    memset(counts, 0, sizeof counts);
    memset(fail_at, 0, sizeof fail_at);
}

#endif
