/* SPDX-License-Identifier: MIT */
/* log_policy.h - what a user says of a command log: how long its segments
 * become, what becomes of old ones (PROTOCOL.md, "Segments"), and when what is
 * appended goes to stable storage.  Any thread. */
#ifndef CORE_LOG_POLICY_H
#define CORE_LOG_POLICY_H

#include <stdint.h>

struct err;

enum old_segments {
    OLD_KEEP,
    OLD_COMPRESS,
    OLD_DROP, /* they are removed; a snapshot stands for them */
};

struct segment_policy {
    uint64_t size; /* bytes from which on a segment is long enough; 0: never */
    enum old_segments old;
};

#define SEGMENT_SIZE_DEFAULT ((uint64_t)8 << 20)
#define OLD_SEGMENTS_WORDS "keep, compress or drop"

/* Reads "keep", "compress" or "drop".  -1: err (ERR_USAGE) says what was
 * expected. */
int old_segments_parse(const char *text, enum old_segments *out,
                       struct err *err);
const char *old_segments_name(enum old_segments old);

enum sync_when {
    SYNC_INTERVAL, /* at most interval_ms after an append */
    SYNC_NONE,     /* at the end only */
    SYNC_ALWAYS,   /* before what was appended takes effect */
};

struct sync_policy {
    enum sync_when when;
    int64_t interval_ms; /* 1 to SYNC_INTERVAL_MS_MAX */
};

#define SYNC_INTERVAL_MS_DEFAULT 1000
#define SYNC_INTERVAL_MS_MAX 3600000
#define SYNC_TEXT_MAX 32

/* Reads "none", "interval", "interval:MS" with milliseconds, or "always".
 * -1: err (ERR_USAGE) says what was expected. */
int sync_policy_parse(const char *text, struct sync_policy *out,
                      struct err *err);

/* Writes a policy as sync_policy_parse() reads it; text[SYNC_TEXT_MAX]. */
void sync_policy_write(const struct sync_policy *p, char *text);

#endif
