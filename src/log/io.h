/* SPDX-License-Identifier: MIT */
/* io.h - the system calls under the command log, as a table, so that tests
 * can let each of them fail. */
#ifndef LOG_IO_H
#define LOG_IO_H

#include <stdbool.h>
#include <sys/types.h>

/* The system calls of these names; called from the reader's thread and from the
 * threads that sync and retire. */
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

/* Writes, or syncs, through EINTR and short writes.  0 or an errno. */
int logio_write(const struct logio *io, int fd, const void *data, size_t len,
                off_t at, off_t *written_to);
int logio_sync(const struct logio *io, int fd);

/* Syncs the folder's entries; 0 also where it cannot be opened, or its file
 * system cannot sync it. */
int logio_sync_folder(const struct logio *io, const char *folder);

/* Whether that errno may pass: no space, over quota, input/output error. */
bool logio_may_pass(int error);

#endif
