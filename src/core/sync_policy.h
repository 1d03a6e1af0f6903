/* SPDX-License-Identifier: MIT */
/* sync_policy.h - when a log goes to stable storage.  Any thread. */
#ifndef CORE_SYNC_POLICY_H
#define CORE_SYNC_POLICY_H

#include <stdint.h>

struct err;

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
#define SYNC_WORDS "none, interval, interval:MS or always"

/* "none", "interval", "interval:MS" with milliseconds, "always". */
int sync_policy_parse(const char *text, struct sync_policy *out,
                      struct err *err);

#define SYNC_TEXT_MAX 32
/* The other way; text[SYNC_TEXT_MAX]. */
void sync_policy_write(const struct sync_policy *p, char *text);

#endif
