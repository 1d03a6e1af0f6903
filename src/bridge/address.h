/* SPDX-License-Identifier: MIT */
/* address.h - where a manager listens: the parts of ws://HOST:PORT/PATH.
 * Pure; any thread. */
#ifndef BRIDGE_ADDRESS_H
#define BRIDGE_ADDRESS_H

struct err;

#define ADDRESS_HOST_MAX 256
#define ADDRESS_PATH_MAX 2048

struct address {
    char host[ADDRESS_HOST_MAX]; /* a name or a number, without brackets */
    char port[6];                /* 1 to 65535; 80 when the URL names none */
    char name[ADDRESS_HOST_MAX + 8]; /* as the Host header has it */
    char path[ADDRESS_PATH_MAX];     /* begins with '/' */
};

/* -1: err says which part is not as expected (ERR_CONFIG). */
int address_parse(struct address *a, const char *url, struct err *err);

#endif
