/* SPDX-License-Identifier: MIT */
/* unwatched.so, preloaded: while the file $UNWATCHED is there the kernel has no
 * memory for an epoll(7) that is to tell of the end of a process.  It says so
 * once a file with bytes in it matches $UNWATCHED_BEHIND, where that is set. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
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

static int
is_there(const char *pattern)
{
    struct stat st = {.st_size = 0};
    glob_t found;

    if (glob(pattern, 0, NULL, &found) == 0) {
        stat(found.gl_pathv[0], &st);
        globfree(&found);
    }
    return st.st_size > 0;
}

int
epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    const char *path = getenv("UNWATCHED");
    const char *behind = getenv("UNWATCHED_BEHIND");

    if (path != NULL && op == EPOLL_CTL_ADD && access(path, F_OK) == 0 &&
        is_process(fd)) {
        while (behind != NULL && !is_there(behind))
            usleep(1000);
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
}
