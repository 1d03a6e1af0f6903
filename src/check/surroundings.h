/* SPDX-License-Identifier: MIT */
/* surroundings.h - what a plugin shares with the whole process, and has to
 * leave as it found it. */
#ifndef CHECK_SURROUNDINGS_H
#define CHECK_SURROUNDINGS_H

#include <stddef.h>

struct surroundings;

/* Notes how things are; NULL when out of memory. */
struct surroundings *surroundings_new(void);
void surroundings_free(struct surroundings *s);

/* Compares, and blames `callback` (static text) for what has changed, once;
 * then things are noted anew. */
void surroundings_after(struct surroundings *s, const char *callback);

/* What was changed: the i-th, or NULL when there are no more; *what is a
 * sentence that says what to do, *by the callback. */
const char *surroundings_changed(const struct surroundings *s, size_t i,
                                 const char **by, const char **advice);

#endif
