/* SPDX-License-Identifier: MIT */
/* hosts.h - the numbers a host's name stands for.  One thread; looking up a
 * name other than localhost may block. */
#ifndef BRIDGE_HOSTS_H
#define BRIDGE_HOSTS_H

#include <stddef.h>

struct err;

#define HOSTS_MAX 8
#define HOSTS_TEXT_MAX 64

struct hosts {
    char text[HOSTS_MAX][HOSTS_TEXT_MAX]; /* 127.0.0.1, ::1 */
    size_t n;
};

/* localhost is 127.0.0.1 and ::1, whatever the machine's tables say: a manager
 * may listen on either.  -1: err says that there is none (ERR_CONFIG). */
int hosts_find(struct hosts *h, const char *name, struct err *err);

#endif
