/* SPDX-License-Identifier: MIT */
/* What the loss of power leaves of a log: everything before the last mark's
 * word, and of what stands behind it any blocks, in any order. */
#include "log/log.h"

#include "core/file.h"
#include "dispatcher_help.h"

NOT_UNDER_TSAN;
NOT_WITH_CLANG;

#define RECORDS 120

/* A log whose marks vouch for what an earlier moment had: `ends` are those of
 * its records, `durable` is what its last mark vouches for. */
struct tail {
    struct buf bytes;
    size_t ends[RECORDS + 1];
    size_t durable;
};

static void
tail_make(struct tail *t, uint64_t *state)
{
    char text[400];
    size_t synced = 0;

    buf_init(&t->bytes, 1 << 20);
    record_write_version(&t->bytes);
    t->ends[0] = t->bytes.len;
    t->durable = 0;
    for (uint64_t i = 1; i <= RECORDS; i++) {
        size_t len = (size_t)help_below(state, 300);
        bool mark = help_below(state, 12) == 0 || i == 2;

        if (!mark) { /* payloads full of what looks like records */
            snprintf(text, sizeof text, "GE%0*d\n12345678 M 0 1 0 \n",
                     (int)len + 1, 0);
            record_encode(&t->bytes, RECORD_IN, i, 1, text, strlen(text));
        } else if (help_below(state, 2) == 0 || synced == 0) {
            t->durable = t->bytes.len;
            record_encode(&t->bytes, RECORD_SYNC, 0, 1, "", 0);
        } else {
            t->durable = synced > t->durable ? synced : t->durable;
            snprintf(text, sizeof text, "%zu", synced);
            record_encode(&t->bytes, RECORD_SYNC, 0, 1, text, strlen(text));
        }
        t->ends[i] = t->bytes.len;
        if (help_below(state, 5) == 0)
            synced = t->bytes.len; /* asked for here, marked later */
    }
}

/* Records that lie wholly before `at`. */
static size_t
whole_before(const struct tail *t, size_t at)
{
    size_t n = 0;

    while (n < RECORDS && t->ends[n + 1] <= at)
        n++;
    return n;
}

static enum log_status
tail_walk(const struct tail *t, size_t len, size_t *n, uint64_t *torn,
          struct err *err)
{
    struct log_reader *f;
    struct record r;
    enum log_status status;

    *n = 0;
    *torn = 0;
    err_clear(err);
    CHECK_EQ(file_write("log", t->bytes.data, len, err), 0);
    f = log_open("log", 0, err);
    CHECK(f != NULL);
    while ((status = log_next(f, &r, err)) == LOG_RECORD)
        ++*n;
    if (status == LOG_TORN)
        *torn = log_torn(f);
    log_close(f);
    return status;
}

/* Loses blocks behind what is vouched for: zeros, or what stood there before;
 * returns the first byte that differs, or the end. */
static size_t
lose_blocks(struct tail *t, uint64_t *state)
{
    static const size_t sizes[] = {16, 64, 512};
    size_t size = sizes[help_below(state, 3)];
    size_t first = (t->durable + size - 1) / size * size;
    size_t differs = t->bytes.len;
    char *before = malloc(t->bytes.len);

    memcpy(before, t->bytes.data, t->bytes.len);
    for (size_t at = first; at + size <= t->bytes.len; at += size) {
        if (help_below(state, 4) != 0)
            continue;
        if (help_below(state, 2) == 0)
            memset(t->bytes.data + at, 0, size);
        else
            for (size_t k = 0; k < size; k++)
                t->bytes.data[at + k] = (char)help_below(state, 256);
    }
    for (size_t at = t->bytes.len; at-- > 0;)
        if (t->bytes.data[at] != before[at])
            differs = at;
    free(before);
    return differs;
}

