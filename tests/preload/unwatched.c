/* SPDX-License-Identifier: MIT */
/* unwatched.so, preloaded: while the file $UNWATCHED is there the kernel has no
 * memory for an epoll(7) that is to tell of the end of a process. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
is_process(int fd)
{
    char path[64], what[64] = "";

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return readlink(path, what, sizeof what - 1) > 0 &&
           strstr(what, "pidfd") != NULL;
}

int
epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    const char *path = getenv("UNWATCHED");

    if (path != NULL && op == EPOLL_CTL_ADD && access(path, F_OK) == 0 &&
        is_process(fd)) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
}
