/* SPDX-License-Identifier: MIT */
/* logmap.h - one segment of a log, mapped into memory; a compressed one is
 * unpacked into a file without a name first.  One thread. */
#ifndef DISPATCHER_LOGMAP_H
#define DISPATCHER_LOGMAP_H

#include "dispatcher/segments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct logmap {
    char *path; /* as it is named in errors */
    int fd;
    const char *bytes; /* mapped; "" when empty */
    size_t len;
    size_t freed; /* pages before this offset were given back */
    struct segment_head head;
};

/* Checks the version line.  NULL: err names the file. */
struct logmap *logmap_open(const char *path, struct err *err);
/* For command.N.log.gz in that folder: it held `bytes` when it was sealed. */
struct logmap *logmap_unpack(const char *path, const char *folder,
                             uint64_t bytes, struct err *err);
void logmap_close(struct logmap *m);

/* Maps what was appended since.  1: there is more, and the bytes may lie
 * elsewhere; 0: there is not. */
int logmap_grow(struct logmap *m, struct err *err);
/* Gives back the pages before `end`, in large pieces, so that a log of any
 * size is read in the same memory. */
void logmap_give_back(struct logmap *m, size_t end);
/* Whether the file of that name is this one. */
bool logmap_is(const struct logmap *m, const char *path);

/* How the segment in that file begins, without reading all of it; head.head is
 * of no use.  1: done; 0: there is no such file; -1: err. */
int logmap_peek(const char *path, enum segment_file file,
                struct segment_head *head, struct err *err);

#endif
