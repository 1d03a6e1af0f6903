/* SPDX-License-Identifier: MIT */
/* filesystem.h - what kind of file system a file lies on.  Any thread. */
#ifndef CORE_FILESYSTEM_H
#define CORE_FILESYSTEM_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define FILESYSTEM_NAME_MAX 64

/* Its type, as mount(8) names it ("nfs4", "fuse.sshfs"); "unknown". */
void filesystem_name(const char *path, char out[FILESYSTEM_NAME_MAX]);

/* Whether it is one that others may change, or that a server may take away. */
bool filesystem_is_far(int fd);

/* Whether its locks are known to be every machine's that has it mounted. */
bool filesystem_shares_locks(int fd);

/* The first `len` bytes of an open file, to be given to munmap(2): mapped; or
 * *loaded, read into memory, where the file system is far, or has no mappings:
 * there a mapping may end in SIGBUS.  NULL: err names the path. */
const char *filesystem_view(int fd, size_t len, const char *path, bool *loaded,
                            struct err *err);

#endif
