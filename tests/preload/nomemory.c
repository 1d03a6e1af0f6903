/* SPDX-License-Identifier: MIT */
/* nomemory.so, preloaded: while the file $NO_MEMORY is there, there is no
 * memory for a copy of a trial's parameters, as each attempt at it has one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGIN "{\"parameter_id\": "

char *
strndup(const char *text, size_t most)
{
    const char *path = getenv("NO_MEMORY");
    size_t len = strnlen(text, most);
    char *copy;

    if (path != NULL && access(path, F_OK) == 0 && len > strlen(BEGIN) &&
        memcmp(text, BEGIN, strlen(BEGIN)) == 0) {
        errno = ENOMEM;
        return NULL;
    }
    copy = malloc(len + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}
