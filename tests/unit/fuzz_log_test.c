/* SPDX-License-Identifier: MIT */
/* Whether the mutator of the fuzz targets mends logs: it would find nothing if
 * not, and nobody would know. */
#include "fuzz/fuzz_log.h"

#include "core/err.h"
#include "core/file.h"
#include "log/log.h"
#include "t.h"

#include <dirent.h>

NOT_UNDER_TSAN;

#define CORPUS "tests/fuzz/corpus/records"

static void
mend(const struct buf *in, struct buf *out)
{
    static struct fuzz_log log;

    fuzz_log_read(&log, in->data != NULL ? in->data : "", in->len);
    for (size_t i = 0; i < log.n; i++)
        log.records[i].time_us &= INT64_MAX; /* the only thing refused */
    buf_clear(out);
    fuzz_log_write(&log, out);
    CHECK(!out->failed);
}

/* Walks from the first record to the end. */
static enum log_status
walk(const struct buf *log, size_t *n)
{
    enum log_status status;
    struct log_reader *f;
    struct record r;
    struct err err;

    CHECK_EQ(file_write("log", log->data, log->len, &err), 0);
    f = log_open("log", 0, &err);
    CHECK(f != NULL);
    for (*n = 0; (status = log_next(f, &r, &err)) == LOG_RECORD;)
        ++*n;
    log_close(f);
    return status;
}

static void
read_file(const char *folder, const char *name, struct buf *b)
{
    char path[4096];
    struct err err;

    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < 4096);
    buf_clear(b);
    CHECK_EQ(file_read(path, b->max, b, &err), 0);
}

TEST(fuzz_log_keeps_a_whole_log)
{
    struct buf in, out;

    buf_init(&in, 1 << 20);
    buf_init(&out, 1 << 20);
    read_file(t_source(CORPUS), "log", &in);
    mend(&in, &out);
    CHECK(in.len == out.len && memcmp(in.data, out.data, in.len) == 0);
    buf_fini(&in);
    buf_fini(&out);
}

TEST(fuzz_log_mends_any_changed_byte)
{
    struct buf in, out;
    size_t n;

    buf_init(&in, 1 << 20);
    buf_init(&out, 1 << 20);
    read_file(t_source(CORPUS), "log", &in);
    for (size_t i = strlen(RECORD_MAGIC) + 2; i < in.len; i++) {
        in.data[i] ^= 4;
        mend(&in, &out);
        CHECK_EQ(walk(&out, &n), LOG_END);
        CHECK(n >= 10);
        in.data[i] ^= 4;
    }
    buf_fini(&in);
    buf_fini(&out);
}

TEST(fuzz_log_mends_the_whole_corpus)
{
    const char *folder = t_source(CORPUS);
    DIR *dir = opendir(folder);
    struct buf in, out;
    struct dirent *entry;
    size_t n;

    CHECK(dir != NULL);
    buf_init(&in, 1 << 20);
    buf_init(&out, 1 << 20);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        read_file(folder, entry->d_name, &in);
        mend(&in, &out);
        CHECK_EQ(walk(&out, &n), LOG_END);
    }
    closedir(dir);
    buf_fini(&in);
    buf_fini(&out);
}

TEST(fuzz_log_spoils_one_record)
{
    static struct fuzz_log log;
    struct buf in, out;
    size_t n;

    buf_init(&in, 1 << 20);
    buf_init(&out, 1 << 20);
    read_file(t_source(CORPUS), "log", &in);
    fuzz_log_read(&log, in.data, in.len);
    log.records[log.n - 1].spoiled = 1;
    fuzz_log_write(&log, &out);
    CHECK_EQ(walk(&out, &n), LOG_TORN);
    CHECK_EQ(n, log.n - 1);
    log.records[0].spoiled = 1;
    buf_clear(&out);
    fuzz_log_write(&log, &out);
    CHECK_EQ(walk(&out, &n), LOG_DAMAGED);
    CHECK_EQ(n, 0);
    buf_fini(&in);
    buf_fini(&out);
}
