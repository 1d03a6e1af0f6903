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
/* Unpacks one member of a file: `size` bytes from `at` on. */
int gzip_unpack_part(int from, uint64_t at, uint64_t size, uint64_t max,
                     gzip_take *take, void *ctx, struct err *err);

/* What stands behind the head of a member, with its checksum at the end,
 * quickly packed, from pieces that are added. */
struct gzip_body;
struct gzip_body *gzip_body_new(gzip_take *take, void *ctx); /* NULL: memory */
int gzip_body_add(struct gzip_body *b, const void *data, size_t len,
                  struct err *err);
int gzip_body_end(struct gzip_body *b, struct err *err);
void gzip_body_free(struct gzip_body *b);

/* The checksum that gzip has, of less than 4 GiB. */
uint32_t gzip_crc(const void *data, size_t len);

#endif
