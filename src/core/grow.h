/* SPDX-License-Identifier: MIT */
/* grow.h - room in arrays that grow by doubling.  A header alone that knows
 * libc only, so that the algorithms of plugins can have it, too.  An array that
 * does not exist yet is NULL with a capacity of 0.  Any thread. */
#ifndef CORE_GROW_H
#define CORE_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROW_FIRST ((size_t)16)

/* GROW(list->items, list->n, list->cap): there is room behind the `used` items
 * for one more.  0; -1: out of memory, and nothing has changed.  items and cap,
 * a size_t, may be assigned to; what stands here is evaluated more than once.
 */
#define GROW(items, used, cap) \
    ((used) < (cap) ? 0 : grow_next(&(items), &(cap), sizeof *(items)))

/* *items, a pointer to an array, has room for n items of `size` bytes, and for
 * one byte at least.  0; -1: out of memory, and nothing has changed. */
static inline int
grow_to(void *items, size_t n, size_t size)
{
    void *old, *larger;

    if (size > 0 && n > SIZE_MAX / size)
        return -1;
    memcpy(&old, items, sizeof old); /* whatever it points to */
    larger = realloc(old, n * size > 0 ? n * size : 1);
    if (larger == NULL)
        return -1;
    memcpy(items, &larger, sizeof larger);
    /* cppcheck-suppress memleak ; *items owns it now */
    return 0;
}

/* The capacity behind this one. */
static inline size_t
grow_cap(size_t cap)
{
    return cap == 0 ? GROW_FIRST : cap <= SIZE_MAX / 2 ? 2 * cap : SIZE_MAX;
}

/* *items has the capacity behind *cap. */
static inline int
grow_next(void *items, size_t *cap, size_t size)
{
    size_t next = grow_cap(*cap);

    if (grow_to(items, next, size) != 0)
        return -1;
    *cap = next;
    return 0;
}

#endif
