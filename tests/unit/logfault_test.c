/* SPDX-License-Identifier: MIT */
/* Each system call under the log fails in turn, for each reason: nothing
 * crashes, nothing that was answered is missing, the log can be read and
 * replays to the same bytes. */
#include "logfault_help.h"

NOT_UNDER_TSAN;
NOT_WITH_CLANG;

static const struct sync_policy always = {SYNC_ALWAYS, 0};
static const struct sync_policy never = {SYNC_NONE, 0};
static const struct sync_policy often = {SYNC_INTERVAL, 1};

/* A session in which nothing fails: its frames, and the calls it takes. */
struct sound {
    char *got;
    int kinds[32];
    int calls[CALLS];
};

static struct sound
sound_session(struct sync_policy policy)
{
    struct session_run r;
    struct sound s;
    struct buf logged;

    fault = (struct fault){.nth = 0};
    run_session(&r, policy);
    CHECK_STR(buf_text(&r.said), "");
    CHECK_EQ(r.status, DISPATCHER_END_OF_FILE);
    CHECK_EQ(r.frames, play->frames);
    s.got = strdup(buf_text(&r.got));
    for (int i = 0; i < CALLS; i++)
        s.calls[i] = atomic_load(&calls[i]);
    buf_init(&logged, 1 << 20);
    CHECK_EQ(read_frames(&logged, s.kinds), LOG_END);
    CHECK_STR(buf_text(&logged), s.got);
    check_replay();
    buf_fini(&logged);
    run_fini(&r);
    return s;
}

/* What must hold whatever failed. */
static void
check_session(struct session_run *r, const struct sound *sound)
{
    int kinds[32];
    struct buf logged;
    bool failed = r->status == DISPATCHER_FAILED;

    if (failed && r->frames == 0) { /* it did not start: as if never tried */
        CHECK_EQ(access("log/command.log", F_OK), -1);
        return;
    }
    CHECK(failed || r->status == DISPATCHER_END_OF_FILE);
    CHECK_STR(buf_text(&r->got), sound->got);
    buf_init(&logged, 1 << 20);
    CHECK_EQ(read_frames(&logged, kinds), LOG_END);
    CHECK_STR(buf_text(&logged), sound->got);
    CHECK_EQ(kinds[RECORD_IN], sound->kinds[RECORD_IN]);
    CHECK_EQ(kinds[RECORD_SKIPPED], 0);
    if (!failed)
        CHECK_EQ(kinds[RECORD_END], 1);
    buf_fini(&logged);
    check_replay();
}

/* How often it was said that something holds: one line for each time. */
static void
check_lines(struct session_run *r, int error)
{
    int held = run_said(r, "nothing is read until it goes on");

    if (error == EINTR || error == SHORT_WRITE) {
        CHECK_STR(buf_text(&r->said), "");
        return;
    }
    CHECK(held <= 1);
    if (r->status == DISPATCHER_END_OF_FILE)
        CHECK_EQ(run_said(r, "goes on after"), held);
    else
        CHECK_EQ(run_said(r, "error: command.log: cannot ") +
                     run_said(r, "error: log/command.log: cannot ") +
                     run_said(r, "error: log/command.log.new: cannot "),
                 1);
}

/* The first three are one to the log (log/io.c): where calls are many, each
 * meets one of them. */
static const int reasons[] = {ENOSPC, EDQUOT, EIO, EINTR, SHORT_WRITE};
#define N_REASONS (sizeof reasons / sizeof *reasons)
#define N_ALIKE 3
#define MANY 9

/* Returns how many sessions ended in failure. */
static int
each_call_fails(enum call call, struct sync_policy policy, int times)
{
    struct sound sound = sound_session(policy);
    int failures = 0;

    for (int nth = 1; nth <= sound.calls[call]; nth++)
        for (size_t i = 0; i < N_REASONS; i++) {
            struct session_run r;

            if ((reasons[i] == SHORT_WRITE && call != CALL_PWRITE) ||
                (reasons[i] == EINTR && call >= CALL_LINK) ||
                (i < N_ALIKE && i != (size_t)nth % N_ALIKE &&
                 sound.calls[call] > MANY))
                continue;
            fault = (struct fault){call, nth, times, reasons[i]};
            run_session(&r, policy);
            check_session(&r, &sound);
            check_lines(&r, reasons[i]);
            failures += r.status == DISPATCHER_FAILED;
            run_fini(&r);
        }
    free(sound.got);
    return failures;
}

/* Only the first write (the head) and the last (the end) have nobody who could
 * wait for them. */
TEST(logfault_each_write_fails)
{
    each_call_fails(CALL_PWRITE, never, 1);
}

TEST(logfault_each_write_fails_thrice)
{
    each_call_fails(CALL_PWRITE, never, 3);
}

TEST(logfault_each_write_fails_while_all_is_synced)
{
    each_call_fails(CALL_PWRITE, always, 2);
}

TEST(logfault_each_write_fails_beside_the_thread)
{
    each_call_fails(CALL_PWRITE, often, 1);
}

