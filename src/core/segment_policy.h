/* SPDX-License-Identifier: MIT */
/* segment_policy.h - how long the segments of a command log become, and what
 * becomes of old ones.  PROTOCOL.md, "Segments".  Any thread. */
#ifndef CORE_SEGMENT_POLICY_H
#define CORE_SEGMENT_POLICY_H

#include <stdint.h>

struct err;

enum old_segments {
    OLD_KEEP,
    OLD_COMPRESS,
    OLD_DROP, /* a snapshot stands for them */
};

struct segment_policy {
    uint64_t size; /* bytes from which on a segment is long enough; 0: never */
    enum old_segments old;
};

#define SEGMENT_SIZE_DEFAULT ((uint64_t)8 << 20)
#define OLD_SEGMENTS_WORDS "keep, compress or drop"

/* "keep", "compress", "drop". */
int old_segments_parse(const char *text, enum old_segments *out,
                       struct err *err);
const char *old_segments_name(enum old_segments old);

#endif
