/* SPDX-License-Identifier: MIT */
/* bytes.h - amounts of memory as people write and read them.  Any thread. */
#ifndef CORE_BYTES_H
#define CORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_TEXT_MAX 32

/* Reads the whole of `text`: "65536", "512MiB", "2GB", "1.5g", "800 M".  The
 * units k, m, g and t, in either case, with or without B or iB, are powers of
 * 1024, whichever is meant: a reservation rather errs upwards.  False when it
 * is no such text, and from 2^56 on. */
bool bytes_parse(const char *text, uint64_t *out);

/* Writes an amount as "1.5 GiB", "64 KiB", "512 bytes"; returns out. */
const char *bytes_format(uint64_t bytes, char out[BYTES_TEXT_MAX]);

#endif
