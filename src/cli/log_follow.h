/* SPDX-License-Identifier: MIT */
/* log_follow.h - waits for a log to grow, and notices when its writer is
 * gone.  inotify(7) tells of both; nothing is looked at while nothing
 * happens. */
#ifndef CLI_LOG_FOLLOW_H
#define CLI_LOG_FOLLOW_H

struct err;
struct follow;

/* Made before the log is read to its end, so that nothing is missed. */
struct follow *follow_new(const char *log, struct err *err);
void follow_free(struct follow *f);

enum follow_word {
    FOLLOW_FAILED = -1, /* err tells */
    FOLLOW_GONE,        /* nobody writes; what is there now is all */
    FOLLOW_MORE,        /* the log may have grown */
    FOLLOW_DEAF,        /* nobody reads our stdout any more */
};
/* Blocks until there is something to say. */
enum follow_word follow_wait(struct follow *f, struct err *err);

#endif
