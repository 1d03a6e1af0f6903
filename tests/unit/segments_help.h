/* SPDX-License-Identifier: MIT */
/* segments_help.h - a log of several segments, and what it reads as. */
#ifndef TESTS_SEGMENTS_HELP_H
#define TESTS_SEGMENTS_HELP_H

#include "core/file.h"
#include "dispatcher_help.h"
#include "log/io.h"
#include "log/log.h"
#include "log/segments.h"
#include "log/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHAIN_HEAD "{\"seed\": 1}"
#define PER_SEGMENT 3 /* commands */

/* So many commands and answers behind the last one. */
static inline void
chain_write(struct logwriter *l, uint64_t *arrivals, int n)
{
    struct frame frame = help_frame("GE", "1");
    struct emission e = {.sender = SENDER_DEFAULT,
                         .code = CMD_NEW_TRIAL,
                         .payload = "{}",
                         .len = 2};
    struct err err;

    for (int i = 0; i < n; i++) {
        logwriter_frame(l, RECORD_IN, ++*arrivals, &frame);
        CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_OK);
        e.cause = *arrivals;
        emission_record(&e, l);
        CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_OK);
    }
}

static inline struct logwriter *
chain_begin(const struct logio *io)
{
    struct err err;
    struct logwriter *l =
        logwriter_create("log", CHAIN_HEAD, strlen(CHAIN_HEAD), io, &err);

    if (l == NULL)
        printf("%s\n", err.text);
    CHECK(l != NULL);
    return l;
}

/* "log", of so many segments. */
static inline struct logwriter *
chain_make(int segments, uint64_t *arrivals)
{
    struct logwriter *l = chain_begin(NULL);
    struct err err;

    *arrivals = 0;
    for (int i = 1; i <= segments; i++) {
        chain_write(l, arrivals, PER_SEGMENT);
        if (i < segments)
            CHECK_EQ(logwriter_rotate(l, *arrivals, *arrivals, &err),
                     LOGWRITER_OK);
    }
    CHECK_EQ(logwriter_segment(l), segments);
    return l;
}

static inline void
chain_end(struct logwriter *l, uint64_t arrivals)
{
    struct err err;

    logwriter_text(l, RECORD_END, arrivals, "end of file");
    CHECK_EQ(logwriter_finish(l, &err), 0);
    logwriter_free(l);
}

static inline void
chain_of(int segments)
{
    uint64_t arrivals;
    struct logwriter *l = chain_make(segments, &arrivals);

    chain_end(l, arrivals);
}

/* What it reads as, without marks: "H0 <1 >t1 <2 >t2 E2 end"; damage and what
 * cannot be opened: the error. */
static inline const char *
chain_shown(const char *path)
{
    static char text[65536];
    enum log_status status = LOG_RECORD;
    struct log_reader *f;
    struct record r;
    struct err err;
    size_t len = 0;

    err_clear(&err);
    f = log_open(path, 0, &err);
    if (f == NULL) {
        snprintf(text, sizeof text, "%s", err.text);
        return text;
    }
    while ((status = log_next(f, &r, &err)) == LOG_RECORD)
        if (r.kind != RECORD_SYNC)
            len += (size_t)snprintf(text + len, sizeof text - len,
                                    "%s%" PRIu64 " ", record_kind_text(r.kind),
                                    r.number);
    if (status == LOG_DAMAGED)
        len = 0;
    snprintf(text + len, sizeof text - len, "%s",
             status == LOG_END    ? "end"
             : status == LOG_TORN ? "torn"
                                  : err.text);
    log_close(f);
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
