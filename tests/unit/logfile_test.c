/* SPDX-License-Identifier: MIT */
#include "log/log.h"

#include "core/file.h"
#include "dispatcher_help.h"

/* A small session: its log's bytes; `marks` the offsets behind each sync
 * mark, `ends` those behind each record. */
static struct buf bytes;
static size_t ends[64], n_ends, mark_begins[8], n_marks;

static void
add(enum record_kind kind, uint64_t number, const char *payload)
{
    if (kind == RECORD_SYNC)
        mark_begins[n_marks++] = bytes.len;
    record_encode(&bytes, kind, number, 1700000000000000, payload,
                  strlen(payload));
    ends[n_ends++] = bytes.len;
}

static void
make_log(void)
{
    buf_init(&bytes, 1 << 20);
    record_write_version(&bytes);
    ends[n_ends++] = bytes.len;
    add(RECORD_HEAD, 0, "{\"seed\": 1}");
    add(RECORD_SYNC, 0, "");
    add(RECORD_IN, 1, "IN{\"x\": \"\n\"}");
    add(RECORD_TUNER, 1, "ID");
    add(RECORD_IN, 2, "GE2");
    add(RECORD_TUNER, 2, "TR{}");
    add(RECORD_SYNC, 0, "");
    add(RECORD_IN, 3, "ME{}");
    add(RECORD_ASSESSOR, 3, "KI\"A\"");
    add(RECORD_SKIPPED, 4, "t why");
    add(RECORD_END, 4, "end of file");
}

static void
write_log(const char *data, size_t len)
{
    struct err err;

    CHECK_EQ(file_write("log", data, len, &err), 0);
}

static void
append(const char *path, const char *data, size_t len)
{
    FILE *out = fopen(path, "a");

    CHECK(out != NULL);
    CHECK_EQ(fwrite(data, 1, len, out), len);
    CHECK_EQ(fclose(out), 0);
}

/* Walks; *n becomes the number of records. */
static enum log_status
walk(size_t *n, uint64_t *torn, struct err *err)
{
    struct log_reader *f = log_open("log", 0, err);
    struct record r;
    enum log_status status;

    *n = 0;
    *torn = 0;
    if (f == NULL)
        return LOG_DAMAGED;
    while ((status = log_next(f, &r, err)) == LOG_RECORD)
        ++*n;
    if (status == LOG_TORN)
        *torn = log_torn(f);
    log_close(f);
    return status;
}

TEST(logfile_gives_records_with_their_offsets)
{
    struct log_reader *f;
    struct record r;
    struct err err;

    make_log();
    write_log(bytes.data, bytes.len);
    f = log_open("log", 0, &err);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i + 1 < n_ends; i++) {
            CHECK_EQ(log_next(f, &r, &err), LOG_RECORD);
            CHECK_EQ(log_offset(f), ends[i]);
            CHECK_EQ(r.size, ends[i + 1] - ends[i]);
        }
        CHECK_EQ(log_next(f, &r, &err), LOG_END);
        CHECK_EQ(log_next(f, &r, &err), LOG_END);
        log_rewind(f);
    }
    log_close(f);
    log_close(NULL);
    buf_fini(&bytes);
}

/* Cut at every byte: never more than the torn tail is lost, and nothing is
 * called damage, because no mark stands behind a cut. */
TEST(logfile_cut_at_every_byte_is_torn)
{
    size_t whole = 0;

    make_log();
    for (size_t cut = 0; cut < bytes.len; cut++) {
        struct err err;
        enum log_status status;
        uint64_t torn;
        size_t n;

        write_log(bytes.data, cut);
        status = walk(&n, &torn, &err);
        if (cut < ends[0]) {
            CHECK_EQ(status, LOG_DAMAGED);
            CHECK_STR(err.text, "log: not a command log: expected the line "
                                "'tunepipe-log 1'");
            CHECK_EQ(err.code, ERR_LOG);
            continue;
        }
        if (ends[whole + 1] == cut)
            whole++;
        CHECK_EQ(n, whole);
        CHECK_EQ(torn, cut - ends[whole]);
        CHECK_EQ(status, torn == 0 ? LOG_END : LOG_TORN);
    }
    buf_fini(&bytes);
}

/* One bit is wrong: before the last mark that is damage, with the offset of
 * its record; in the mark itself or behind it, a torn tail. */
