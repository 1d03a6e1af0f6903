/* SPDX-License-Identifier: MIT */
/* stdio.h - a study for a client in any language: requests come as lines of
 * JSON, and each answer goes out as one (tunepipe-study(1)).  A line that is
 * wrong costs itself; what the server leaves unanswered when it dies is said to
 * the next.  One thread. */
#ifndef CLIENT_STDIO_H
#define CLIENT_STDIO_H

#include <stdio.h>

struct err;

/* Returns at the end of input, when all is answered; `config` as with
 * remote_open(). */
int stdio_serve(const char *folder, const char *config, int in, FILE *out,
                struct err *err);

#endif
