/* SPDX-License-Identifier: MIT */
#include "log/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int
open_file(const char *path, int flags, mode_t mode)
{
    return open(path, flags, mode);
}

const struct logio logio_system = {
    .open = open_file,
    .pread = pread,
    .pwrite = pwrite,
    .fallocate = fallocate,
    .fdatasync = fdatasync,
    .ftruncate = ftruncate,
    .link = link,
    .rename = rename,
    .unlink = unlink,
};

int
logio_write(const struct logio *io, int fd, const void *data, size_t len,
            off_t at, off_t *written_to)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = io->pwrite(fd, p, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            return EIO;
        p += n;
        at += n;
        len -= (size_t)n;
        *written_to = at;
    }
    return 0;
}

int
logio_sync(const struct logio *io, int fd)
{
    while (io->fdatasync(fd) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

int
logio_sync_folder(const struct logio *io, const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error;

    if (fd < 0)
        return 0; /* a folder that cannot be opened may still be written to */
    error = logio_sync(io, fd);
    close(fd);
    /* not every file system can sync a folder */
    return error == EINVAL ? 0 : error;
}

bool
logio_may_pass(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EIO;
}
