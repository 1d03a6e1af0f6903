/* SPDX-License-Identifier: MIT */
#include "nni/journal.h"

#include "core/err.h"
#include "core/file.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOGGER "nni.runtime.msg_dispatcher_base"
#define LINE_MAX_BYTES 2304
#define HIGH_FD 10 /* 0 to 4 may be closed, and are not ours to fill */

static const char *const level_words[] = {
    [LOG_ERROR] = "ERROR",
    [LOG_WARNING] = "WARNING",
    [LOG_INFO] = "INFO",
    [LOG_DEBUG] = "DEBUG",
};

/* The name that NNI gives the thread: of the default queue's worker, or of the
 * assessor's. */
static const char *
thread_name(bool assessor)
{
    if (getpid() == gettid())
        return "MainThread";
    return assessor ? "Thread-2" : "Thread-1";
}

static void
write_line(const struct journal *j, enum log_level level, const char *logger,
           bool assessor, const char *text)
{
    char line[LINE_MAX_BYTES], at[32];
    time_t now = time(NULL);
    struct tm tm;
    size_t len;

    if (j->fd < 0 || level > j->sink.most)
        return;
    localtime_r(&now, &tm);
    strftime(at, sizeof at, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(line, sizeof line - 1, "[%s] %s (%s/%s) %s", at,
             level_words[level], logger, thread_name(assessor), text);
    len = strlen(line);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    line[len++] = '\n';
    if (write(j->fd, line, len) < 0)
        return; /* a full disk costs the line */
}

/* Splits "tuner tpe: ask: ...": that comes from the logger nni.tuner.tpe. */
static bool
split(const char *text, const char *kind, char *logger, size_t size,
      const char **rest)
{
    size_t len = strlen(kind), word;

    if (strncmp(text, kind, len) != 0 || text[len] != ' ')
        return false;
    word = strcspn(text + len + 1, ": ");
    if (word == 0 || word > 64 || strncmp(text + len + 1 + word, ": ", 2) != 0)
        return false;
    snprintf(logger, size, "nni.%s.%.*s", kind, (int)word, text + len + 1);
    *rest = text + len + 1 + word + 2;
    return true;
}

static void
take_line(void *ctx, enum log_level level, const char *text)
{
    const struct journal *j = ctx;
    char logger[96] = LOGGER;
    const char *rest = text;
    bool assessor = split(text, "assessor", logger, sizeof logger, &rest);

    if (!assessor)
        (void)split(text, "tuner", logger, sizeof logger, &rest);
    write_line(j, level, logger, assessor, rest);
}

int
journal_open(struct journal *j, const char *folder, enum log_level most,
             struct err *err)
{
    char *path = file_join(folder, JOURNAL_NAME);
    int fd = -1;

    *j = (struct journal){.fd = -1, .sink = {take_line, j, most}};
    if (path == NULL)
        return err_set(err, ERR_MEMORY, JOURNAL_NAME ": out of memory");
    if (file_make_folder(folder, err) == 0) {
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
                  0600);
        if (fd < 0)
            err_errno(err, ERR_SYSTEM, "%s", path);
    }
    free(path);
    if (fd < 0)
        return -1;
    j->fd = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (j->fd < 0)
        err_errno(err, ERR_SYSTEM, JOURNAL_NAME);
    close(fd);
    return j->fd < 0 ? -1 : 0;
}

void
journal_close(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
}

void
journal_say(const struct journal *j, enum log_level level, const char *logger,
            const char *fmt, ...)
{
    char text[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    write_line(j, level, logger != NULL ? logger : LOGGER, false, text);
}
