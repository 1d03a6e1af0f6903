/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A process id may be reused between reading it in /proc and signalling it.
 * Here that cannot hit a stranger: while the children of X are walked a pidfd
 * of X is held.  For each listed child C a pidfd is opened, then C's parent is
 * read and compared with X, then X is asked whether it still lives.  If it
 * does, X was X all the time, so what had X as its parent was X's child, and
 * either that is what the pidfd of C refers to, or the process behind the
 * pidfd is dead and the signal goes nowhere. */
#include "wrapper/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A chain of descendants longer than this is ended from its top, one part per
 * walk: each level holds a few descriptors open. */
#define DEPTH_MAX 64
#define LIST_MAX ((size_t)16 * 1024 * 1024)

static int
pidfd_open_(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static int
pidfd_signal(int fd, int sig)
{
    return (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

/* The content of a file, NUL-terminated, to be freed; NULL when it cannot be
 * read (the thread is gone). */
static char *
read_all(const char *path)
{
    size_t len = 0, size = 4096;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? malloc(size) : NULL, *more;
    ssize_t n = 0;

    while (text != NULL && (n = read(fd, text + len, size - len - 1)) > 0) {
        len += (size_t)n;
        if (len + 1 < size)
            continue;
        size *= 2;
        more = size <= LIST_MAX ? realloc(text, size) : NULL;
        if (more == NULL)
            break;
        text = more;
    }
    if (fd >= 0)
        close(fd);
    if (text != NULL)
        text[len] = '\0';
    return text;
}

/* The parent of a process, or -1 when there is no such process any more. */
static pid_t
parent_of(pid_t pid)
{
    char path[64], *text, *at;
    long parent = -1;

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    text = read_all(path);
    at = text != NULL ? strrchr(text, ')') : NULL; /* names may hold anything */
    if (at == NULL || sscanf(at + 1, " %*c %ld", &parent) != 1)
        parent = -1;
    free(text);
    return (pid_t)parent;
}

static void walk(pid_t pid, int pidfd, int sig, int depth);

/* Walks below the child, then signals it, if it is that parent's child. */
static void
visit(pid_t child, pid_t parent, int parent_fd, int sig, int depth)
{
    int fd = pidfd_open_(child);

    if (fd < 0)
        return;
    if (parent_of(child) == parent && pidfd_signal(parent_fd, 0) == 0) {
        walk(child, fd, sig, depth + 1);
        pidfd_signal(fd, sig);
        if (sig != SIGKILL)
            pidfd_signal(fd, SIGCONT);
    }
    close(fd);
}

/* Walks the children of one thread. */
static void
walk_thread(const char *path, pid_t pid, int pidfd, int sig, int depth)
{
    char *list = read_all(path), *at = list, *end;

    while (at != NULL) {
        long child = strtol(at, &end, 10);

        if (end == at)
            break;
        visit((pid_t)child, pid, pidfd, sig, depth);
        at = end;
    }
    free(list);
}

static void
walk(pid_t pid, int pidfd, int sig, int depth)
{
    char path[64], file[64 + 300];
    struct dirent *entry;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
    tasks = depth < DEPTH_MAX ? opendir(path) : NULL;
    if (tasks == NULL)
        return;
    while ((entry = readdir(tasks)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof(file), "%s/%s/children", path, entry->d_name);
        walk_thread(file, pid, pidfd, sig, depth);
    }
    closedir(tasks);
}

bool
tree_works(void)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%ld/children",
             (long)getpid());
    return access(path, R_OK) == 0;
}

void
tree_signal(int sig)
{
    int self = pidfd_open_(getpid());

    if (self < 0)
        return;
    walk(getpid(), self, sig, 0);
    close(self);
}
