/* SPDX-License-Identifier: MIT */
/* stop_signals.h - the signals that ask a program to stop. */
#ifndef CORE_STOP_SIGNALS_H
#define CORE_STOP_SIGNALS_H

#include "core/err.h"

#include <signal.h>

/* SIGTERM, SIGINT, and SIGHUP unless it is ignored: nohup(1) wants a program
 * to go on. */
void stop_signals(sigset_t *out);

/* Blocks them in the calling thread, for good.  A signalfd(2) for them, not
 * blocking, close-on-exec; -1: err tells. */
int stop_signals_open(struct err *err);

#endif
