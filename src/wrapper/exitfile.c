/* SPDX-License-Identifier: MIT */
#include "wrapper/exitfile.h"

#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX (EXITFILE_TEXT_MAX + 384)

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

/* Makes a new file: one of that name that the trial has made, be it a link, is
 * not written to. */
static int
make_new(int dir_fd, const char *name)
{
    unlinkat(dir_fd, name, 0);
    return openat(dir_fd, name,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int
put(int fd, const char *text, size_t len)
{
    ssize_t n = pwrite(fd, text, len, 0);

    if (n >= 0 && (size_t)n != len)
        errno = ENOSPC; /* a regular file is cut short for no other reason */
    return n == (ssize_t)len ? 0 : -1;
}

/* Reserves room.  A file system that cannot reserve has the room once it is
 * written. */
static int
reserve(int fd)
{
    char spaces[TEXT_MAX];

    if (fallocate(fd, 0, 0, TEXT_MAX) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return -1;
    memset(spaces, ' ', sizeof(spaces));
    return put(fd, spaces, sizeof(spaces));
}

int
exitfile_write_pid(int dir_fd)
{
    unsigned long long start;
    char text[2048], *at;
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), why;
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
    fd = make_new(dir_fd, TRIAL_WRAPPER_PID_TMP);
    if (fd < 0)
        return -1;
    snprintf(text, sizeof(text), "%ld %llu\n", (long)getpid(), start);
    why = put(fd, text, strlen(text)) == 0 &&
                  renameat(dir_fd, TRIAL_WRAPPER_PID_TMP, dir_fd,
                           TRIAL_WRAPPER_PID) == 0
              ? 0
              : errno;
    close(fd);
    errno = why;
    return why == 0 ? 0 : -1;
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

static void
format(const struct outcome *outcome, char *text, size_t size)
{
    char first[EXITFILE_TEXT_MAX + 16];
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
    snprintf(text, size,
             "%s\nstarted_ns %lld\nended_ns %lld\nmaxrss_kb %ld\n"
             "user_us %lld\nsystem_us %lld\n%s%s%s%s",
             first, (long long)outcome->started_ns,
             (long long)outcome->ended_ns, used.ru_maxrss,
             (long long)microseconds(used.ru_utime),
             (long long)microseconds(used.ru_stime), group,
             outcome->abandoned ? "abandoned 1\n" : "", told,
             outcome->alone ? "alone 1\n" : "");
}

int
exitfile_prepare(int dir_fd)
{
    int fd = make_new(dir_fd, TRIAL_EXIT_TMP);

    return fd >= 0 && reserve(fd) == 0 ? fd : -1;
}

/* Whether the file is still where it was made. */
static bool
is_there(int dir_fd, int fd)
{
    struct stat mine, there;

    return fstat(fd, &mine) == 0 &&
           fstatat(dir_fd, TRIAL_EXIT_TMP, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

static int
publish(int dir_fd, int fd, const char *text)
{
    size_t len = strlen(text);

    return put(fd, text, len) == 0 && ftruncate(fd, (off_t)len) == 0 &&
                   fsync(fd) == 0 &&
                   renameat(dir_fd, TRIAL_EXIT_TMP, dir_fd, TRIAL_EXIT) == 0
               ? 0
               : -1;
}

int
exitfile_write(int dir_fd, int exit_fd, const struct outcome *outcome)
{
    char text[TEXT_MAX];
    int fd = exit_fd, why;

    format(outcome, text, sizeof(text));
    if (!is_there(dir_fd, exit_fd))
        fd = make_new(dir_fd, TRIAL_EXIT_TMP);
    if (fd < 0)
        return -1;
    why = publish(dir_fd, fd, text) == 0 ? 0 : errno;
    if (fd != exit_fd)
        close(fd);
    errno = why;
    return why == 0 ? 0 : -1;
}

void
exitfile_discard(int dir_fd)
{
    unlinkat(dir_fd, TRIAL_EXIT_TMP, 0);
    unlinkat(dir_fd, TRIAL_WRAPPER_PID_TMP, 0);
    unlinkat(dir_fd, TRIAL_WRAPPER_PID, 0);
}
