/* SPDX-License-Identifier: MIT */
/* bridge URL PROGRAM [ARG...]: runs PROGRAM with one end of a socket pair as
 * its descriptors 3 and 4, and the bridge from the other end to URL.  The exit
 * status is PROGRAM's; 1 when the bridge failed. */
#include "bridge/bridge.h"

#include "core/err.h"
#include "core/log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int status;
    char words[256];
};

static const char *
epitaph(void *arg)
{
    struct child *c = arg;

    waitpid(c->pid, &c->status, 0);
    if (c->status == 0)
        return NULL;
    if (WIFSIGNALED(c->status))
        snprintf(c->words, sizeof c->words, "the dispatcher was ended by SIG%s",
                 sigabbrev_np(WTERMSIG(c->status)));
    else
        snprintf(c->words, sizeof c->words,
                 "the dispatcher ended with status %d", WEXITSTATUS(c->status));
    return c->words;
}

int
main(int argc, char **argv)
{
    struct log log = {.fd = 2, .most = LOG_DEBUG, .name = "bridge"};
    struct child child = {.pid = 0};
    struct bridge_setup setup = {
        .epitaph = epitaph, .arg = &child, .log = &log};
    bridge_run_fn *run;
    struct err err;
    char path[4096];
    void *module;
    int pair[2];

    snprintf(path, sizeof path, "%s/lib/websocket.so", getenv("TP_BUILD"));
    module = dlopen(path, RTLD_NOW);
    if (module == NULL)
        return 77;
    *(void **)&run = dlsym(module, BRIDGE_SYMBOL);

    if (argc < 3 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return 2;
    child.pid = fork();
    if (child.pid == 0) {
        int high = fcntl(pair[1], F_DUPFD, 10);

        dup2(high, 3);
        dup2(high, 4);
        close(high);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    close(pair[1]);
    setup.url = argv[1];
    setup.frames = pair[0];
    if (run(&setup, &err) != 0) {
        fprintf(stderr, "bridge: error: %s\n", err.text);
        return 1;
    }
    return WIFEXITED(child.status) ? WEXITSTATUS(child.status) : 1;
}
