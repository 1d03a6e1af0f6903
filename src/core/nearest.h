/* SPDX-License-Identifier: MIT */
/* nearest.h - the known name closest to a misspelt one, or to what other
 * programs call the same, for error texts. */
#ifndef CORE_NEAREST_H
#define CORE_NEAREST_H

#include <stddef.h>

/* The name (borrowed from `names`) within a third of the word's length plus
 * one, in insertions, deletions, replacements and swaps, case ignored; the
 * first of equals, behind a name that other programs have for it; NULL when
 * none is near.  A word of one letter is near to itself alone, in either case,
 * one of up to four to a name with its first letter, or at one edit. */
const char *nearest_name(const char *word, const char *const *names, size_t n);

/* Writes " (did you mean 'NAME'?)" to out, or "" when none is near.  Returns
 * out, so that it can stand in an argument list. */
const char *nearest_hint(const char *word, const char *const *names, size_t n,
                         char *out, size_t out_size);

#endif
