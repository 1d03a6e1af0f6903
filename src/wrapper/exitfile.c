/* SPDX-License-Identifier: MIT */
#include "wrapper/exitfile.h"

#include "trial/files.h"
#include "wrapper/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX (EXITFILE_TEXT_MAX + 384 + NODE_MAX)
#define NODE_MAX 64

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

/* ---- wrapper.pid ---- */

static void
add(char **at, const char *text)
{
    *at = stpcpy(*at, text) + 1;
}

/* How the trial is started: see TRIAL_COMMAND. */
static int
describe_command(struct exitfile *f, const struct options *o)
{
    char words[32], *at;
    size_t n = 0, len = sizeof words + strlen(o->cwd) + 2;

    for (; o->program[n] != NULL; n++)
        len += strlen(o->program[n]) + 1;
    for (char **var = environ; *var != NULL; var++)
        len += strlen(*var) + 1;
    at = f->command = malloc(len);
    if (at == NULL)
        return -1;
    snprintf(words, sizeof words, "%zu", n);
    add(&at, "");
    add(&at, o->cwd);
    add(&at, words);
    for (char **word = o->program; *word != NULL; word++)
        add(&at, *word);
    for (char **var = environ; *var != NULL; var++)
        add(&at, *var);
    f->command_len = (size_t)(at - f->command);
    return 0;
}

/* Field 22 of /proc/self/stat, behind the end of field 2; -1: errno is set. */
static int
read_start(unsigned long long *start)
{
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    char text[2048], *at;
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strrchr(text, ')');
    if (at != NULL && sscanf(at + 1,
                             " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u"
                             " %*u %*d %*d %*d %*d %*d %*d %llu",
                             start) == 1)
        return 0;
    errno = EINVAL;
    return -1;
}

/* Writes the text, with the command behind it, in one. */
static int
put(const struct exitfile *f, const char *text)
{
    const struct iovec parts[] = {{(char *)(uintptr_t)text, strlen(text)},
                                  {f->command, f->command_len}};
    size_t len = parts[0].iov_len + parts[1].iov_len;
    ssize_t n = pwritev(f->fd, parts, 2, 0);

    if (n >= 0 && (size_t)n != len)
        errno = ENOSPC; /* a regular file is cut short for no other reason */
    return n == (ssize_t)len ? 0 : -1;
}

/* Room for the text of the end; a file system that cannot reserve it has it
 * once it is written. */
static int
reserve(const struct exitfile *f)
{
    off_t end = lseek(f->fd, 0, SEEK_END);
    char spaces[TEXT_MAX];
    ssize_t n;

    if (fallocate(f->fd, FALLOC_FL_KEEP_SIZE, end, TEXT_MAX) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return -1;
    memset(spaces, ' ', sizeof(spaces));
    n = pwrite(f->fd, spaces, sizeof(spaces), end);
    if (n >= 0 && (size_t)n != sizeof(spaces))
        errno = ENOSPC;
    return n == (ssize_t)sizeof(spaces) ? 0 : -1;
}

static int
make_new(int dir_fd)
{
    return openat(dir_fd, TRIAL_WRAPPER_PID,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int
exitfile_make(struct exitfile *f, int dir_fd, const struct options *options)
{
    char text[64];

    free(f->command); /* of a try before */
    *f = (struct exitfile){.dir_fd = dir_fd, .fd = -1, .node = options->node};
    if (describe_command(f, options) != 0 || read_start(&f->start) != 0)
        return -1;
    f->fd = make_new(dir_fd);
    if (f->fd < 0)
        return -1;
    snprintf(text, sizeof(text), "%ld %llu\n", (long)getpid(), f->start);
    return put(f, text) == 0 ? reserve(f) : -1;
}

/* Whether the file is still where it was made. */
static bool
is_there(const struct exitfile *f)
{
    struct stat mine, there;

    return fstat(f->fd, &mine) == 0 &&
           fstatat(f->dir_fd, TRIAL_WRAPPER_PID, &there, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

void
exitfile_close(struct exitfile *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->command);
    f->fd = -1;
    f->command = NULL;
}

void
exitfile_discard(struct exitfile *f)
{
    if (f->fd >= 0 && is_there(f))
        unlinkat(f->dir_fd, TRIAL_WRAPPER_PID, 0);
    exitfile_close(f);
}

/* ---- exit ---- */

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

/* How much of a file there is. */
static long long
bytes_of(const struct exitfile *f, const char *name)
{
    struct stat st;

    return fstatat(f->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                   S_ISREG(st.st_mode)
               ? (long long)st.st_size
               : 0;
}

static void
format(const struct exitfile *f, const struct outcome *outcome, char *text,
       size_t size)
{
    char first[EXITFILE_TEXT_MAX + 16];
    char group[96] = "", told[32] = "", node[NODE_MAX + 8] = "";
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
    if (f->node != NULL && f->node[0] != '\0')
        snprintf(node, sizeof(node), "node %.*s\n", (int)strcspn(f->node, "\n"),
                 f->node);
    snprintf(text, size,
             "%s\nstarted_ns %lld\nended_ns %lld\nmaxrss_kb %ld\n"
             "user_us %lld\nsystem_us %lld\nreported %lld\nprinted %lld\n"
             "%s%s%s%s%swrapper %ld %llu\n",
             first, (long long)outcome->started_ns,
             (long long)outcome->ended_ns, used.ru_maxrss,
             (long long)microseconds(used.ru_utime),
             (long long)microseconds(used.ru_stime), bytes_of(f, TRIAL_METRICS),
             bytes_of(f, TRIAL_STDOUT), group, node,
             outcome->abandoned ? "abandoned 1\n" : "", told,
             outcome->alone ? "alone 1\n" : "", (long)getpid(), f->start);
}

/* Makes a file anew that is not there any more, or that the trial has put
 * another in place of, be it a link: that is not written to. */
static int
make_again(struct exitfile *f)
{
    int fd;

    if (is_there(f))
        return 0;
    unlinkat(f->dir_fd, TRIAL_WRAPPER_PID, 0);
    fd = make_new(f->dir_fd);
    if (fd < 0)
        return -1;
    close(f->fd);
    f->fd = fd;
    return 0;
}

static int
sync_part(int dir_fd, const char *name)
{
    int fd =
        openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd < 0 ? 0 : fsync(fd);

    if (fd >= 0)
        close(fd);
    return rc == 0 || errno == EINVAL ? 0 : -1; /* EINVAL: a FIFO, say */
}

/* No manager is there that has what the trial reported. */
static int
sync_all(const struct exitfile *f)
{
    static const char *const parts[] = {TRIAL_METRICS, TRIAL_NNI_METRICS,
                                        TRIAL_STDOUT};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (sync_part(f->dir_fd, parts[i]) != 0)
            return -1;
    return fsync(f->fd);
}

int
exitfile_write(struct exitfile *f, const struct outcome *outcome, bool synced)
{
    char text[TEXT_MAX];

    format(f, outcome, text, sizeof(text));
    if (make_again(f) != 0 || put(f, text) != 0 ||
        ftruncate(f->fd, (off_t)(strlen(text) + f->command_len)) != 0 ||
        (synced && sync_all(f) != 0) ||
        renameat(f->dir_fd, TRIAL_WRAPPER_PID, f->dir_fd, TRIAL_EXIT) != 0)
        return -1;
    if (synced)
        fsync(f->dir_fd);
    return 0;
}
