/* SPDX-License-Identifier: MIT */
#include "core/log.h"

#include <stdarg.h>
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

void
log_line(const struct log *log, enum log_level level, const char *fmt, ...)
{
    char line[2048];
    size_t len;
    va_list ap;

    if (log == NULL || log->fd < 0 || level > log->most)
        return;
    snprintf(line, sizeof line, "%s: %s", log->name, level_words[level]);
    len = strlen(line);
    va_start(ap, fmt);
    vsnprintf(line + len, sizeof line - 1 - len, fmt, ap);
    va_end(ap);
    len = strlen(line);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    line[len++] = '\n';
    /* A reader of stderr that is gone costs its line, not the session. */
    if (write(log->fd, line, len) < 0)
        return;
}
