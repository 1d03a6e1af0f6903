/* SPDX-License-Identifier: MIT */
/* gzip.h - the format of gzip(1), read and written in pieces.  Any thread. */
#ifndef CORE_GZIP_H
#define CORE_GZIP_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Takes the next piece: 0; 1: it has enough, and that is success; -1: err. */
typedef int gzip_take(void *ctx, const void *data, size_t len, struct err *err);

/* Packs what stands in the file, from its beginning. */
int gzip_pack(int from, gzip_take *take, void *ctx, struct err *err);

/* Unpacks one that does not hold more than `max` bytes, and nothing behind its
 * end; what its end says of its length is checked and not believed.  -1: err
 * tells what is wrong; some of it has been taken then. */
int gzip_unpack(int from, uint64_t max, gzip_take *take, void *ctx,
                struct err *err);

#endif
