/* SPDX-License-Identifier: MIT */
#include "wrapper/exitfile.h"

#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX (EXITFILE_TEXT_MAX + 256)

static int64_t
now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void
exitfile_begin(struct outcome *outcome)
{
    outcome->started_ns = now_ns(CLOCK_REALTIME);
    outcome->began_ns = now_ns(CLOCK_MONOTONIC);
}

void
exitfile_end(struct outcome *outcome)
{
    outcome->ended_ns =
        outcome->started_ns + now_ns(CLOCK_MONOTONIC) - outcome->began_ns;
}

static int64_t
microseconds(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static int
fill(int fd, const char *text, bool sync)
{
    size_t len = strlen(text);
    ssize_t n = write(fd, text, len);

    if (n >= 0 && (size_t)n != len)
        errno = ENOSPC; /* a regular file is cut short for no other reason */
    return n == (ssize_t)len && (!sync || fsync(fd) == 0) ? 0 : -1;
}

/* A new file under its final name by rename, or no change. */
static int
replace(int dir_fd, const char *tmp, const char *name, const char *text,
        bool sync)
{
    int fd =
        openat(dir_fd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int why;

    if (fd < 0)
        return -1;
    if (fill(fd, text, sync) == 0 && renameat(dir_fd, tmp, dir_fd, name) == 0) {
        close(fd);
        return 0;
    }
    why = errno;
    close(fd);
    unlinkat(dir_fd, tmp, 0);
    errno = why;
    return -1;
}

int
exitfile_write_pid(int dir_fd)
{
    unsigned long long start;
    char text[2048], *at;
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strrchr(text, ')'); /* the end of field 2; the start is field 22 */
    if (at == NULL || sscanf(at + 1,
                             " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u"
                             " %*u %*d %*d %*d %*d %*d %*d %llu",
                             &start) != 1) {
        errno = EINVAL;
        return -1;
    }
    snprintf(text, sizeof(text), "%ld %llu\n", (long)getpid(), start);
    return replace(dir_fd, TRIAL_WRAPPER_PID_TMP, TRIAL_WRAPPER_PID, text,
                   false);
}

static void
first_line(const struct outcome *o, char *out, size_t size)
{
    if (o->unstarted[0] != '\0')
        snprintf(out, size, TRIAL_EXIT_UNSTARTED " %s", o->unstarted);
    else if (WIFSIGNALED(o->wait_status))
        snprintf(out, size, TRIAL_EXIT_SIGNALLED " %d",
                 WTERMSIG(o->wait_status));
    else
        snprintf(out, size, TRIAL_EXIT_EXITED " %d",
                 WEXITSTATUS(o->wait_status));
}

int
exitfile_write(int dir_fd, const struct outcome *outcome)
{
    char first[EXITFILE_TEXT_MAX + 16], text[TEXT_MAX];
    char group[96] = "", told[32] = "";
    struct rusage used;

    first_line(outcome, first, sizeof(first));
    for (char *at = first; *at != '\0'; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    getrusage(RUSAGE_CHILDREN, &used);
    if (outcome->memory.known)
        snprintf(group, sizeof(group), "memory_peak %llu\noom_kills %llu\n",
                 outcome->memory.peak, outcome->memory.kills);
    if (outcome->told != 0)
        snprintf(told, sizeof(told), "told %d\n", outcome->told);
    snprintf(text, sizeof(text),
             "%s\nstarted_ns %lld\nended_ns %lld\nmaxrss_kb %ld\n"
             "user_us %lld\nsystem_us %lld\n%s%s%s%s",
             first, (long long)outcome->started_ns,
             (long long)outcome->ended_ns, used.ru_maxrss,
             (long long)microseconds(used.ru_utime),
             (long long)microseconds(used.ru_stime), group,
             outcome->abandoned ? "abandoned 1\n" : "", told,
             outcome->alone ? "alone 1\n" : "");
    return replace(dir_fd, TRIAL_EXIT_TMP, TRIAL_EXIT, text, true);
}
