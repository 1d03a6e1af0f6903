/* SPDX-License-Identifier: MIT */
/* pack.h - values <-> bytes: little-endian, 8 bytes each, doubles bit by bit,
 * runs of bytes behind their length.  For snapshots: what is written by one
 * process is read by another one of the same build or a later one.
 *
 * Writing goes into a buf, whose failure sticks.  So does reading's: behind
 * the first value that is not there, every other is 0 or empty, and
 * unpack_done() is false.  One thread. */
#ifndef CORE_PACK_H
#define CORE_PACK_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void pack_u64(struct buf *out, uint64_t v);
void pack_f64(struct buf *out, double v);
void pack_f64s(struct buf *out, const double *v, size_t n);
void pack_bytes(struct buf *out, const void *bytes, size_t len);
/* Packs a text with its NUL; NULL is kept apart from "". */
void pack_text(struct buf *out, const char *text);

struct unpack {
    const char *at, *end;
    bool failed;
};

/* Begins to read packed bytes, which are borrowed; what unpack_bytes() and
 * unpack_text() return lies in them. */
struct unpack unpack_from(const void *bytes, size_t len);
uint64_t unpack_u64(struct unpack *u);
double unpack_f64(struct unpack *u);
void unpack_f64s(struct unpack *u, double *out, size_t n);
bool unpack_bool(struct unpack *u); /* a u64 that is 0 or 1 */
const char *unpack_bytes(struct unpack *u, size_t *len);
/* NULL: NULL was packed, or reading failed */
const char *unpack_text(struct unpack *u);
/* A number of things that take at least `least` (> 0) bytes each: one that the
 * bytes left cannot hold is a failure, so that it may be allocated for. */
size_t unpack_count(struct unpack *u, size_t least);
/* Makes reading fail: the caller found a value that cannot be. */
void unpack_fail(struct unpack *u);

/* Whether all that was read was there, and nothing is left. */
bool unpack_done(const struct unpack *u);

#endif
