/* SPDX-License-Identifier: MIT */
/* number.h - numbers as text, whatever the locale says.  Any thread. */
#ifndef CORE_NUMBER_H
#define CORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_TEXT_MAX 32

/* The shortest text that reads back as the same double, in Python's spelling:
 * 0.1, 176.0, 1e-05, 1e+16, -0.0, NaN, Infinity, -Infinity.  Returns its
 * length; out is NUL-terminated. */
size_t number_format(double value, char out[NUMBER_TEXT_MAX]);

/* Reads the whole of `text` as a decimal number, correctly rounded; false
 * when it is not one or is out of range.  Hexadecimal, NaN and infinities are
 * not numbers here. */
bool number_parse(const char *text, size_t len, double *out);

/* Reads the whole of `text` as an unsigned decimal integer (digits only). */
bool number_parse_u64(const char *text, size_t len, uint64_t *out);

/* Reads "90", "1.5h", "10m", "2d", "30s" as a duration, fractions rounded up
 * to whole milliseconds; a bare number is in seconds.  False when it is not a
 * duration or is longer than 10,000 days. */
bool number_parse_duration_ms(const char *text, int64_t *out_ms);

/* Reads "65536", "64k", "8M", "1G" (powers of 1024) as bytes, below 2^56. */
bool number_parse_size(const char *text, uint64_t *out);

/* Writes v in decimal at p, without a NUL; returns the end. */
char *number_write_u64(char *p, uint64_t v);

#endif
