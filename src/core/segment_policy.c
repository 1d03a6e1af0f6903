/* SPDX-License-Identifier: MIT */
#include "core/segment_policy.h"

#include "core/err.h"
#include "core/nearest.h"

#include <string.h>

static const char *const words[] = {
    [OLD_KEEP] = "keep",
    [OLD_COMPRESS] = "compress",
    [OLD_DROP] = "drop",
};
#define N_WORDS (sizeof words / sizeof *words)

int
old_segments_parse(const char *text, enum old_segments *out, struct err *err)
{
    char hint[64];

    for (size_t i = 0; i < N_WORDS; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum old_segments)i;
            return 0;
        }
    nearest_hint(text, words, N_WORDS, hint, sizeof hint);
    return err_set(err, ERR_USAGE,
                   "expected " OLD_SEGMENTS_WORDS ", got '%.100s'%s", text,
                   hint);
}

const char *
old_segments_name(enum old_segments old)
{
    return words[old];
}
