/* SPDX-License-Identifier: MIT */
#include "store/index_log.h"

#include "core/err.h"
#include "log/log.h"
#include "log/record.h"
#include "store/index.h"
#include "store/index_pass.h"
#include "store/rows.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key;
    size_t offset;
} position_keys[] = {
    {"log_segment", offsetof(struct index_position, segment)},
    {"log_offset", offsetof(struct index_position, offset)},
    {"log_number", offsetof(struct index_position, number)},
    {"log_time_us", offsetof(struct index_position, time_us)},
};
#define N_POSITION_KEYS (sizeof position_keys / sizeof *position_keys)

static int64_t *
position_member(struct index_position *at, size_t i)
{
    return (int64_t *)(void *)((char *)at + position_keys[i].offset);
}

static int
get_position(struct store *s, struct index_position *at, struct err *err)
{
    *at = (struct index_position){0};
    for (size_t i = 0; i < N_POSITION_KEYS; i++)
        if (store_get(s, position_keys[i].key, position_member(at, i), err) < 0)
            return -1;
    return 0;
}

static int
put_position(struct store *s, struct index_position *at, struct err *err)
{
    for (size_t i = 0; i < N_POSITION_KEYS; i++)
        if (store_set(s, position_keys[i].key, *position_member(at, i), err) !=
            0)
            return -1;
    return 0;
}

static struct index_position
position_of(const struct log_reader *log, const struct record *r)
{
    return (struct index_position){(int64_t)log_segment(log),
                                   (int64_t)log_offset(log), (int64_t)r->number,
                                   r->time_us};
}

/* A log of which something was read cannot but be there. */
static struct log_reader *
open_log(const struct index_pass *p, const struct index_position *at,
         struct err *err)
{
    struct log_reader *log;
    char *path;

    if (at->segment == 0)
        return log_open_in(p->folder, 0, err);
    path = log_path(p->folder);
    if (path == NULL) {
        err_set(err, ERR_MEMORY, "%s: out of memory", p->folder);
        return NULL;
    }
    log = log_open(path, 0, err);
    free(path);
    return log;
}

/* Up to the record that was read last.  1: it is not there any more. */
static int
skip_to(const struct index_pass *p, const struct index_position *at,
        struct err *err)
{
    struct log_reader *log = p->log;
    struct index_position now;
    struct record r;

    if (log_start_at(log, (uint64_t)at->segment, err) != 0)
        return 1;
    while (log_next(log, &r, err) == LOG_RECORD) {
        now = position_of(log, &r);
        if (memcmp(&now, at, sizeof now) == 0)
            return 0;
        if (now.segment > at->segment || now.offset >= at->offset)
            break;
    }
    err_set(err, ERR_INPUT, "%s: no command %lld at offset %lld of the log",
            p->folder, (long long)at->number, (long long)at->offset);
    return 1;
}

/* Segments that were dropped meanwhile are lost to the database as well: a new
 * one would know still less.  What it has read is kept. */
static int
seek(struct index_pass *p, const struct index_position *at, struct err *err)
{
    if (p->log != NULL && memcmp(at, &p->at, sizeof *at) == 0)
        return log_grow(p->log, err) < 0 ? -1 : 0;
    log_close(p->log);
    p->log = open_log(p, at, err);
    p->at = *at;
    if (p->log == NULL)
        return -1;
    if (at->segment == 0 || (uint64_t)at->segment < log_first_segment(p->log))
        return log_start_at(p->log, log_first_segment(p->log), err);
    return skip_to(p, at, err);
}

/* A tail that is cut off is not there yet. */
static int
read_records(struct index_pass *p, struct rows *rows, struct index_report *out,
             struct err *err)
{
    enum log_status status;
    struct record r;

    while ((status = log_next(p->log, &r, err)) == LOG_RECORD) {
        if (rows_add_record(rows, &r, log_segment(p->log), log_offset(p->log),
                            err) != 0)
            return -1;
        p->at = position_of(p->log, &r);
        out->records++;
    }
    return status == LOG_DAMAGED ? -1 : 0;
}

int
index_log_read(struct index_pass *p, struct rows *rows,
               struct index_report *out, struct err *err)
{
    struct index_position at;
    int rc = get_position(rows->store, &at, err);

    if (rc != 0)
        return rc;
    rc = seek(p, &at, err);
    if (rc == 0)
        rc = read_records(p, rows, out, err);
    if (rc >= 0)
        return rc == 0 ? put_position(rows->store, &p->at, err) : rc;
    if (err->code == ERR_LOG && put_position(rows->store, &p->at, NULL) != 0)
        err->code = ERR_SYSTEM;
    return -1;
}
