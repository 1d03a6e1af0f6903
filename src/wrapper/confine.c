/* SPDX-License-Identifier: MIT */
#include "wrapper/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATH_SIZE 1024
#define TEXT_SIZE 4096

static int
open_in(const char *cgroup, const char *name, int flags)
{
    char path[PATH_SIZE];

    if ((size_t)snprintf(path, sizeof(path), "%s/%s", cgroup, name) >=
        sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC);
}

int
confine_enter(const char *cgroup)
{
    ssize_t n;
    int fd, why;

    if (cgroup == NULL)
        return 0;
    fd = open_in(cgroup, "cgroup.procs", O_WRONLY);
    if (fd < 0)
        return -1;
    n = write(fd, "0", 1); /* "0" stands for the process that writes */
    why = errno;
    close(fd);
    errno = why;
    return n == 1 ? 0 : -1;
}

int
confine_limit(long long bytes)
{
    struct rlimit limit;

    if (bytes <= 0)
        return 0;
    if (getrlimit(RLIMIT_DATA, &limit) != 0)
        return -1;
    if (limit.rlim_max != RLIM_INFINITY && (rlim_t)bytes > limit.rlim_max)
        return 0; /* a lower limit is there already */
    limit.rlim_cur = limit.rlim_max = (rlim_t)bytes;
    return setrlimit(RLIMIT_DATA, &limit);
}

/* Reads the number behind the word in a file of the control group; "" is at the
 * beginning. */
static bool
read_number(const char *cgroup, const char *name, const char *word,
            unsigned long long *out)
{
    int fd = open_in(cgroup, name, O_RDONLY);
    char text[TEXT_SIZE], *at = text;
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    while (at != NULL && strncmp(at, word, strlen(word)) != 0) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL || n <= 0)
        return false;
    *out = strtoull(at + strlen(word), NULL, 10);
    return true;
}

struct confined
confine_leave(const char *cgroup)
{
    struct confined c = {false, 0, 0};

    if (cgroup == NULL)
        return c;
    c.known = read_number(cgroup, "memory.peak", "", &c.peak) ||
              read_number(cgroup, "memory.max_usage_in_bytes", "", &c.peak);
    if (read_number(cgroup, "memory.events", "oom_kill ", &c.kills) ||
        read_number(cgroup, "memory.oom_control", "oom_kill ", &c.kills))
        c.known = true;
    rmdir(cgroup);
    return c;
}