/* What a program sends waits like what the manager does. */
TEST(logfault_each_write_fails_with_a_program)
{
    play = &program;
    each_call_fails(CALL_PWRITE, never, 2);
}

/* A program suggests and fails in one breath.  The suggestion waits for the
 * log, and behind it the failure waits once more: what the manager sends
 * meanwhile comes after it, and is not read, as the failure ends the session.
 */
TEST(logfault_a_program_fails_before_what_comes_later)
{
    static const struct play fails = {
        "exec",
        "\"IN\",\"+ID\",\"GE\","
        "\"text:TR00000000000033{\\\"parameter_id\\\":1,\\\"parameters\\\":1}"
        "ER00000000000002no\"",
        {{"IN", HELP_SPACE, 1}, {"GE", "1", 2}},
        2};
    struct session_run r;
    struct buf logged;
    int kinds[32];

    play = &fails;
    on_error = ERROR_FAIL;
    relapses = true;
    fault = (struct fault){CALL_PWRITE, 7, 1, ENOSPC}; /* the TR's record */
    run_begin(&r, never);
    run_send(&r, play_step(0));
    while (r.frames < 1)
        CHECK(run_listen(&r));
    run_send(&r, play_step(1));
    while (run_said(&r, "nothing is read") == 0)
        CHECK(run_listen(&r));
    run_send(&r, play_step(1));
    CHECK(creat(HEALED, 0600) >= 0);
    run_end(&r);
    CHECK_EQ(r.frames, play->frames);
    CHECK_EQ(r.status, DISPATCHER_FAILED);
    CHECK_EQ(run_said(&r, "command 5 (its ER): "), 1);
    buf_init(&logged, 1 << 20);
    CHECK_EQ(read_frames(&logged, kinds), LOG_END);
    CHECK_STR(buf_text(&logged), buf_text(&r.got));
    CHECK_EQ(kinds[RECORD_IN], 2);
    check_replay();
    buf_fini(&logged);
    run_fini(&r);
}

TEST(logfault_each_sync_fails_with_a_program)
{
    play = &program;
    each_call_fails(CALL_SYNC, always, 1);
}

TEST(logfault_each_sync_fails)
{
    each_call_fails(CALL_SYNC, always, 1);
    each_call_fails(CALL_SYNC, never, 1);
}

TEST(logfault_each_sync_of_the_thread_fails)
{
    each_call_fails(CALL_SYNC, often, 2);
}

TEST(logfault_each_allocation_fails)
{
    CHECK_EQ(each_call_fails(CALL_FALLOCATE, never, 4), 0);
}

TEST(logfault_opening_fails)
{
    /* the claim, and the head */
    CHECK_EQ(each_call_fails(CALL_OPEN, never, 1), 2 * (N_REASONS - 2));
}

TEST(logfault_closing_fails)
{
    CHECK_EQ(each_call_fails(CALL_TRUNCATE, never, 1), 0);
}

/* A file system that cannot reserve is one that is written without. */
TEST(logfault_nothing_can_be_reserved)
{
    struct sound sound = sound_session(never);
    struct session_run r;

    fault = (struct fault){CALL_FALLOCATE, 1, FOR_EVER, EOPNOTSUPP};
    run_session(&r, never);
    check_session(&r, &sound);
    CHECK_STR(buf_text(&r.said), "");
    CHECK_EQ(atomic_load(&calls[CALL_FALLOCATE]), 1);
    run_fini(&r);
    free(sound.got);
}

/* No room for ever, and SIGTERM: it ends within the grace; all that anybody
 * was answered is in the log, and what was not logged is as if never read. */
static void
terminated_while_held(const struct fault *f, struct sync_policy policy)
{
    struct session_run r;
    struct buf logged;
    int kinds[32];

    fault = *f;
    grace_ms = 100;
    run_begin(&r, policy);
    for (size_t i = 0; play_step(i) != NULL; i++) {
        run_send(&r, play_step(i));
        while (r.frames < play_step(i)->frames &&
               run_said(&r, "nothing is") == 0)
            CHECK(run_listen(&r));
    }
    while (run_said(&r, "nothing is read") == 0)
        CHECK(run_listen(&r));
    CHECK_EQ(kill(r.pid, SIGTERM), 0);
    run_end(&r);
    buf_init(&logged, 1 << 20);
    CHECK(read_frames(&logged, kinds) == LOG_END);
    CHECK_HAS(buf_text(&logged), buf_text(&r.got));
    if (r.status == DISPATCHER_SIGNALLED)
        CHECK_EQ(kinds[RECORD_END], 1);
    else
        CHECK_EQ(r.status, DISPATCHER_FAILED);
    check_replay();
    buf_fini(&logged);
    run_fini(&r);
}

TEST(logfault_terminated_while_nothing_can_be_written)
{
    for (int nth = 3; nth < 11; nth++) { /* behind the head and its mark */
        struct fault f = {CALL_PWRITE, nth, FOR_EVER, ENOSPC};

        terminated_while_held(&f, never);
    }
}

