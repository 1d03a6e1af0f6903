/* SPDX-License-Identifier: MIT */
/* loghead.h - a log, opened, and what its head says.  One thread. */
#ifndef REPLAY_LOGHEAD_H
#define REPLAY_LOGHEAD_H

struct err;
struct json;
struct logfile;
struct record;
struct session_setup;

enum loghead_flags {
    LOGHEAD_WHOLE = 1, /* not one whose beginning is not on record any more */
    LOGHEAD_KEEP = 2,  /* logfile_keep() its payloads */
};

/* The log, its head read into *head; to be closed.  NULL: err tells. */
struct logfile *loghead_open(const char *path, unsigned flags,
                             struct record *head, struct err *err);

/* -1: its beginning is not on record any more, which err tells, and what does
 * without it. */
int loghead_check_whole(const struct logfile *file, struct err *err);

/* What session_read_head() makes of it; the document, from which *setup
 * borrows, is to be freed.  NULL: err tells, and names the log. */
struct json *loghead_read(const char *path, const struct record *head,
                          struct session_setup *setup, struct err *err);

#endif
