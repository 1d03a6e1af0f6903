/* SPDX-License-Identifier: MIT */
/* base64.h - the standard alphabet with padding (RFC 4648, 4), strictly: no
 * white space, nothing behind the padding.  Any thread. */
#ifndef NNI_BASE64_H
#define NNI_BASE64_H

#include <stddef.h>

struct buf;
struct err;

/* Decodes a text and appends the bytes.  -1: err (ERR_INPUT) names the position
 * of the first wrong character, counted from 0, and `out` may have grown. */
int base64_decode(const char *text, size_t len, struct buf *out,
                  struct err *err);

/* Encodes `len` bytes and appends the text. */
void base64_encode(const char *data, size_t len, struct buf *out);

#endif
