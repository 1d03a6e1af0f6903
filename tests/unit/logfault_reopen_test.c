/* SPDX-License-Identifier: MIT */
/* Each call fails while a log is opened to be gone on with, cut, and written
 * to: what is on record stays, and the next one goes on from there. */
#include "logfault_help.h"

#include "core/file.h"
#include "log/writer.h"

#include <sys/stat.h>

NOT_UNDER_TSAN;
NOT_WITH_CLANG;

#define COMMANDS 20
#define TORN "12345678 < 21 "

static void
put_in(struct logwriter *l, uint64_t arrival)
{
    const struct frame frame = help_frame("GE", "1");

    logwriter_frame(l, RECORD_IN, arrival, &frame);
}

/* Its bytes, with a tail that is no record. */
static void
make_log(struct buf *out)
{
    struct err err;
    struct logwriter *l = logwriter_create("made", "{}", 2, NULL, &err);

    CHECK(l != NULL);
    for (uint64_t i = 1; i <= COMMANDS; i++)
        put_in(l, i);
    CHECK_EQ(logwriter_finish(l, &err), 0);
    logwriter_free(l);
    CHECK_EQ(file_read("made/command.log", 1 << 20, out, &err), 0);
    buf_add_text(out, TORN);
}

/* How many commands are on record; none lies beyond a gap. */
static uint64_t
count_commands(void)
{
    struct err err;
    struct log_reader *f = log_open("log/command.log", 0, &err);
    enum log_status status;
    struct record r;
    uint64_t n = 0;

    CHECK(f != NULL);
    while ((status = log_next(f, &r, &err)) == LOG_RECORD)
        if (r.kind == RECORD_IN)
            CHECK_EQ(r.number, ++n);
    CHECK(status != LOG_DAMAGED);
    log_close(f);
    return n;
}

/* Writes one more command; 0: it is on record and durable. */
static int
go_on(const struct logio *io, uint64_t arrival, struct err *err)
{
    uint64_t slots[2];
    struct logwriter *l = logwriter_reopen("log", io, slots, err);
    int rc = -1;

    if (l == NULL)
        return -1;
    if (logwriter_cut(l, arrival == COMMANDS + 1 ? strlen(TORN) : 0, err) ==
        0) {
        put_in(l, arrival);
        rc = logwriter_finish(l, err);
    }
    logwriter_free(l);
    return rc;
}

/* How far the torn tail reaches now. */
static uint64_t
torn_bytes(void)
{
    struct err err;
    struct log_reader *f = log_open("log/command.log", 0, &err);
    struct record r;
    uint64_t torn = 0;

    while (log_next(f, &r, &err) == LOG_RECORD)
        continue;
    torn = log_torn(f);
    log_close(f);
    return torn;
}

static void
mend(uint64_t arrival)
{
    uint64_t slots[2], torn = torn_bytes();
    struct err err;
    struct logwriter *l = logwriter_reopen("log", NULL, slots, &err);

    CHECK_STR(l == NULL ? err.text : "", "");
    CHECK_EQ(logwriter_cut(l, torn, &err), 0);
    put_in(l, arrival);
    CHECK_EQ(logwriter_finish(l, &err), 0);
    logwriter_free(l);
    CHECK_EQ(count_commands(), arrival);
}

/* Whether the call was made so often that one failed. */
static bool
fails_once(const struct buf *log, enum call call, int nth, int error)
{
    struct err err;
    int rc;

    CHECK_EQ(file_write("log/command.log", log->data, log->len, &err), 0);
    fault = (struct fault){call, nth, 1, error};
    for (int i = 0; i < CALLS; i++)
        atomic_store(&calls[i], 0);
    err_clear(&err);
    rc = go_on(&fault_io, COMMANDS + 1, &err);
    CHECK(rc == 0 || err.text[0] != '\0');
    if (rc == 0)
        CHECK_EQ(count_commands(), COMMANDS + 1);
    CHECK(count_commands() >= COMMANDS);
    mend(count_commands() + 1);
    return atomic_load(&calls[call]) >= nth;
}

TEST(logfault_each_call_of_reopening_fails_once)
{
    static const int errors[] = {ENOSPC, EDQUOT, EIO, EINTR, EROFS};
    struct buf log;
    int failed = 0;

    calls = mmap(NULL, CALLS * sizeof *calls, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK_EQ(mkdir("log", 0700), 0);
    buf_init(&log, 1 << 20);
    make_log(&log);
    for (int call = 0; call < CALLS; call++)
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
            for (int nth = 1; fails_once(&log, (enum call)call, nth, errors[i]);
                 nth++)
                failed++;
    printf("# %d calls failed\n", failed);
    CHECK(failed >= 20);
    buf_fini(&log);
}

/* What its last writer did not sync may be lost yet, the head, too. */
TEST(logfault_what_is_gone_on_from_is_synced_first)
{
    uint64_t slots[2];
    struct logwriter *l;
    struct err err;
    struct buf log;

    calls = mmap(NULL, CALLS * sizeof *calls, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    buf_init(&log, 1 << 20);
    make_log(&log);
    l = logwriter_reopen("made", &fault_io, slots, &err);
    CHECK(l != NULL);
    CHECK_EQ(logwriter_cut(l, 0, &err), 0);
    CHECK_EQ(atomic_load(&calls[CALL_SYNC]), 1);
    logwriter_free(l);
    buf_fini(&log);
}
