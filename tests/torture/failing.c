/* SPDX-License-Identifier: MIT */
/* malloc and its kin in front of those of libc (or of the address sanitizer),
 * for the whole program and its libraries: counted, and failing on order.
 *
 * glibc's own calls, such as those of asprintf, come through here as well;
 * strdup and strndup are here because the sanitizer has its own. */
#include "torture.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t);
void *REAL(calloc)(size_t, size_t);
void *REAL(realloc)(void *, size_t);
void REAL(free)(void *);

static unsigned long countdown; /* 0: nothing fails */
static int fired;
static long live;

void
failing_arm(unsigned long n)
{
    fired = 0;
    countdown = n;
}

int
failing_fired(void)
{
    countdown = 0;
    return fired;
}

long
failing_live(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 0; /* some of its interceptors allocate past us; it has a checker */
#else
    return live;
#endif
}

static int
fails(void)
{
    if (countdown == 0 || --countdown > 0)
        return 0;
    fired = 1;
    errno = ENOMEM;
    return 1;
}

static void *
counted(void *p)
{
    live += p != NULL;
    return p;
}

__attribute__((visibility("default"))) void *
malloc(size_t size)
{
    return fails() ? NULL : counted(REAL(malloc)(size));
}

__attribute__((visibility("default"))) void *
calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(REAL(calloc)(n, size));
}

__attribute__((visibility("default"))) void *
realloc(void *p, size_t size)
{
    bool shrinks = p != NULL && size <= malloc_usable_size(p);

    if (!shrinks && fails()) /* libc's asprintf survives a failure to shrink */
        return NULL;
    return p == NULL ? counted(REAL(realloc)(p, size)) : REAL(realloc)(p, size);
}

__attribute__((visibility("default"))) void
free(void *p)
{
    live -= p != NULL;
    REAL(free)(p);
}

__attribute__((visibility("default"))) char *
strndup(const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    char *copy = malloc(len + 1);

    if (copy == NULL)
        return NULL;
    copy[len] = '\0';
    return memcpy(copy, text, len);
}

__attribute__((visibility("default"))) char *
strdup(const char *text)
{
    return strndup(text, strlen(text));
}
