/* SPDX-License-Identifier: MIT */
#include "core/sync_policy.h"

#include "core/err.h"
#include "core/nearest.h"
#include "core/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {
    [SYNC_INTERVAL] = "interval",
    [SYNC_NONE] = "none",
    [SYNC_ALWAYS] = "always",
};
#define N_WORDS (sizeof words / sizeof *words)

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

    for (size_t i = 0; i < N_WORDS; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (struct sync_policy){(enum sync_when)i,
                                        SYNC_INTERVAL_MS_DEFAULT};
            return 0;
        }
    if (strncmp(text, "interval:", 9) == 0)
        return parse_interval(text + 9, out, err);
    nearest_hint(text, words, N_WORDS, hint, sizeof hint);
    return err_set(err, ERR_USAGE, "expected " SYNC_WORDS ", got '%.100s'%s",
                   text, hint);
}

void
sync_policy_write(const struct sync_policy *p, char *text)
{
    if (p->when == SYNC_INTERVAL)
        snprintf(text, SYNC_TEXT_MAX, "interval:%" PRId64, p->interval_ms);
    else
        snprintf(text, SYNC_TEXT_MAX, "%s", words[p->when]);
}