TEST(logtail_blocks_lost_and_reordered_are_cut)
{
    uint64_t state = 1;
    int torn_ones = 0;

    for (int i = 0; i < 3000; i++) {
        struct tail t;
        struct err err;
        size_t n, differs, kept;
        uint64_t torn;
        enum log_status status;

        tail_make(&t, &state);
        differs = lose_blocks(&t, &state);
        kept = whole_before(&t, differs);
        status = tail_walk(&t, t.bytes.len, &n, &torn, &err);
        CHECK_STR(status == LOG_DAMAGED ? err.text : "", "");
        CHECK_EQ(n, kept);
        CHECK_EQ(torn, t.bytes.len - t.ends[kept]);
        CHECK_EQ(status, differs < t.bytes.len ? LOG_TORN : LOG_END);
        torn_ones += status == LOG_TORN;
        buf_fini(&t.bytes);
    }
    CHECK(torn_ones > 1000);
}

TEST(logtail_bits_flipped_before_are_damage)
{
    uint64_t state = 2;

    for (int i = 0; i < 3000; i++) {
        struct tail t;
        struct err err;
        char want[80];
        size_t n, at, kept;
        uint64_t torn;

        tail_make(&t, &state);
        at = t.ends[0] + help_below(&state, t.durable - t.ends[0]);
        t.bytes.data[at] ^= (char)(1 << help_below(&state, 8));
        kept = whole_before(&t, at);
        CHECK_EQ(tail_walk(&t, t.bytes.len, &n, &torn, &err), LOG_DAMAGED);
        CHECK_EQ(n, kept);
        snprintf(want, sizeof want,
                 "log: offset %zu, before the last sync mark: ", t.ends[kept]);
        CHECK_HAS(err.text, want);
        buf_fini(&t.bytes);
    }
}

/* Blocks that were reserved and never written. */
TEST(logtail_zeros_are_cut)
{
    static const char zeros[8192];
    uint64_t state = 3;
    struct tail t;
    struct err err;
    size_t n, len;
    uint64_t torn;

    tail_make(&t, &state);
    len = t.bytes.len;
    buf_add(&t.bytes, zeros, sizeof zeros);
    for (size_t more = 1; more <= sizeof zeros; more *= 2) {
        CHECK_EQ(tail_walk(&t, len + more, &n, &torn, &err), LOG_TORN);
        CHECK_EQ(n, RECORDS);
        CHECK_EQ(torn, more);
    }
    buf_fini(&t.bytes);
}

/* A mark cannot vouch for what stands behind it. */
TEST(logtail_a_mark_that_boasts_is_none)
{
    struct buf b;
    struct err err;
    struct log_reader *f;
    struct record r;

    buf_init(&b, 4096);
    record_write_version(&b);
    record_encode(&b, RECORD_HEAD, 0, 1, "{}", 2);
    buf_add_text(&b, "garbage\n");
    record_encode(&b, RECORD_SYNC, 0, 1, "18446744073709551615", 20);
    CHECK_EQ(file_write("log", b.data, b.len, &err), 0);
    f = log_open("log", 0, &err);
    CHECK_EQ(log_next(f, &r, &err), LOG_RECORD);
    CHECK_EQ(log_next(f, &r, &err), LOG_TORN);
    log_close(f);
    buf_fini(&b);
}

static bool
is_void(const void *bytes, size_t len)
{
    struct err err;

    CHECK_EQ(file_write("command.log", bytes, len, &err), 0);
    return log_is_void(".");
}