TEST(logfile_every_flipped_bit_is_found)
{
    size_t last;

    make_log();
    last = mark_begins[n_marks - 1];
    for (size_t i = ends[0]; i < bytes.len; i++) {
        char want[200];
        struct err err;
        enum log_status status;
        size_t n, record = 0;
        uint64_t torn;

        while (ends[record + 1] <= i)
            record++;
        bytes.data[i] ^= (char)(1 << i % 8);
        write_log(bytes.data, bytes.len);
        status = walk(&n, &torn, &err);
        bytes.data[i] ^= (char)(1 << i % 8);
        CHECK_EQ(n, record);
        if (i >= last) {
            CHECK_EQ(status, LOG_TORN);
            CHECK_EQ(torn, bytes.len - ends[record]);
            continue;
        }
        CHECK_EQ(status, LOG_DAMAGED);
        snprintf(want, sizeof want, "log: offset %zu, ", ends[record]);
        CHECK_HAS(err.text, want);
        CHECK_EQ(err.code, ERR_LOG);
    }
    buf_fini(&bytes);
}

TEST(logfile_bytes_lost_in_the_middle_are_damage)
{
    make_log();
    for (size_t from = ends[0]; from + 5 < mark_begins[1]; from++) {
        struct err err;
        size_t n;
        uint64_t torn;

        buf_fini(&bytes);
        n_ends = n_marks = 0;
        make_log();
        memmove(bytes.data + from, bytes.data + from + 5, bytes.len - from - 5);
        write_log(bytes.data, bytes.len - 5);
        CHECK_EQ(walk(&n, &torn, &err), LOG_DAMAGED);
    }
    buf_fini(&bytes);
}

TEST(logfile_of_a_newer_version_is_refused)
{
    static const char *const lines[] = {"tunepipe-log 2\n",
                                        "tunepipe-log 18446744073709551615\n"};
    struct err err;

    for (int i = 0; i < 2; i++) {
        write_log(lines[i], strlen(lines[i]));
        CHECK(log_open("log", 0, &err) == NULL);
        CHECK_HAS(err.text, "log: a command log of version ");
        CHECK_HAS(err.text, "this program reads up to version 1");
        CHECK_EQ(err.code, ERR_LOG);
    }
}

TEST(logfile_refuses_what_is_none)
{
    struct err err;

    CHECK(log_open("nowhere", 0, &err) == NULL);
    CHECK_HAS(err.text, "nowhere: cannot open: No such file");
    CHECK_EQ(err.code, ERR_LOG);
    CHECK(log_open(".", 0, &err) == NULL);
    CHECK_HAS(err.text, ".: expected a file");
    CHECK(log_open("/dev/null", 0, &err) == NULL);
    CHECK_HAS(err.text, "/dev/null: expected a file");
    write_log("hello", 5);
    CHECK(log_open("log", 0, &err) == NULL);
    CHECK_HAS(err.text, "log: not a command log");
}

TEST(logfile_grows_with_what_is_appended)
{
    struct log_reader *f;
    struct record r;
    struct err err;
    size_t half, n = 0;

    make_log();
    half = ends[3] + 5; /* in the middle of a record */
    write_log(bytes.data, half);
    f = log_open("log", 0, &err);
    while (log_next(f, &r, &err) == LOG_RECORD)
        n++;
    CHECK_EQ(n, 3);
    CHECK_EQ(log_grow(f, &err), 0);
    append("log", bytes.data + half, bytes.len - half);
    CHECK_EQ(log_grow(f, &err), 1);
    while (log_next(f, &r, &err) == LOG_RECORD)
        n++;
    CHECK_EQ(n + 1, n_ends);
    CHECK_EQ(log_next(f, &r, &err), LOG_END);
    CHECK_EQ(log_grow(f, &err), 0);
    log_close(f);
}

/* Bytes of the maps of regular files that are in memory. */
static size_t
resident_of_files(void)
{
    FILE *in = fopen("/proc/self/status", "r");
    char line[256];
    size_t kb = 0;

    CHECK(in != NULL);
    while (fgets(line, sizeof line, in) != NULL)
        if (sscanf(line, "RssFile: %zu kB", &kb) == 1)
            break;
    fclose(in);
    return kb * 1024;
}

#define LARGE ((size_t)64 << 20)

/* Whatever its size, a log that is read takes the same memory. */
TEST(logfile_gives_back_what_was_read)
{
    static char payload[1 << 19];
    struct log_reader *f;
    struct record r;
    struct err err;
    size_t before, most = 0;
    int i = 0;

    make_log();
    write_log(bytes.data, bytes.len);
    buf_clear(&bytes);
    record_encode(&bytes, RECORD_IN, 1, 1, payload, sizeof payload);
    for (size_t n = 0; n < LARGE; n += bytes.len)
        append("log", bytes.data, bytes.len);
    f = log_open("log", 0, &err);
    before = resident_of_files();
    for (; log_next(f, &r, &err) == LOG_RECORD; i++)
        if (resident_of_files() > most)
            most = resident_of_files();
    CHECK(i > 120);
    CHECK(most < before + LARGE / 4 * 3);
    log_close(f);
}
