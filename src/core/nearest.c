/* SPDX-License-Identifier: MIT */
#include "core/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance (Damerau 1964), three rows at a time. */
static size_t
distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t la = strlen(a), lb = strlen(b);
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    if (la > WORD_MAX || lb > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= lb; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *spare = before;

        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            int ca = tolower((unsigned char)a[i - 1]);
            int cb = tolower((unsigned char)b[j - 1]);

            row[j] =
                least(least(last[j], row[j - 1]) + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                cb == tolower((unsigned char)a[i - 2]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[lb];
}

const char *
nearest_name(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 3 + 2; /* one more than allowed */

    if (strlen(word) < 2)
        best_distance = 1; /* any other letter would be near */
    if (best_distance > WORD_MAX)
        best_distance = WORD_MAX; /* what distance() says of long ones */
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(word, names[i]);

        if (d < best_distance) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}

const char *
nearest_hint(const char *word, const char *const *names, size_t n, char *out,
             size_t out_size)
{
    const char *name = nearest_name(word, names, n);

    out[0] = '\0';
    if (name != NULL)
        snprintf(out, out_size, " (did you mean '%s'?)", name);
    return out;
}