/* One whose head never came to be durable, and nothing else. */
TEST(logtail_without_a_head_is_void)
{
    static const char zeros[5000];
    uint64_t state = 4;
    struct buf log;
    size_t begun;

    buf_init(&log, 1 << 16);
    record_write_version(&log);
    record_encode(&log, RECORD_HEAD, 0, 1, "{}", 2);
    for (size_t len = 0; len < log.len; len++)
        CHECK(is_void(log.data, len));
    CHECK(!is_void(log.data, log.len));
    CHECK(!is_void("tunepipe-log 2\n", 15));
    CHECK(!is_void("version https://git-lfs", 23)); /* no log at all */
    CHECK(!is_void("\x1f\x8b", 2));
    begun = log.len;
    buf_add(&log, zeros, sizeof zeros);
    CHECK(!is_void(log.data, log.len));
    CHECK(is_void(zeros, sizeof zeros));
    log.len = begun;
    log.data[begun - 1] = '\0';
    CHECK(is_void(log.data, log.len));
    log.data[begun - 1] = '?'; /* was there, and is not as it was */
    CHECK(!is_void(log.data, log.len));
    log.data[begun - 1] = '\n';
    log.data[13]++; /* of another version, begun */
    CHECK(!is_void(log.data, log.len));
    log.data[13]--;
    for (size_t i = 0; i < 13; i++)
        log.data[i] = (char)help_below(&state, 256);
    CHECK(is_void(log.data, log.len));
    memset(log.data, 0, 13);
    CHECK(is_void(log.data, log.len));
    record_encode(&log, RECORD_SYNC, 0, 1, "", 0);
    CHECK(!is_void(log.data, log.len));
    log.len = begun;
    record_encode(&log, RECORD_IN, 1, 1, "GE1", 3);
    CHECK(!is_void(log.data, log.len));
    CHECK(!log_is_void("absent"));
    CHECK(is_void("", 0));
    CHECK_EQ(rename("command.log", "command.1.log"), 0);
    CHECK(!is_void("", 0)); /* it has lost its end, not its head */
    buf_fini(&log);
}

static void
is_empty(struct log_reader *l)
{
    struct record r;
    struct err err;

    CHECK(l != NULL);
    CHECK(!log_is_begun(l));
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(log_next(l, &r, &err), LOG_END);
        log_rewind(l);
    }
    CHECK_EQ(log_start_at(l, 1, &err), 0);
    CHECK_EQ(log_next(l, &r, &err), LOG_END);
    CHECK(!log_lacks(l, &err));
    CHECK_EQ(log_grow(l, &err), 0);
    CHECK_EQ(log_next(l, &r, &err), LOG_END);
    CHECK_EQ(log_read_head(l, &r, &err), -1);
    CHECK_HAS(err.text, "command.log: expected a head record first");
}

/* Nothing of it is torn or damaged, and when it is begun after all, in the
 * file that is there or in another, its records come; also where it was opened
 * by its path, and for a moment there is no file of that name. */
TEST(logtail_a_void_log_reads_as_empty_until_it_is_begun)
{
    static const char zeros[5000];
    struct err err;
    struct buf log;
    size_t head;

    buf_init(&log, 1 << 16);
    record_write_version(&log);
    record_encode(&log, RECORD_HEAD, 0, 1, "{}", 2);
    head = log.len;
    record_encode(&log, RECORD_IN, 1, 1, "GE1", 3);
    for (int how = 0; how < 5; how++) {
        struct log_reader *l;
        struct record r;
        FILE *file;

        unlink("command.log");
        if (how < 4)
            CHECK_EQ(file_write("command.log", how == 2 ? zeros : log.data,
                                how == 2   ? sizeof zeros
                                : how == 1 ? head - 1
                                           : 0,
                                &err),
                     0);
        l = how == 3 ? log_open("command.log", 0, &err)
                     : log_open_in(".", 0, &err);
        is_empty(l);
        if (how == 3) {
            CHECK_EQ(unlink("command.log"), 0);
            CHECK_EQ(log_grow(l, &err), 0);
        }
        if (how == 0) {
            file = fopen("command.log", "a");
            CHECK_EQ(fwrite(log.data, 1, log.len, file), log.len);
            CHECK_EQ(fclose(file), 0);
        } else {
            CHECK_EQ(file_write("command.log", log.data, log.len, &err), 0);
        }
        CHECK_EQ(log_grow(l, &err), 1);
        CHECK(log_is_begun(l));
        CHECK_EQ(log_next(l, &r, &err), LOG_RECORD);
        CHECK_EQ(r.kind, RECORD_IN); /* log_start_at() passes over the head */
        CHECK_EQ(log_next(l, &r, &err), LOG_END);
        CHECK_EQ(log_grow(l, &err), 0);
        log_close(l);
    }
    CHECK_EQ(file_write("other", log.data, 0, &err), 0);
    CHECK(log_open("other", 0, &err) == NULL);
    CHECK_HAS(err.text, "other: not a command log");
    buf_fini(&log);
}
