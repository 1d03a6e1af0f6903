/* SPDX-License-Identifier: MIT */
#include "core/log.h"

#include "core/visible.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const level_words[] = {
    [LOG_ERROR] = "error: ",
    [LOG_WARNING] = "warning: ",
    [LOG_INFO] = "",
    [LOG_DEBUG] = "debug: ",
};

/* A pipe that is writable takes PIPE_BUF bytes, which a line is shorter than,
 * without blocking. */
static bool
has_room(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    return poll(&p, 1, 0) != 0;
}

/* Writes a line.  A reader that is gone costs this line, not the session. */
static void
write_line(const struct log *log, const char *line, size_t len)
{
    char note[128];
    unsigned long lost;

    if (!has_room(log->fd)) {
        if (log->lost != NULL)
            atomic_fetch_add(log->lost, 1);
        return;
    }
    lost = log->lost == NULL ? 0 : atomic_exchange(log->lost, 0);
    if (lost > 0) {
        int n = snprintf(note, sizeof note,
                         "%s: warning: %lu lines before the next found no "
                         "reader and are lost\n",
                         log->name, lost);

        if (write(log->fd, note, (size_t)n) < 0)
            return;
    }
    if (write(log->fd, line, len) < 0)
        return;
}

void
log_line(const struct log *log, enum log_level level, const char *fmt, ...)
{
    char line[2048];
    size_t len, begin;
    va_list ap;
    bool also;

    if (log == NULL || log->fd < 0)
        return;
    also = log->also != NULL && level <= log->also->most;
    if (level > log->most && !also)
        return;
    snprintf(line, sizeof line, "%s: %s", log->name, level_words[level]);
    begin = strlen(line);
    va_start(ap, fmt);
    vsnprintf(line + begin, sizeof line - 1 - begin, fmt, ap);
    va_end(ap);
    visible_line(line);
    len = strlen(line);
    if (also)
        log->also->line(log->also->ctx, level, line + begin);
    if (level > log->most)
        return;
    line[len++] = '\n';
    write_line(log, line, len);
}
