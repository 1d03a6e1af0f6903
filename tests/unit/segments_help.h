/* SPDX-License-Identifier: MIT */
/* segments_help.h - a log of several segments, and what it reads as. */
#ifndef TESTS_SEGMENTS_HELP_H
#define TESTS_SEGMENTS_HELP_H

#include "core/file.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/logfile.h"
#include "dispatcher/logio.h"
#include "dispatcher/segments.h"
#include "dispatcher_help.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHAIN_HEAD "{\"seed\": 1}"
#define PER_SEGMENT 3 /* commands */

/* So many commands and answers behind the last one. */
static inline void
chain_write(struct commandlog *l, uint64_t *arrivals, int n)
{
    struct frame frame = help_frame("GE", "1");
    struct emission e = {.sender = SENDER_DEFAULT,
                         .code = CMD_NEW_TRIAL,
                         .payload = "{}",
                         .len = 2};
    struct err err;

    for (int i = 0; i < n; i++) {
        commandlog_in(l, ++*arrivals, &frame);
        CHECK_EQ(commandlog_flush(l, &err), COMMANDLOG_OK);
        e.cause = *arrivals;
        commandlog_out(l, &e);
        CHECK_EQ(commandlog_flush(l, &err), COMMANDLOG_OK);
    }
}

static inline struct commandlog *
chain_begin(const struct logio *io)
{
    struct err err;
    struct commandlog *l =
        commandlog_create("log", CHAIN_HEAD, strlen(CHAIN_HEAD), io, &err);

    if (l == NULL)
        printf("%s\n", err.text);
    CHECK(l != NULL);
    return l;
}

/* "log", of so many segments. */
static inline struct commandlog *
chain_make(int segments, uint64_t *arrivals)
{
    struct commandlog *l = chain_begin(NULL);
    struct err err;

    *arrivals = 0;
    for (int i = 1; i <= segments; i++) {
        chain_write(l, arrivals, PER_SEGMENT);
        if (i < segments)
            CHECK_EQ(commandlog_rotate(l, *arrivals, *arrivals, &err),
                     COMMANDLOG_OK);
    }
    CHECK_EQ(commandlog_segment(l), segments);
    return l;
}

static inline void
chain_end(struct commandlog *l, uint64_t arrivals)
{
    struct err err;

    commandlog_end(l, arrivals, "end of file");
    CHECK_EQ(commandlog_finish(l, &err), 0);
    commandlog_free(l);
}

static inline void
chain_of(int segments)
{
    uint64_t arrivals;
    struct commandlog *l = chain_make(segments, &arrivals);

    chain_end(l, arrivals);
}

/* What it reads as, without marks: "H0 <1 >t1 <2 >t2 E2 end"; damage and what
 * cannot be opened: the error. */
static inline const char *
chain_shown(const char *path)
{
    static char text[65536];
    enum logfile_status status = LOGFILE_RECORD;
    struct logfile *f;
    struct record r;
    struct err err;
    size_t len = 0;

    err_clear(&err);
    f = logfile_open(path, &err);
    if (f == NULL) {
        snprintf(text, sizeof text, "%s", err.text);
        return text;
    }
    while ((status = logfile_next(f, &r, &err)) == LOGFILE_RECORD)
        if (r.kind != RECORD_SYNC)
            len += (size_t)snprintf(text + len, sizeof text - len,
                                    "%s%" PRIu64 " ", record_kind_text(r.kind),
                                    r.number);
    if (status == LOGFILE_DAMAGED)
        len = 0;
    snprintf(text + len, sizeof text - len, "%s",
             status == LOGFILE_END    ? "end"
             : status == LOGFILE_TORN ? "torn"
                                      : err.text);
    logfile_close(f);
    return text;
}

/* What a log of commands 1 to `last` reads as. */
static inline const char *
chain_text(uint64_t first, uint64_t last, const char *tail)
{
    static char text[65536];
    size_t len = (size_t)snprintf(text, sizeof text, "H0 ");

    if (first > 1)
        len += (size_t)snprintf(text + len, sizeof text - len, "G%" PRIu64 " ",
                                first - 1);
    for (uint64_t i = first; i <= last; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "<%" PRIu64 " >t%" PRIu64 " ", i, i);
    snprintf(text + len, sizeof text - len, "%s", tail);
    return text;
}

static inline void
touch(const char *path)
{
    struct err err;

    CHECK_EQ(file_write(path, "", 0, &err), 0);
}

static inline bool
is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Cuts it, or puts it back. */
static inline void
put_bytes(const char *path, const struct buf *bytes, size_t len)
{
    struct err err;

    CHECK_EQ(file_write(path, bytes->data, len, &err), 0);
}

static inline void
get_bytes(const char *path, struct buf *bytes)
{
    struct err err;

    buf_init(bytes, 1 << 24);
    CHECK_EQ(file_read(path, 1 << 22, bytes, &err), 0);
}

#endif
