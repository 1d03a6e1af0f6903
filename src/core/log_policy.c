/* SPDX-License-Identifier: MIT */
#include "core/log_policy.h"

#include "core/err.h"
#include "core/nearest.h"
#include "core/number.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SYNC_WORDS "none, interval, interval:MS or always"

static const char *const old_words[] = {
    [OLD_KEEP] = "keep",
    [OLD_COMPRESS] = "compress",
    [OLD_DROP] = "drop",
};
#define N_OLD_WORDS (sizeof old_words / sizeof *old_words)

int
old_segments_parse(const char *text, enum old_segments *out, struct err *err)
{
    char hint[64];

    for (size_t i = 0; i < N_OLD_WORDS; i++)
        if (strcmp(text, old_words[i]) == 0) {
            *out = (enum old_segments)i;
            return 0;
        }
    nearest_hint(text, old_words, N_OLD_WORDS, hint, sizeof hint);
    return err_set(err, ERR_USAGE,
                   "expected " OLD_SEGMENTS_WORDS ", got '%.100s'%s", text,
                   hint);
}

const char *
old_segments_name(enum old_segments old)
{
    return old_words[old];
}

/* ---- when it goes to stable storage ---- */

static const char *const sync_words[] = {
    [SYNC_INTERVAL] = "interval",
    [SYNC_NONE] = "none",
    [SYNC_ALWAYS] = "always",
};
#define N_SYNC_WORDS (sizeof sync_words / sizeof *sync_words)

static int
parse_interval(const char *text, struct sync_policy *out, struct err *err)
{
    uint64_t ms;

    if (!number_parse_u64(text, strlen(text), &ms) || ms == 0 ||
        ms > SYNC_INTERVAL_MS_MAX)
        return err_set(err, ERR_USAGE,
                       "interval: expected milliseconds from 1 to %d, got "
                       "'%.100s'",
                       SYNC_INTERVAL_MS_MAX, text);
    *out = (struct sync_policy){SYNC_INTERVAL, (int64_t)ms};
    return 0;
}

int
sync_policy_parse(const char *text, struct sync_policy *out, struct err *err)
{
    char hint[64];

    for (size_t i = 0; i < N_SYNC_WORDS; i++)
        if (strcmp(text, sync_words[i]) == 0) {
            *out = (struct sync_policy){(enum sync_when)i,
                                        SYNC_INTERVAL_MS_DEFAULT};
            return 0;
        }
    if (strncmp(text, "interval:", 9) == 0)
        return parse_interval(text + 9, out, err);
    nearest_hint(text, sync_words, N_SYNC_WORDS, hint, sizeof hint);
    return err_set(err, ERR_USAGE, "expected " SYNC_WORDS ", got '%.100s'%s",
                   text, hint);
}

void
sync_policy_write(const struct sync_policy *p, char *text)
{
    if (p->when == SYNC_INTERVAL)
        snprintf(text, SYNC_TEXT_MAX, "interval:%" PRId64, p->interval_ms);
    else
        snprintf(text, SYNC_TEXT_MAX, "%s", sync_words[p->when]);
}
