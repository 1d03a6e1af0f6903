/* SPDX-License-Identifier: MIT */
/* fuzz_log.h - a command log as a list of its records, to be changed and
 * written again.  Reading makes sense of any bytes, so that mutated ones come
 * out as a log whose lengths and checksums are right. */
#ifndef TESTS_FUZZ_LOG_H
#define TESTS_FUZZ_LOG_H

#include "core/buf.h"
#include "core/crc32c.h"
#include "log/record.h"

#include <stdio.h>
#include <string.h>

#define FUZZ_LOG_RECORDS 512 /* what comes behind is lost */
#define FUZZ_LOG_CRC 9       /* with the space */

/* Its time may be one that no record has. */
struct fuzz_record {
    enum record_kind kind;
    uint64_t number, time_us;
    const char *payload; /* borrowed from the bytes that were read */
    size_t len;
    uint32_t spoiled; /* bits by which the checksum is to be wrong */
};

struct fuzz_log {
    struct fuzz_record records[FUZZ_LOG_RECORDS];
    size_t n;
    const char *end; /* of the bytes that were read */
};

/* Digits, as many as there are, and a space, if there is one. */
static inline uint64_t
fuzz_log_number(const char **p, const char *end)
{
    uint64_t v = 0;

    for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
        v = v * 10 + (uint64_t)(**p - '0');
    if (*p < end && **p == ' ')
        ++*p;
    return v;
}

static inline enum record_kind
fuzz_log_kind(const char **p, const char *end)
{
    for (enum record_kind kind = RECORD_HEAD; kind <= RECORD_END; kind++) {
        size_t len = strlen(record_kind_text(kind));

        if ((size_t)(end - *p) > len && (*p)[len] == ' ' &&
            memcmp(*p, record_kind_text(kind), len) == 0) {
            *p += len + 1;
            return kind;
        }
    }
    return RECORD_IN;
}

/* What stands at p, up to the newline its length leads to, or else the next
 * one; returns where the next record begins. */
static inline const char *
fuzz_log_read_one(struct fuzz_record *r, const char *p, const char *end)
{
    const char *newline;
    uint64_t length;

    memset(r, 0, sizeof *r);
    if (end - p >= FUZZ_LOG_CRC && p[FUZZ_LOG_CRC - 1] == ' ')
        p += FUZZ_LOG_CRC;
    r->kind = fuzz_log_kind(&p, end);
    r->number = fuzz_log_number(&p, end);
    r->time_us = fuzz_log_number(&p, end);
    length = fuzz_log_number(&p, end);
    r->payload = p;
    if (length < (uint64_t)(end - p) && p[length] == '\n')
        newline = p + length;
    else if (p == end || (newline = memchr(p, '\n', (size_t)(end - p))) == NULL)
        newline = end;
    r->len = (size_t)(newline - p);
    return newline == end ? end : newline + 1;
}

/* The bytes must live as long as the log. */
static inline void
fuzz_log_read(struct fuzz_log *log, const void *bytes, size_t size)
{
    size_t magic = strlen(RECORD_MAGIC);
    const char *p = bytes;

    log->end = p + size;
    if (size > magic && memcmp(p, RECORD_MAGIC, magic) == 0) {
        p = memchr(p, '\n', size);
        p = p == NULL ? log->end : p + 1;
    }
    for (log->n = 0; p < log->end && log->n < FUZZ_LOG_RECORDS; log->n++)
        p = fuzz_log_read_one(&log->records[log->n], p, log->end);
}

static inline void
fuzz_log_write_one(struct buf *out, const struct fuzz_record *r)
{
    size_t begin = out->len;
    char crc[FUZZ_LOG_CRC];

    buf_printf(out, "........ %s %llu %llu %zu ", record_kind_text(r->kind),
               (unsigned long long)r->number, (unsigned long long)r->time_us,
               r->len);
    buf_add(out, r->payload, r->len);
    buf_add_char(out, '\n');
    if (out->failed) {
        out->len = begin;
        return;
    }
    snprintf(crc, sizeof crc, "%08x",
             r->spoiled ^ crc32c(0, out->data + begin + FUZZ_LOG_CRC,
                                 out->len - begin - FUZZ_LOG_CRC - 1));
    memcpy(out->data + begin, crc, FUZZ_LOG_CRC - 1);
}

/* As many whole records as the buf's maximum holds. */
static inline void
fuzz_log_write(const struct fuzz_log *log, struct buf *out)
{
    record_write_version(out);
    for (size_t i = 0; i < log->n && !out->failed; i++)
        fuzz_log_write_one(out, &log->records[i]);
}

#endif
