/* SPDX-License-Identifier: MIT */
#include "dispatcher/logfile.h"

#include "core/err.h"
#include "core/number.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct logfile {
    char *path;
    const char *bytes; /* mapped; "" when empty */
    size_t len;
    size_t begin; /* of the first record */
    size_t at;    /* of the next record */
    size_t last;  /* of the record last returned */
};

static int
map_file(struct logfile *f, struct err *err)
{
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *map;
    int rc = 0;

    if (fd < 0)
        return err_errno(err, ERR_LOG, "%s: cannot open", f->path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        rc = err_set(err, ERR_LOG, "%s: expected a file", f->path);
    } else if (st.st_size > 0) {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED)
            rc = err_errno(err, ERR_LOG, "%s: cannot map", f->path);
        else
            f->bytes = map;
        f->len = rc == 0 ? (size_t)st.st_size : 0;
    }
    close(fd);
    return rc;
}

struct logfile *
logfile_open(const char *path, struct err *err)
{
    struct logfile *f = calloc(1, sizeof *f);

    if (f == NULL || (f->path = strdup(path)) == NULL) {
        free(f);
        err_set(err, ERR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    f->bytes = "";
    if (map_file(f, err) != 0)
        goto fail;
    f->begin = record_read_version(f->bytes, f->len, err);
    if (f->begin == 0) {
        err_place(err, "%s", path);
        goto fail;
    }
    f->at = f->begin;
    return f;
fail:
    logfile_close(f);
    return NULL;
}

void
logfile_close(struct logfile *f)
{
    if (f == NULL)
        return;
    if (f->len > 0)
        munmap((void *)(uintptr_t)f->bytes, f->len);
    free(f->path);
    free(f);
}

void
logfile_rewind(struct logfile *f)
{
    f->at = f->begin;
}

#define CRC_SIZE 8

/* How far all was on stable storage when the mark at `begin` was written. */
static size_t
synced_upto(const struct record *mark, size_t begin)
{
    uint64_t upto;

    if (mark->len == 0)
        return begin;
    if (!number_parse_u64(mark->payload, mark->len, &upto) || upto > begin)
        return 0;
    return (size_t)upto;
}

/* Whether a whole sync mark anywhere behind `from` says that the bytes there
 * were on stable storage; not only behind a newline, for that may be what is
 * damaged. */
static bool
synced_behind(const struct logfile *f, size_t from)
{
    static const char kind[] = " M 0 ";
    const char *end = f->bytes + f->len;
    struct record r;

    if (f->len - from < CRC_SIZE)
        return false;
    for (const char *at = f->bytes + from + CRC_SIZE; at < end; at++) {
        const char *begin;

        at = memmem(at, (size_t)(end - at), kind, sizeof kind - 1);
        if (at == NULL)
            return false;
        begin = at - CRC_SIZE;
        if (record_next(begin, (size_t)(end - begin), SIZE_MAX, &r, NULL) ==
                RECORD_READY &&
            synced_upto(&r, (size_t)(begin - f->bytes)) > from)
            return true;
    }
    return false;
}

static enum logfile_status
not_a_record(struct logfile *f, struct err *err)
{
    if (!synced_behind(f, f->at))
        return LOGFILE_TORN;
    err_place(err, "%s: offset %zu, before the last sync mark", f->path, f->at);
    if (err != NULL)
        err->code = ERR_LOG;
    return LOGFILE_DAMAGED;
}

enum logfile_status
logfile_next(struct logfile *f, struct record *out, struct err *err)
{
    enum record_status status;

    if (f->at == f->len)
        return LOGFILE_END;
    status = record_next(f->bytes + f->at, f->len - f->at, SIZE_MAX, out, err);
    if (status == RECORD_PARTIAL)
        err_set(err, ERR_LOG, "the record is cut off");
    if (status != RECORD_READY)
        return not_a_record(f, err);
    f->last = f->at;
    f->at += out->size;
    return LOGFILE_RECORD;
}

uint64_t
logfile_offset(const struct logfile *f)
{
    return f->last;
}

uint64_t
logfile_torn(const struct logfile *f)
{
    return f->len - f->at;
}
