/* SPDX-License-Identifier: MIT */
#include "trial/stderr_tail.h"

#include "core/file.h"
#include "pack/packs.h"
#include "trial/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
has(const char *folder, struct packs *k, const char *name)
{
    char *path = file_join(folder, name);
    bool there = path != NULL &&
                 (k != NULL ? packs_has(k, path) : access(path, F_OK) == 0);

    free(path);
    return there;
}

bool
stderr_tail_has_run(const char *attempt, struct packs *k)
{
    return has(attempt, k, TRIAL_EXIT) || has(attempt, k, TRIAL_WRAPPER_PID) ||
           has(attempt, k, TRIAL_COMMAND);
}

char *
stderr_tail_folder(const char *attempt, struct packs *k)
{
    return !stderr_tail_has_run(attempt, k) && has(attempt, k, TRIAL_PREPARE)
               ? file_join(attempt, TRIAL_PREPARE)
               : strdup(attempt);
}

size_t
stderr_tail_read(const char *folder, struct packs *k,
                 char text[STDERR_TAIL_MAX])
{
    char *path = file_join(folder, TRIAL_STDERR);
    int fd = path == NULL ? -1
             : k != NULL  ? packs_open(k, path, NULL)
                          : file_open_plain(path, O_RDONLY);
    struct stat st;
    ssize_t n = 0;

    if (fd >= 0 && fstat(fd, &st) == 0)
        n = pread(fd, text, STDERR_TAIL_MAX,
                  st.st_size > STDERR_TAIL_MAX ? st.st_size - STDERR_TAIL_MAX
                                               : 0);
    if (fd >= 0)
        close(fd);
    free(path);
    return n > 0 ? (size_t)n : 0;
}

bool
stderr_tail_lines(const char *folder, struct packs *k, size_t most,
                  void (*take)(void *ctx, const char *line, size_t len),
                  void *ctx)
{
    char text[STDERR_TAIL_MAX];
    size_t len = stderr_tail_read(folder, k, text), lines = 0;
    const char *end = text + len, *at = end;

    if (at > text && at[-1] == '\n')
        at = --end;
    while (at > text && (at[-1] != '\n' || ++lines < most))
        at--;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline != NULL ? newline : end;

        take(ctx, at, (size_t)(stop - at));
        at = stop + 1;
    }
    return len > 0;
}

void
stderr_tail_line(const char *folder, struct packs *k, char *line, size_t size)
{
    char text[STDERR_TAIL_MAX];
    size_t end = stderr_tail_read(folder, k, text), at;

    while (end > 0 && strchr(" \t\r\n", text[end - 1]) != NULL)
        end--;
    for (at = end; at > 0 && text[at - 1] != '\n';)
        at--;
    if (end - at >= size)
        end = at + size - 1;
    memcpy(line, text + at, end - at);
    line[end - at] = '\0';
}

void
stderr_tail_wrapper(const char *folder, struct packs *k, char *line,
                    size_t size)
{
    static const char name[] = TRIAL_WRAPPER_SAYS;
    char text[STDERR_TAIL_MAX];

    stderr_tail_line(folder, k, text, sizeof text);
    line[0] = '\0';
    if (strncmp(text, name, sizeof name - 1) == 0)
        snprintf(line, size, "%s", text);
}
