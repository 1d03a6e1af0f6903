/* SPDX-License-Identifier: MIT */
#include "segments_fault.h"

#include "core/wake.h"

#include <poll.h>
#include <stdlib.h>

#define LOG "log/command.log"
#define FRESH "log/command.log.new"

static struct logwriter *
reopen(void)
{
    struct err err;
    uint64_t slots[2];
    struct logwriter *l = logwriter_reopen("log", NULL, slots, &err);

    if (l == NULL)
        printf("%s\n", err.text);
    CHECK(l != NULL);
    return l;
}

/* ---- when ---- */

TEST(rotate_is_due_when_the_log_is_long)
{
    struct logwriter *l = chain_begin(NULL);
    struct sync_policy never = {SYNC_NONE, 0};
    uint64_t arrivals = 0;
    struct err err;

    chain_write(l, &arrivals, 100);
    CHECK(!logwriter_rotation_due(l)); /* nobody asked for it */
    logwriter_set_segments(l, 100000);
    CHECK_EQ(logwriter_follow(l, never, NULL, 1, &err), 0);
    CHECK(!logwriter_rotation_due(l));
    logwriter_set_segments(l, 1000);
    CHECK(logwriter_rotation_due(l));
    logwriter_grow_limit(l, 1 << 20);
    CHECK(!logwriter_rotation_due(l));
    logwriter_grow_limit(l, 10);
    CHECK(logwriter_rotation_due(l));
    logwriter_free(l);
}

TEST(rotate_is_not_due_while_something_waits)
{
    struct frame frame = help_frame("GE", "1");
    struct logwriter *l = chain_begin(NULL);
    uint64_t arrivals = 0;
    struct err err;

    logwriter_set_segments(l, 100);
    chain_write(l, &arrivals, 10);
    CHECK(logwriter_rotation_due(l));
    logwriter_frame(l, RECORD_IN, ++arrivals, &frame);
    CHECK(!logwriter_rotation_due(l));
    CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_OK);
    CHECK(logwriter_rotation_due(l));
    logwriter_free(l);
}

/* A size that a head alone exceeds does not rotate for ever. */
TEST(rotate_waits_for_more_than_a_head)
{
    struct logwriter *l = chain_begin(NULL);
    uint64_t arrivals = 0;
    struct err err;

    logwriter_set_segments(l, 1);
    CHECK(!logwriter_rotation_due(l));
    chain_write(l, &arrivals, 5);
    CHECK(logwriter_rotation_due(l));
    CHECK_EQ(logwriter_rotate(l, arrivals, arrivals, &err), LOGWRITER_OK);
    CHECK(!logwriter_rotation_due(l));
    logwriter_free(l);
    l = reopen();
    logwriter_set_segments(l, 1);
    CHECK_EQ(logwriter_segment(l), 2);
    CHECK(!logwriter_rotation_due(l));
    logwriter_free(l);
}

/* Most of a long segment is synced by the thread before anybody waits. */
TEST(rotate_has_the_thread_sync_first)
{
    struct logwriter *l = chain_begin(NULL);
    struct sync_policy policies[] = {{SYNC_INTERVAL, SYNC_INTERVAL_MS_MAX},
                                     {SYNC_NONE, 0}};
    char text[1024];
    struct wake wake;
    struct err err;

    memset(text, 'x', sizeof text);
    CHECK_EQ(wake_open(&wake, &err), 0);
    for (int i = 0; i < 2; i++) {
        if (i > 0) {
            logwriter_free(l);
            CHECK_EQ(system("rm -r log"), 0);
            l = chain_begin(NULL);
        }
        logwriter_set_segments(l, 1 << 20);
        CHECK_EQ(logwriter_follow(l, policies[i], &wake, 1, &err), 0);
        for (int k = 0; k < 1024; k++)
            logwriter_add(l, RECORD_SKIPPED, 1, text, sizeof text);
        CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_OK);
        CHECK(!logwriter_rotation_due(l));
        CHECK_EQ(logwriter_tend(l, &err), 0); /* asks */
        while (!logwriter_rotation_due(l)) {
            struct pollfd fd = {wake.fd, POLLIN, 0};

            CHECK_EQ(poll(&fd, 1, -1), 1);
            wake_drain(&wake);
            CHECK_EQ(logwriter_tend(l, &err), 0);
        }
        CHECK_EQ(logwriter_rotate(l, 1, 1, &err), LOGWRITER_OK);
        CHECK(!logwriter_rotation_due(l));
    }
    logwriter_free(l);
    wake_close(&wake);
}

/* ---- what a crash leaves ---- */

TEST(rotate_half_done_is_undone)
{
    uint64_t arrivals;
    struct logwriter *l = chain_make(2, &arrivals);

    logwriter_free(l);
    /* the next one was begun ... */
    touch(FRESH);
    CHECK_STR(chain_shown(LOG), chain_text(1, 6, "end"));
    /* ... and the old one has its new name, too ... */
    CHECK_EQ(link(LOG, "log/command.2.log"), 0);
    CHECK_STR(chain_shown(LOG), chain_text(1, 6, "end"));
    l = reopen();
    CHECK(!is_there(FRESH));
    CHECK(!is_there("log/command.2.log"));
    CHECK_EQ(logwriter_segment(l), 2);
    chain_write(l, &arrivals, 1);
    logwriter_free(l);
    CHECK_STR(chain_shown(LOG), chain_text(1, 7, "end"));
    /* ... but a segment that is another file is none of ours */
    touch("log/command.2.log");
    CHECK_STR(chain_shown(LOG),
              "log/command.log: offset 0: begins as segment 2 of a log, "
              "expected 3 or later: segment 2 is there, too; where its "
              "head is damaged, the log goes on from that one, renamed to "
              "command.log");
}

