/* SPDX-License-Identifier: MIT */
/* crc32c.h - CRC-32C (Castagnoli 1993; RFC 3720 B.4), as used by the command
 * log.  Any thread. */
#ifndef CORE_CRC32C_H
#define CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continue with the result of an earlier call; start with 0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

#endif
