/* SPDX-License-Identifier: MIT */
/* DESIGN.  CLONE_PARENT makes the manager the parent of each wrapper, which can
 * wait for it as for one that it has started itself.  This process has one
 * thread and no state that a copy of it would have to be told of: it forks by
 * the bare system call, as fork(3) knows no such flag. */
#include "wrapper/serve.h"

#include "trial/files.h"
#include "wrapper/options.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The memory of the arguments is what ps(1) shows. */
static void
set_title(char *from, size_t size, const char *texts, size_t len)
{
    memset(from, 0, size);
    memcpy(from, texts, len < size ? len : size - 1);
}

/* The texts taken apart: the arguments, NULL, the environment, NULL. */
static char **
take_apart(char *texts, size_t len, size_t n_args)
{
    size_t n = 0, at = 0;
    char **all;

    for (size_t i = 0; i < len; i++)
        n += texts[i] == '\0';
    all = n > n_args ? calloc(n + 2, sizeof *all) : NULL;
    for (size_t i = 0; all != NULL && i < n; i++) {
        all[i + (i >= n_args)] = texts + at;
        at += strlen(texts + at) + 1;
    }
    return all;
}

/* Messages from here on go to the trial's standard error, and nothing that it
 * has is shared with others. */
static void
redirect(int argc, char **argv)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW;
    struct options options;
    int null = open("/dev/null", O_RDWR), folder, words;

    dup2(null, 0);
    close(null);
    if (options_parse(&options, argc, argv) != 0)
        return; /* it is refused again, by its caller */
    folder = open(options.dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    words = folder < 0 ? -1 : openat(folder, TRIAL_STDERR, flags, 0600);
    if (words >= 0)
        dup2(words, 2);
    close(words);
    close(folder);
}

/* The arguments lie one behind the other. */
static size_t
title_size(int argc, char *const *argv)
{
    const char *last = argv[argc - 1];

    return (size_t)(last + strlen(last) - argv[0]) + 1;
}

/* In the new process. */
static void
become(char *texts, size_t len, uint32_t n_args, int *argc, char ***argv)
{
    char **all = take_apart(texts, len, n_args);
    size_t size = title_size(*argc, *argv), title = 0;

    if (all == NULL)
        _exit(TRIAL_WRAPPER_LATER);
    for (uint32_t i = 0; i < n_args; i++)
        title += strlen(all[i]) + 1;
    set_title((*argv)[0], size, texts, title);
    *argc = (int)n_args;
    *argv = all;
    environ = all + n_args + 1;
    redirect(*argc, *argv);
}

void
serve(int *argc, char ***argv)
{
    static char order[TRIAL_WRAPPER_ORDER_MAX];
    uint32_t n_args;
    sigset_t all;
    ssize_t n;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL); /* its end is that of the socket */
    while ((n = recv(0, order, sizeof order, 0)) >= (ssize_t)sizeof n_args) {
        int32_t pid;

        memcpy(&n_args, order, sizeof n_args);
        pid = (int32_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL,
                               NULL, NULL);
        if (pid == 0) {
            become(order + sizeof n_args, (size_t)n - sizeof n_args, n_args,
                   argc, argv);
            return;
        }
        if (pid < 0)
            pid = -errno;
        if (send(0, &pid, sizeof pid, MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(0);
}
