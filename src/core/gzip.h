/* SPDX-License-Identifier: MIT */
/* gzip.h - the format of gzip(1), read and written in pieces.  Any thread. */
#ifndef CORE_GZIP_H
#define CORE_GZIP_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Is given the next piece of the result.  0: go on; 1: that is enough, and
 * success; -1: err tells what failed. */
typedef int gzip_take(void *ctx, const void *data, size_t len, struct err *err);

/* Packs the file `from`, from its beginning. */
int gzip_pack(int from, gzip_take *take, void *ctx, struct err *err);

/* Unpacks the file `from`, which must not hold more than `max` bytes, nor
 * anything behind its end; the length that its end names is checked and not
 * believed.  -1: err tells what is wrong; some pieces have been given then. */
int gzip_unpack(int from, uint64_t max, gzip_take *take, void *ctx,
                struct err *err);

#endif