TEST(rotate_goes_on_after_a_reopening)
{
    uint64_t arrivals;
    struct logwriter *l = chain_make(3, &arrivals);
    struct err err;

    logwriter_free(l);
    l = reopen();
    CHECK_EQ(logwriter_segment(l), 3);
    CHECK_EQ(logwriter_rotate(l, arrivals, arrivals, &err), LOGWRITER_OK);
    chain_write(l, &arrivals, 3);
    chain_end(l, arrivals);
    CHECK_STR(chain_shown(LOG), chain_text(1, 12, "E12 end"));
    CHECK(is_there("log/command.3.log"));
}

TEST(rotate_files_are_the_owners_alone)
{
    struct stat st;

    chain_of(2);
    CHECK_EQ(stat(LOG, &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    CHECK_EQ(st.st_nlink, 1);
    CHECK_EQ(stat("log/command.1.log", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    CHECK_EQ(st.st_nlink, 1);
}

TEST(rotate_never_begins_a_log_beside_old_segments)
{
    struct err err;

    chain_of(2);
    CHECK_EQ(unlink(LOG), 0);
    CHECK(logwriter_create("log", "{}", 2, NULL, &err) == NULL);
    CHECK_STR(err.text, "log/command.1.log: of a log whose command.log is "
                        "missing, expected a folder without a log");
    CHECK(!is_there(LOG));
}

/* ---- each call fails ---- */

/* Tries until it is done, whatever failed once; calls[] that the first try
 * took. */
static void
rotate_with(enum call call, int nth, int error, int calls[CALLS])
{
    struct logwriter *l;
    uint64_t arrivals = 0;
    enum logwriter_status status;
    struct err err;

    CHECK_EQ(system("rm -rf log"), 0);
    none_fails();
    l = chain_begin(&faulty);
    chain_write(l, &arrivals, PER_SEGMENT);
    none_fails();
    fail_at[call] = nth;
    fail_error = error;
    status = logwriter_rotate(l, arrivals, arrivals, &err);
    memcpy(calls, counts, sizeof counts);
    none_fails();
    if (status == LOGWRITER_HELD) {
        CHECK_HAS(err.text, "command.log: cannot begin segment 2: ");
        CHECK_EQ(logwriter_segment(l), 1);
        CHECK(!logwriter_rotation_due(l));
        if (logwriter_held(l)) /* its mark, which may be tried again */
            CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_OK);
    }
    CHECK(status != LOGWRITER_FAILED);
    CHECK_STR(chain_shown(LOG), chain_text(1, 3, "end"));
    chain_write(l, &arrivals, PER_SEGMENT);
    if (status == LOGWRITER_HELD)
        CHECK_EQ(logwriter_rotate(l, arrivals, arrivals, &err), LOGWRITER_OK);
    CHECK_EQ(logwriter_segment(l), 2);
    CHECK(!is_there(FRESH));
    chain_write(l, &arrivals, 1);
    chain_end(l, arrivals);
    CHECK_STR(chain_shown(LOG), chain_text(1, 7, "E7 end"));
    CHECK(is_there("log/command.1.log"));
}

TEST(rotate_fails_at_each_call_and_nothing_is_lost)
{
    static const int reasons[] = {ENOSPC, EIO, EINTR};
    int n[CALLS], ignored[CALLS];

    rotate_with(OPEN, 0, 0, n);
    CHECK(n[LINK] == 1 && n[RENAME] == 1 && n[UNLINK] >= 1 && n[SYNC] >= 4);
    for (int call = 0; call < CALLS; call++)
        for (int nth = 1; nth <= n[call]; nth++)
            for (size_t i = 0; i < 3; i++) {
                if (reasons[i] == EINTR && call >= LINK)
                    continue;
                rotate_with((enum call)call, nth, reasons[i], ignored);
            }
}

/* The folder cannot be synced, nor the step be undone: the end. */
TEST(rotate_ends_when_it_is_neither_segment)
{
    struct logwriter *l;
    struct frame frame = help_frame("GE", "1");
    uint64_t arrivals = 0;
    struct err err;

    none_fails();
    l = chain_begin(&faulty);
    chain_write(l, &arrivals, 3);
    none_fails();
    CHECK_EQ(logwriter_rotate(l, arrivals, arrivals, &err), LOGWRITER_OK);
    chain_write(l, &arrivals, 3);
    fail_at[SYNC] = counts[SYNC]; /* the folder's was the last */
    memset(counts, 0, sizeof counts);
    fail_at[RENAME] = 2;
    fail_error = EIO;
    CHECK_EQ(logwriter_rotate(l, arrivals, arrivals, &err), LOGWRITER_FAILED);
    CHECK_HAS(err.text, "cannot begin segment 3: command.log: is neither "
                        "segment now: cannot sync the folder of");
    logwriter_frame(l, RECORD_IN, ++arrivals, &frame);
    CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_FAILED);
    CHECK(!logwriter_rotation_due(l));
    logwriter_free(l);
    CHECK_STR(chain_shown(LOG), chain_text(1, 6, "end"));
}
