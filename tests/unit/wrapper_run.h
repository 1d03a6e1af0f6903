/* SPDX-License-Identifier: MIT */
/* wrapper_run.h - for tests: the wrapper as its manager sees it, the real
 * program with a folder and a FIFO, in the test's own folder. */
#ifndef TESTS_WRAPPER_RUN_H
#define TESTS_WRAPPER_RUN_H

#include "t.h"

#include "trial/files.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS "60000"

struct run {
    pid_t pid;
    int pidfd;
    int lease; /* the manager's end, -1 when it was let go */
};

/* The whole file; "" when there is none. */
static inline char *
slurp(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

    text[n] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

static inline int
pidfd_of(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    CHECK(fd >= 0);
    return fd;
}

/* Whether the process ended within the time. */
static inline bool
ended(int pidfd, int within_ms)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    return poll(&p, 1, within_ms) == 1;
}

static inline void
make_folder(void)
{
    CHECK_EQ(mkdir("trial", 0700), 0);
    CHECK_EQ(mkfifo("trial/" TRIAL_LEASE, 0600), 0);
    CHECK_EQ(mkfifo("ready", 0600), 0);
}

static inline int
take_lease(void)
{
    int fd = open("trial/" TRIAL_LEASE, O_RDWR | O_CLOEXEC);

    CHECK(fd >= 0);
    return fd;
}

/* Starts `sh -c script` under a wrapper in a new folder. */
static inline struct run
start(const char *grace_ms, const char *adopt_ms, const char *script)
{
    const char *wrapper = t_build(TRIAL_WRAPPER_PROGRAM);
    struct run run;

    make_folder();
    run.lease = take_lease();
    run.pid = fork();
    if (run.pid == 0) {
        execl(wrapper, wrapper, "--dir", "trial", "--cwd", ".", "--grace-ms",
              grace_ms, "--adopt-ms", adopt_ms, "--", "sh", "-c", script,
              (char *)NULL);
        _exit(126);
    }
    CHECK(run.pid > 0);
    run.pidfd = pidfd_of(run.pid);
    return run;
}

/* The line that the script writes to the FIFO `ready`: pids of its own.  To the
 * end, or who opens the FIFO next may find this writer, about to close. */
static inline void
wait_ready(long *first, long *second)
{
    FILE *file = fopen("ready", "r");

    CHECK(file != NULL);
    CHECK_EQ(fscanf(file, "%ld %ld", first, second), 2);
    while (getc(file) != EOF)
        ;
    fclose(file);
}

static inline int
wait_exit(struct run *run)
{
    int status = 0;

    CHECK_EQ(waitpid(run->pid, &status, 0), run->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline const char *
first_line(void)
{
    char *text = slurp("trial/" TRIAL_EXIT);

    text[strcspn(text, "\n")] = '\0';
    return text;
}

#endif
