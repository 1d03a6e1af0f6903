/* SPDX-License-Identifier: MIT */
/* The repair of damaged logs: the new file is a log that is whole, the walk
 * over it ends at its end, and repairing it again changes nothing; the old one
 * stays as it was. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "fuzz_file.h"
#include "log/log.h"
#include "log/repair.h"
#include "log_mutator.h"

#include <string.h>

struct tally {
    uint64_t kept, bad; /* finds; what is neither kept nor corrected */
    uint64_t end;       /* of the last one of them */
};

static void
count(void *ctx, const struct repair_find *find)
{
    struct tally *t = ctx;

    MUST(find->bytes > 0);
    t->kept += find->what == REPAIR_KEPT;
    t->bad += find->what != REPAIR_KEPT && find->what != REPAIR_CORRECTED;
    if (find->what != REPAIR_CORRECTED) {
        MUST(find->offset == t->end);
        t->end += find->bytes;
    }
}

static void
must_be_whole(const char *path)
{
    struct log_reader *f = log_open(path, 0, NULL);
    enum log_status status;
    struct record r;
    size_t n = 0;

    MUST(f != NULL);
    while ((status = log_next(f, &r, NULL)) == LOG_RECORD)
        n++;
    MUST(status == LOG_END && n > 0);
    log_close(f);
}

static void
must_equal(const char *path, const void *data, size_t size)
{
    struct buf b;

    buf_init(&b, size + (1 << 18));
    MUST(file_read(path, size + 1, &b, NULL) == 0);
    MUST(b.len == size && (size == 0 || memcmp(b.data, data, size) == 0));
    buf_fini(&b);
}

static void
check_repaired(const char *path)
{
    char again[160];
    struct tally tally = {0};
    struct repair_setup setup = {path, again, count, &tally};
    struct buf b;

    snprintf(again, sizeof again, "%s2", path);
    must_be_whole(path);
    MUST(repair_run(&setup, NULL) == 0);
    MUST(tally.kept == 1 && tally.bad == 0);
    buf_init(&b, 1 << 26);
    MUST(file_read(again, 1 << 26, &b, NULL) == 0);
    must_equal(path, b.data, b.len);
    buf_fini(&b);
    unlink(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char to[120];
    struct err err = {0};
    struct tally tally = {0};
    struct fuzz_file at;
    struct repair_setup setup = {at.path, to, count, &tally};

    fuzz_file_write(&at, data, size);
    snprintf(to, sizeof to, "%s-new", at.path);
    if (repair_run(&setup, &err) == 0) {
        MUST(tally.kept == 1 && tally.end == size);
        check_repaired(to);
        unlink(to);
    } else {
        MUST(err.code != ERR_NONE && access(to, F_OK) != 0);
    }
    must_equal(at.path, data, size);
    fuzz_file_remove(&at);
    return 0;
}
