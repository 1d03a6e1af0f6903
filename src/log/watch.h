/* SPDX-License-Identifier: MIT */
/* watch.h - waits for a log to grow, and notices when its writer is gone.
 * inotify(7) tells of both; nothing is looked at while nothing happens, but on
 * far file systems.  One thread. */
#ifndef LOG_WATCH_H
#define LOG_WATCH_H

struct err;
struct log_watch;

/* To be made before the log is read to its end, so that nothing is missed. */
struct log_watch *log_watch_new(const char *log, struct err *err);
void log_watch_free(struct log_watch *w);

enum log_watch_word {
    LOG_WATCH_FAILED = -1, /* err tells */
    LOG_WATCH_GONE,        /* nobody writes the log: what is there now is all */
    LOG_WATCH_MORE,        /* the log may have grown */
    LOG_WATCH_DEAF,        /* nobody reads our stdout any more */
};
/* Blocks until one of these is so. */
enum log_watch_word log_watch_wait(struct log_watch *w, struct err *err);

#endif