TEST(logfault_terminated_while_nothing_can_be_synced)
{
    for (int nth = 3; nth < 11; nth++) { /* behind head and folder */
        struct fault f = {CALL_SYNC, nth, FOR_EVER, EIO};

        terminated_while_held(&f, always);
    }
}

/* The frame by which the digits are told is held, and another one is there. */
TEST(logfault_terminated_by_the_very_first_frame)
{
    static const char bytes[] = "TE00000000000000PI00000000000000";
    struct session_run r;
    struct buf logged;
    int kinds[32];

    fault = (struct fault){CALL_PWRITE, 3, 1, ENOSPC};
    digits = FRAME_DIGITS_DETECT;
    run_begin(&r, never);
    CHECK_EQ(write(r.to, bytes, sizeof bytes - 1), sizeof bytes - 1);
    run_end(&r);
    CHECK_EQ(run_said(&r, "nothing is read until it goes on"), 1);
    CHECK_EQ(r.status, DISPATCHER_TERMINATED);
    buf_init(&logged, 1 << 20);
    CHECK_EQ(read_frames(&logged, kinds), LOG_END);
    CHECK_EQ(kinds[RECORD_IN], 1);
    buf_fini(&logged);
    run_fini(&r);
}

/* What must still be written has its place. */
TEST(logfault_terminated_while_nothing_can_be_reserved)
{
    struct session_run r;

    fault = (struct fault){CALL_FALLOCATE, 1, FOR_EVER, EDQUOT};
    run_begin(&r, never);
    while (run_said(&r, "nothing is read") == 0)
        CHECK(run_listen(&r));
    CHECK_HAS(buf_text(&r.said),
              "command.log: cannot reserve room: Disk quota exceeded; nothing "
              "is read until it goes on (tried every 1 ms)");
    CHECK_EQ(kill(r.pid, SIGTERM), 0);
    run_end(&r);
    CHECK_EQ(r.status, DISPATCHER_SIGNALLED);
    run_fini(&r);
}

/* After a sync that failed the system may take what it could not write for
 * written: it is read back and written again before the next one. */
TEST(logfault_what_was_not_synced_is_written_again)
{
    struct sound sound = sound_session(never);
    struct session_run r;

    fault = (struct fault){CALL_SYNC, 3, 1, EIO};
    run_begin(&r, often);
    run_send(&r, play_step(0));
    while (run_said(&r, "goes on after") == 0)
        CHECK(run_listen(&r));
    CHECK_EQ(atomic_load(&calls[CALL_PREAD]), 1);
    for (size_t i = 1; play_step(i) != NULL; i++) {
        run_send(&r, play_step(i));
        while (r.frames < play_step(i)->frames)
            CHECK(run_listen(&r));
    }
    run_end(&r);
    CHECK_EQ(r.status, DISPATCHER_END_OF_FILE);
    check_session(&r, &sound);
    run_fini(&r);
    free(sound.got);
}

/* When it is not there any more, it is lost for good, and no mark lies. */
TEST(logfault_what_cannot_be_read_back_is_lost)
{
    struct session_run r;
    int kinds[32];
    struct buf logged;

    fault = (struct fault){CALL_SYNC, 3, 1, EIO};
    pread_lies = true;
    run_begin(&r, often);
    run_send(&r, play_step(0));
    while (r.from >= 0)
        CHECK(run_listen(&r));
    run_end(&r);
    CHECK_EQ(r.status, DISPATCHER_FAILED);
    CHECK_EQ(run_said(&r, "command.log: cannot sync: Input/output error; "), 1);
    CHECK_EQ(run_said(&r, "error: command.log: cannot sync: what was written "
                          "cannot be read back"),
             1);
    buf_init(&logged, 1 << 20);
    CHECK_EQ(read_frames(&logged, kinds), LOG_END);
    CHECK_EQ(kinds[RECORD_SYNC], 1); /* the head's */
    buf_fini(&logged);
    run_fini(&r);
}

/* ---- a log of several segments ---- */

static void
each_call_fails_between_segments(enum call call)
{
    struct sound sound;

    segment_size = 1200; /* a few in a session */
    sound = sound_session(never);
    free(sound.got);
    CHECK(access("log/command.1.log", F_OK) == 0);
    each_call_fails(call, never, 1);
    each_call_fails(call, always, 1);
}

TEST(logfault_each_write_fails_between_segments)
{
    each_call_fails_between_segments(CALL_PWRITE);
}

TEST(logfault_each_sync_fails_between_segments)
{
    each_call_fails_between_segments(CALL_SYNC);
}

TEST(logfault_each_step_fails_between_segments)
{
    each_call_fails_between_segments(CALL_OPEN);
    each_call_fails_between_segments(CALL_LINK);
    each_call_fails_between_segments(CALL_RENAME);
    each_call_fails_between_segments(CALL_UNLINK);
}

TEST(logfault_each_reserve_fails_between_segments)
{
    each_call_fails_between_segments(CALL_FALLOCATE);
    each_call_fails_between_segments(CALL_TRUNCATE);
}
