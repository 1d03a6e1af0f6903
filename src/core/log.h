/* SPDX-License-Identifier: MIT */
/* log.h - lines for people, on one descriptor, one write(2) a line.
 *
 * A line reads `tunepipe: LEVEL: text` (no word for LOG_INFO).  The struct is
 * filled once at start-up and only read afterwards: any thread may log.
 * Nobody is held up by a reader who does not read: what finds no room is
 * lost, and counted in the next line that finds some. */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <stdatomic.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Gets the lines as well, in whatever form it writes them: `text` is the line
 * without name, level and newline, lent for the call; any thread. */
struct log_sink {
    void (*line)(void *ctx, enum log_level level, const char *text);
    void *ctx;
    enum log_level most;
};

struct log {
    int fd;              /* usually 2; -1 is silent, and so is `also` */
    enum log_level most; /* lines above this level are not written */
    const char *name;    /* first word of each line; borrowed */
    atomic_ulong *lost;  /* lines that found no room; NULL: not counted */
    /* Gets the lines, too; borrowed; NULL: nobody. */
    const struct log_sink *also;
};

void log_line(const struct log *log, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(log, ...) log_line(log, LOG_ERROR, __VA_ARGS__)
#define log_warning(log, ...) log_line(log, LOG_WARNING, __VA_ARGS__)
#define log_info(log, ...) log_line(log, LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_line(log, LOG_DEBUG, __VA_ARGS__)

#endif
