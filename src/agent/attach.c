/* SPDX-License-Identifier: MIT */
#include "agent/attach.h"

#include "agent/socket.h"
#include "core/err.h"
#include "core/file.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* 0: what could be read is passed on; -1: there is no more. */
static int
pass(int from, int to)
{
    char part[65536];
    ssize_t n = read(from, part, sizeof part);

    if (n < 0 && errno == EINTR)
        return 0;
    return n > 0 ? file_write_all(to, part, (size_t)n, NULL) : -1;
}

int
attach(const char *path, struct err *err)
{
    int fd = socket_connect(path, err);
    struct pollfd fds[] = {{.fd = 0, .events = POLLIN},
                           {.fd = fd, .events = POLLIN}};

    if (fd < 0)
        return -1;
    while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
        if (fds[0].revents != 0 && pass(0, fd) != 0)
            break;
        if (fds[1].revents != 0 && pass(fd, 1) != 0)
            break;
    }
    close(fd);
    return 0;
}
