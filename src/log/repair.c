/* SPDX-License-Identifier: MIT */
#include "log/repair.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/filesystem.h"
#include "core/file.h"
#include "log/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CORRECTABLE 4096 /* longest record of which each bit is tried */

#define BUDGET ((uint64_t)1 << 30)

struct repair {
    const struct repair_setup *setup;
    const char *bytes; /* the log, mapped */
    size_t len;
    int out;
    size_t written;  /* bytes of the log that are in the new file by now */
    uint64_t budget; /* bytes that may still be checked in vain */
};

/* Whole records one after the other. */
struct run {
    size_t begin, end;
    uint64_t records, first, last;
};

static void
run_add(struct run *run, const struct record *r)
{
    run->records++;
    run->end += r->size;
    if (r->number > 0 && run->first == 0)
        run->first = r->number;
    if (r->number > run->last)
        run->last = r->number;
}

/* Extends the run by the whole records behind run->end; *why says why the next
 * bytes are none. */
static void
run_extend(const struct repair *r, struct run *run, struct err *why)
{
    struct record record;

    err_set(why, ERR_LOG, "the end of the log");
    while (run->end < r->len) {
        enum record_status status = record_next(
            r->bytes + run->end, r->len - run->end, SIZE_MAX, &record, why);

        if (status == RECORD_PARTIAL)
            err_set(why, ERR_LOG, "the record is cut off");
        if (status != RECORD_READY)
            return;
        run_add(run, &record);
    }
}

static void
tell(const struct repair *r, enum repair_what what, const struct run *run,
     const char *why)
{
    struct repair_find find = {
        .what = what,
        .offset = run->begin,
        .bytes = run->end - run->begin,
        .records = run->records,
        .first = run->first,
        .last = run->last,
        .why = why,
    };

    if (find.bytes > 0)
        r->setup->found(r->setup->ctx, &find);
}

/* Where the next whole record begins, or the end of the log; *given_up: where
 * the search was given up. */
static size_t
find_whole(struct repair *r, size_t from, bool *given_up)
{
    struct record record;

    *given_up = false;
    for (size_t at = from; at < r->len; at++) {
        size_t claims = record_claims(r->bytes + at, r->len - at);

        if (claims == 0 || claims > r->len - at)
            continue;
        if (record_next(r->bytes + at, r->len - at, SIZE_MAX, &record, NULL) ==
            RECORD_READY)
            return at;
        if (claims > r->budget) {
            *given_up = true;
            return at;
        }
        r->budget -= claims;
    }
    return r->len;
}

/* ---- one wrong bit ---- */

/* The one bit of [at, at + len) whose turning makes a record of the bytes; -1:
 * there is none, or more than one. */
static long
wrong_bit(const struct repair *r, size_t at, size_t len, struct record *record,
          char copy[CORRECTABLE])
{
    struct record found;
    long bit = -1;

    memcpy(copy, r->bytes + at, len);
    for (size_t i = 0; i < 8 * len; i++) {
        char mask = (char)(1 << (i % 8));

        copy[i / 8] ^= mask;
        if (record_next(copy, len, SIZE_MAX, &found, NULL) == RECORD_READY &&
            found.size == len) {
            if (bit >= 0)
                return -1;
            bit = (long)i;
            *record = found;
        }
        copy[i / 8] ^= mask;
    }
    if (bit >= 0)
        copy[bit / 8] ^= (char)(1 << (bit % 8));
    return bit;
}

static int
append(struct repair *r, const void *data, size_t len, struct err *err)
{
    if (file_write_all(r->out, data, len, err) != 0)
        return err_place(err, "%s", r->setup->to);
    r->written += len;
    return 0;
}

/* 1: [at, next) is a record but for one bit, and is written, corrected; 0: it
 * is not. */
static int
correct(struct repair *r, size_t at, size_t next, struct run *kept,
        struct err *err)
{
    char copy[CORRECTABLE];
    struct record record;
    struct run run = {at, next, 1, 0, 0};
    uint64_t cost = 8 * (uint64_t)(next - at) * (next - at);
    long bit;

    if (next - at > sizeof copy || cost > r->budget)
        return 0;
    r->budget -= cost;
    bit = wrong_bit(r, at, next - at, &record, copy);
    if (bit < 0)
        return 0;
    if (append(r, r->bytes + r->written, at - r->written, err) != 0 ||
        append(r, copy, next - at, err) != 0)
        return -1;
    run.first = at + (uint64_t)bit / 8;
    tell(r, REPAIR_CORRECTED, &run, NULL);
    run_add(kept, &record);
    return 1;
}

/* ---- the walk ---- */

