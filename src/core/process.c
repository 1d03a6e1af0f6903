/* SPDX-License-Identifier: MIT */
#include "core/process.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STAT_MAX 2048

struct stat_line {
    int parent;
    unsigned long long start;
};

static struct stat_line
read_stat(pid_t pid)
{
    struct stat_line s = {0, 0};
    char path[64], text[STAT_MAX];
    const char *at;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return s;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    /* The name before it may have spaces and parentheses. */
    at = strrchr(text, ')');
    if (at != NULL)
        sscanf(at + 1,
               " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
               "%*d %*d %*d %*d %llu",
               &s.parent, &s.start);
    return s;
}

uint64_t
process_start(pid_t pid)
{
    return read_stat(pid).start;
}

pid_t
process_parent(pid_t pid)
{
    return read_stat(pid).parent;
}

int
process_open(pid_t pid, uint64_t start)
{
    int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    if (fd >= 0 && start != 0 && process_start(pid) == start)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool
process_ended(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

void
process_kill(int pidfd, int number)
{
    syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}
