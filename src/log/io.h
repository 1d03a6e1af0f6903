/* SPDX-License-Identifier: MIT */
/* io.h - the system calls under the command log, as a table, so that tests
 * can let each of them fail. */
#ifndef LOG_IO_H
#define LOG_IO_H

#include <stdbool.h>
#include <sys/types.h>

/* As the system calls of these names; called from the reader's thread and
 * from those that sync and retire. */
struct logio {
    int (*open)(const char *path, int flags, mode_t mode);
    ssize_t (*pread)(int fd, void *data, size_t len, off_t at);
    ssize_t (*pwrite)(int fd, const void *data, size_t len, off_t at);
    int (*fallocate)(int fd, int mode, off_t at, off_t len);
    int (*fdatasync)(int fd);
    int (*ftruncate)(int fd, off_t len);
    int (*link)(const char *from, const char *to);
    int (*rename)(const char *from, const char *to);
    int (*unlink)(const char *path);
};

extern const struct logio logio_system;

/* 0 or an errno.  Through EINTR and short writes. */
int logio_write(const struct logio *io, int fd, const void *data, size_t len,
                off_t at, off_t *written_to);
int logio_sync(const struct logio *io, int fd);

/* The folder's entries; 0 where it cannot be opened, or its file system cannot
 * do so. */
int logio_sync_folder(const struct logio *io, const char *folder);

/* Whether it may pass: no space, over quota, input/output error. */
bool logio_may_pass(int error);

#endif