/* Whether the first line is that of another version, and not damaged. */
static bool
is_newer(const struct repair *r)
{
    size_t magic = sizeof RECORD_MAGIC - 1;

    return r->len > magic && memcmp(r->bytes, RECORD_MAGIC, magic) == 0 &&
           r->bytes[magic] >= '2' && r->bytes[magic] <= '9';
}

/* The length of the version line, also of a damaged one before a whole head
 * record; 0: err tells. */
static size_t
version_len(const struct repair *r, size_t len, struct err *err)
{
    size_t found = record_read_version(r->bytes, r->len, err);
    struct record head;

    if (found == 0 && r->len > len && !is_newer(r) &&
        record_next(r->bytes + len, r->len - len, SIZE_MAX, &head, NULL) ==
            RECORD_READY &&
        head.kind == RECORD_HEAD)
        return len;
    if (found == 0)
        err_place(err, "%s", r->setup->log);
    return found;
}

static int
begin(struct repair *r, struct err *err)
{
    struct buf line;
    size_t len;
    int rc = -1;

    buf_init(&line, 64);
    record_write_version(&line);
    len = version_len(r, line.len, err);
    if (len > 0)
        rc = append(r, line.data, line.len, err);
    r->written = len;
    buf_fini(&line);
    return rc;
}

/* Reports what follows damage that cannot be undone. */
static void
tell_rest(struct repair *r, size_t at, size_t next, bool given_up,
          struct err *why)
{
    while (at < r->len) {
        struct run lost = {.begin = at, .end = next};
        struct run behind = {.begin = next, .end = next};

        tell(r, REPAIR_LOST, &lost, why->text);
        if (given_up) {
            behind.end = r->len;
            tell(r, REPAIR_GIVEN_UP, &behind, NULL);
            return;
        }
        run_extend(r, &behind, why);
        tell(r, REPAIR_BEHIND, &behind, NULL);
        at = behind.end;
        next = find_whole(r, at + (at < r->len), &given_up);
    }
}

static int
walk(struct repair *r, struct err *err)
{
    struct run kept = {.begin = 0, .end = r->written};
    struct err why;

    run_extend(r, &kept, &why);
    for (;;) {
        size_t at = kept.end, next;
        bool given_up = false;
        int rc;

        next = at == r->len ? at : find_whole(r, at + 1, &given_up);
        rc = at == r->len || given_up ? 0 : correct(r, at, next, &kept, err);
        if (rc < 0)
            return -1;
        if (rc > 0) {
            run_extend(r, &kept, &why);
            continue;
        }
        if (kept.records == 0)
            return err_set(err, ERR_LOG,
                           "%s: offset %zu: nothing can be kept: %s",
                           r->setup->log, at, why.text);
        if (append(r, r->bytes + r->written, at - r->written, err) != 0)
            return -1;
        tell(r, REPAIR_KEPT, &kept, NULL);
        tell_rest(r, at, next, given_up, &why);
        return 0;
    }
}

/* ---- files ---- */

static int
map(struct repair *r, struct err *err)
{
    const char *path = r->setup->log;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    const char *bytes = NULL;
    bool loaded;

    if (fd < 0)
        return err_errno(err, ERR_LOG, "%s: cannot open", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        err_set(err, ERR_LOG, "%s: expected a file with a log", path);
    else
        bytes = filesystem_view(fd, (size_t)st.st_size, path, &loaded, err);
    close(fd);
    if (bytes == NULL)
        return -1;
    r->bytes = bytes;
    r->len = (size_t)st.st_size;
    return 0;
}

static int
create(struct repair *r, struct err *err)
{
    const char *path = r->setup->to;

    r->out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (r->out >= 0)
        return 0;
    if (errno == EEXIST)
        return err_set(err, ERR_SYSTEM,
                       "%s: exists, expected the name of a new file", path);
    return err_errno(err, ERR_SYSTEM, "%s: cannot create", path);
}

static int
finish(const struct repair *r, struct err *err)
{
    if (fsync(r->out) == 0)
        return 0;
    return err_errno(err, ERR_SYSTEM, "%s: cannot write", r->setup->to);
}

int
repair_run(const struct repair_setup *setup, struct err *err)
{
    struct repair r = {.setup = setup, .out = -1};
    int rc = -1;

    if (map(&r, err) == 0 && create(&r, err) == 0) {
        r.budget = BUDGET + 16 * (uint64_t)r.len;
        rc = begin(&r, err) != 0 || walk(&r, err) != 0 || finish(&r, err) != 0
                 ? -1
                 : 0;
    }
    if (r.out >= 0)
        close(r.out);
    if (r.out >= 0 && rc != 0)
        unlink(setup->to);
    if (r.len > 0)
        munmap((void *)(uintptr_t)r.bytes, r.len);
    return rc;
}
