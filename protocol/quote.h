/* SPDX-License-Identifier: MIT */
/* quote.h - bytes from outside, made fit to be shown in an error text.  Any
 * thread. */
#ifndef PROTOCOL_QUOTE_H
#define PROTOCOL_QUOTE_H

#include <stddef.h>

/* Room for quote_bytes(): 40 bytes of four characters, two quotes, "..." */
#define QUOTE_MAX 168

/* Writes 'abc\x00' to out: unprintable bytes and quotes as \xHH,
 * cut with "..." after 40 bytes.  Returns out, so that it can stand in an
 * argument list. */
const char *quote_bytes(char out[QUOTE_MAX], const char *bytes, size_t len);

#endif
