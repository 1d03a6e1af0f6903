/* SPDX-License-Identifier: MIT */
/* stop_signals.h - the signals that ask a program to stop. */
#ifndef CORE_STOP_SIGNALS_H
#define CORE_STOP_SIGNALS_H

#include "core/err.h"

#include <signal.h>

/* The set of SIGTERM, SIGINT, and SIGHUP unless that is ignored: nohup(1) wants
 * a program to go on. */
void stop_signals(sigset_t *out);

/* Blocks these signals in the calling thread, for good.  Returns a signalfd(2)
 * for them, not blocking, close-on-exec; -1: err tells. */
int stop_signals_open(struct err *err);

#endif
