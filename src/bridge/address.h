/* SPDX-License-Identifier: MIT */
/* address.h - where a manager listens: the parts of ws://HOST:PORT/PATH,
 * and the numbers that its host's name stands for. */
#ifndef BRIDGE_ADDRESS_H
#define BRIDGE_ADDRESS_H

#include <stddef.h>

struct err;

#define ADDRESS_HOST_MAX 256
#define ADDRESS_PATH_MAX 2048

struct address {
    char host[ADDRESS_HOST_MAX]; /* a name or a number, without brackets */
    char port[6];                /* 1 to 65535; 80 when the URL names none */
    char name[ADDRESS_HOST_MAX + 8]; /* as the Host header has it */
    char path[ADDRESS_PATH_MAX];     /* begins with '/' */
};

/* -1: err says which part of the URL is not as expected (ERR_CONFIG).  Any
 * thread. */
int address_parse(struct address *a, const char *url, struct err *err);

#define HOSTS_MAX 8
#define HOSTS_TEXT_MAX 64

/* The addresses of a host, each as a number in text. */
struct hosts {
    char text[HOSTS_MAX][HOSTS_TEXT_MAX]; /* 127.0.0.1, ::1 */
    size_t n;
};

/* localhost is 127.0.0.1 and ::1, whatever the machine's tables say: a manager
 * may listen on either.  Looking up another name may block; one thread.
 * -1: err says that the name has no address (ERR_CONFIG). */
int hosts_find(struct hosts *h, const char *name, struct err *err);

#endif
