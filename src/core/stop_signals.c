/* SPDX-License-Identifier: MIT */
#include "core/stop_signals.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/signalfd.h>

void
stop_signals(sigset_t *out)
{
    struct sigaction hangup;

    sigemptyset(out);
    sigaddset(out, SIGTERM);
    sigaddset(out, SIGINT);
    /* SIGHUP that is blocked would come even where it is ignored. */
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(out, SIGHUP);
}

int
stop_signals_open(struct err *err)
{
    sigset_t set;
    int fd;

    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? err_errno(err, ERR_SYSTEM, "signalfd") : fd;
}
