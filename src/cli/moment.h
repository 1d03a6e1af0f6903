/* SPDX-License-Identifier: MIT */
/* moment.h - a point in time as people write it on the command line. */
#ifndef CLI_MOMENT_H
#define CLI_MOMENT_H

#include <stdint.h>

struct err;

/* Reads a duration before now ("10m"), or an ISO date, with or without a time,
 * its seconds' fraction and a zone ("2026-11-21T19:30:00.5Z", "2026-11-21
 * 19:30"); without a zone it is local.  *out: microseconds since 1970. */
int moment_parse(const char *text, int64_t now_us, int64_t *out,
                 struct err *err);

#endif
