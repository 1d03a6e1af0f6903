/* SPDX-License-Identifier: MIT */
#include "wrapper/spawn.h"

#include "core/process.h"
#include "trial/files.h"
#include "wrapper/confine.h"
#include "wrapper/exitfile.h"
#include "wrapper/options.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {TRIAL_STDOUT, TRIAL_STDERR};

/* a FIFO without a reader must not block */
static int
open_one(int dir_fd, const char *name)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    int fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        fcntl(fd, F_SETFL, O_APPEND) == 0)
        return fd;
    close(fd);
    errno = ENXIO;
    return -1;
}

void
outputs_open(struct outputs *o, int dir_fd)
{
    o->dir_fd = dir_fd;
    for (int i = 0; i < 2; i++) {
        o->fds[i] = open_one(dir_fd, names[i]);
        o->why[i] = errno;
    }
}

/* Holes are made of whole pages, or zeros would be left of the others. */
#define PAGE 4096LL

void
outputs_trim(const struct outputs *o, long long bytes)
{
    const int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    long long from = (bytes / 2 + PAGE - 1) / PAGE * PAGE, to;
    struct stat st;

    for (int i = 0; i < 2; i++)
        if (o->fds[i] >= 0 && fstat(o->fds[i], &st) == 0 &&
            (long long)st.st_blocks * 512 > bytes &&
            (to = (st.st_size - bytes / 2) / PAGE * PAGE) > from)
            fallocate(o->fds[i], hole, from, to - from);
}

static void
remove_empty(int dir_fd, int fd, const char *name)
{
    struct stat mine, there;

    if (fstat(fd, &mine) == 0 && mine.st_size == 0 &&
        fstatat(dir_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
        unlinkat(dir_fd, name, 0);
}

void
outputs_close(struct outputs *o)
{
    for (int i = 0; i < 2; i++)
        if (o->fds[i] >= 0) {
            remove_empty(o->dir_fd, o->fds[i], names[i]);
            close(o->fds[i]);
        }
}

static pid_t
refuse(struct outcome *outcome, const char *what, const char *name)
{
    char why[128];

    outcome->unstarted_errno = errno;
    snprintf(outcome->unstarted, sizeof(outcome->unstarted), "%s%.380s: %s",
             what, name, strerror_r(errno, why, sizeof(why)));
    return -1;
}

enum { CONFINED, OUTSIDE, UNLIMITED };

/* Confines the trial's process, in that process itself. */
static int
confine(const void *arg)
{
    const struct options *options = arg;

    if (confine_enter(options->cgroup) != 0)
        return OUTSIDE;
    return confine_limit(options->limit_bytes) != 0 ? UNLIMITED : CONFINED;
}

static pid_t
start(const struct options *options, int out, int words,
      struct outcome *outcome)
{
    const struct process_spawn how = {
        .argv = (const char *const *)options->program,
        .along_path = true,
        .folder = options->cwd,
        .files = {PROCESS_NULL, out, words},
        .tied = true,
        .ready = confine,
        .arg = options,
    };
    struct process_failure failure;
    pid_t pid = process_spawn(&how, NULL, &failure);

    if (pid > 0)
        return pid;
    switch (failure.step) {
    case PROCESS_PIPED:
    case PROCESS_MADE:
        return refuse(outcome, "cannot make a process", "");
    case PROCESS_TIED:
        return refuse(outcome, "cannot be tied to the wrapper", "");
    case PROCESS_FILES:
        return refuse(outcome, "cannot open ", "/dev/null");
    case PROCESS_FOLDER:
        return refuse(outcome, "cannot change to ", options->cwd);
    case PROCESS_READY:
        if (failure.ready == OUTSIDE)
            return refuse(outcome, "cannot enter the control group ",
                          options->cgroup);
        return refuse(outcome, "cannot limit its memory", "");
    case PROCESS_BEGUN:
        break;
    }
    return refuse(outcome, "", options->program[0]);
}

pid_t
spawn_trial(const struct options *options, const struct outputs *outputs,
            struct outcome *outcome)
{
    for (int i = 0; i < 2; i++)
        if (outputs->fds[i] < 0) {
            errno = outputs->why[i];
            return refuse(outcome, "cannot open ", names[i]);
        }
    return start(options, outputs->fds[0], outputs->fds[1], outcome);
}
