/* SPDX-License-Identifier: MIT */
#include "log/writer.h"

#include "core/file.h"
#include "core/process.h"
#include "dispatcher_help.h"
#include "log/lock.h"
#include "log/log.h"
#include "log/segments.h"
#include "log/watch.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct logwriter *
create(const char *folder, struct err *err)
{
    return logwriter_create(folder, "{}", 2, NULL, err);
}

static void
put_in(struct logwriter *l, uint64_t arrival, const char *payload)
{
    struct frame frame = help_frame("GE", payload);

    logwriter_frame(l, RECORD_IN, arrival, &frame);
}

/* "H0 <1:GE4 M0" and so on, of the log in `folder`. */
static const char *
shown(const char *folder)
{
    static char text[65536];
    char path[256];
    struct log_reader *f;
    struct record r;
    struct err err;
    enum log_status status;
    size_t len = 0;

    snprintf(path, sizeof path, "%s/" LOG_NAME, folder);
    f = log_open(path, 0, &err);
    CHECK(f != NULL);
    while ((status = log_next(f, &r, &err)) == LOG_RECORD)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%s%" PRIu64 "%s%.*s ",
                                record_kind_text(r.kind), r.number,
                                r.len > 0 ? ":" : "", (int)r.len, r.payload);
    snprintf(text + len, sizeof text - len, "%s",
             status == LOG_END    ? "end"
             : status == LOG_TORN ? "torn"
                                  : "damaged");
    log_close(f);
    return text;
}

TEST(commandlog_records_everything_in_order)
{
    struct err err;
    struct logwriter *l = create("a/b/c", &err);
    struct emission e = help_said(SENDER_DEFAULT, 1, CMD_NEW_TRIAL, "{}");
    struct stat st;

    CHECK(l != NULL);
    CHECK_EQ(stat("a/b/c/command.log", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    CHECK_EQ(stat("a/b/c/command.lock", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    CHECK_EQ(stat("a/b", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0700);
    put_in(l, 1, "4");
    CHECK_STR(shown("a/b/c"), "H0:{} M0 end"); /* collected, not appended */
    CHECK_EQ(logwriter_flush(l, &err), 0);
    CHECK_STR(shown("a/b/c"), "H0:{} M0 <1:GE4 end"); /* no mark of a sync */
    emission_record(&e, l);
    e = help_said(SENDER_ASSESSOR, 2, CMD_KILL_TRIAL, "\"A\"");
    emission_record(&e, l);
    e = help_said(SENDER_ROUTER, 2, CMD_ERROR, "");
    emission_record(&e, l);
    logwriter_add(l, RECORD_SKIPPED, 3, "t why", 5);
    CHECK_EQ(logwriter_flush(l, &err), 0);
    CHECK_EQ(logwriter_sync(l, &err), 0);
    CHECK_EQ(logwriter_sync(l, &err), 0); /* nothing to do: no second mark */
    logwriter_text(l, RECORD_END, 3, "terminated");
    CHECK_EQ(logwriter_flush(l, &err), 0);
    logwriter_free(l);
    CHECK_STR(shown("a/b/c"), "H0:{} M0 <1:GE4 >t1:TR{} >a2:KI\"A\" >r2:ER "
                              "S3:t why M0 E3:terminated end");
}

TEST(commandlog_without_a_folder_is_a_no_op)
{
    struct err err;
    struct logwriter *l = create(NULL, &err);

    put_in(l, 1, "4");
    logwriter_text(l, RECORD_END, 1, "x");
    CHECK_EQ(logwriter_flush(l, &err), 0);
    CHECK_EQ(logwriter_sync(l, &err), 0);
    CHECK(logwriter_slot(l, SENDER_DEFAULT) !=
          logwriter_slot(l, SENDER_ASSESSOR));
    lockslot_set(logwriter_slot(l, SENDER_ASSESSOR), 7);
    logwriter_free(l);
    logwriter_free(NULL);
}

TEST(commandlog_has_one_writer)
{
    struct err err;
    struct logwriter *l = create("log", &err);
    char want[200];

    CHECK(create("log", &err) == NULL);
    snprintf(want, sizeof want,
             "log/command.lock: locked by process %d, expected one writer; it "
             "does not say whether its manager is gone: if so, kill -9 %d",
             (int)getpid(), (int)getpid());
    CHECK_STR(err.text, want);
    CHECK_EQ(err.code, ERR_LOG);
    logwriter_free(l);
}

/* ---- a writer that is to make room ---- */

/* Writes a log, says `first` (0: nothing), is asked, says `then` and is there
 * until it is killed, or, where `then` is 0, ends. */
static pid_t
begin_writer(uint64_t first, uint64_t then)
{
    int ready[2];
    pid_t writer;
    char c;

    CHECK_EQ(pipe(ready), 0);
    fflush(NULL);
    writer = fork();
    if (writer == 0) {
        static struct logwriter *kept;
        struct pollfd asked = {.events = POLLIN};
        struct err err;

        kept = create("log", &err);
        if (kept == NULL)
            _exit(1);
        if (first != 0)
            loglock_answer(logwriter_lock(kept), first);
        close(ready[0]);
        close(ready[1]);
        asked.fd = logwriter_lock(kept)->asked_fd;
        do {
            if (poll(&asked, 1, -1) < 0)
                _exit(1);
        } while (!loglock_asked(logwriter_lock(kept)));
        if (then == 0)
            _exit(0);
        loglock_answer(logwriter_lock(kept), then);
        for (;;)
            pause();
    }
    close(ready[1]);
    CHECK_EQ(read(ready[0], &c, 1), 0);
    close(ready[0]);
    return writer;
}

static void
end_writer(pid_t writer, int want_signal)
{
    int status;

    if (want_signal == 0)
        kill(writer, SIGTERM);
    CHECK_EQ(waitpid(writer, &status, 0), writer);
    if (want_signal != 0)
        CHECK_EQ(WTERMSIG(status), want_signal);
}

TEST(commandlog_asks_a_writer_to_go)
{
    pid_t writer = begin_writer(0, 0);
    struct logwriter *l;
    uint64_t slots[2];
    struct err err;
    int status;

    l = logwriter_reopen("log", NULL, slots, &err);
    CHECK_STR(l == NULL ? err.text : "", "");
    CHECK_EQ(waitpid(writer, &status, 0), writer);
    CHECK_EQ(status, 0);
    logwriter_free(l);
}

TEST(commandlog_kills_a_writer_that_goes_and_never_ends)
{
    static const uint64_t words[][2] = {{20, 20}, {0, 20}};

    for (size_t i = 0; i < 2; i++) {
        pid_t writer = begin_writer(words[i][0], words[i][1]);
        struct logwriter *l;
        uint64_t slots[2];
        struct err err;

        l = logwriter_reopen("log", NULL, slots, &err);
        CHECK_STR(l == NULL ? err.text : "", "");
        end_writer(writer, SIGKILL);
        logwriter_free(l);
        CHECK_EQ(unlink("log/command.log"), 0);
    }
}

TEST(commandlog_leaves_a_writer_whose_manager_is_there)
{
    pid_t writer = begin_writer(0, LOCKFILE_STAYS);
    char want[200];
    uint64_t slots[2];
    struct err err;

    CHECK(logwriter_reopen("log", NULL, slots, &err) == NULL);
    snprintf(want, sizeof want,
             "log/command.lock: locked by process %d, expected one writer; its "
             "manager is there: stop that experiment, or the process (kill %d)",
             (int)writer, (int)writer);
    CHECK_STR(err.text, want);
    CHECK_EQ(kill(writer, 0), 0);
    end_writer(writer, 0);
}

/* Not for who is dead by now, and not for another process of that id. */
TEST(commandlog_goes_for_living_processes_alone)
{
    struct err err;
    struct logwriter *l = create("log", &err);
    struct lockfile_process asker = {(uint64_t)getpid(), 1};
    int fd = open("log/command.lock", O_RDWR | O_CLOEXEC);

    CHECK_EQ(pwrite(fd, &asker, sizeof asker, offsetof(struct lockfile, asker)),
             sizeof asker);
    CHECK(!loglock_asked(logwriter_lock(l)));
    asker.start = process_start(getpid());
    CHECK_EQ(pwrite(fd, &asker, sizeof asker, offsetof(struct lockfile, asker)),
             sizeof asker);
    CHECK(loglock_asked(logwriter_lock(l)));
    /* What was promised stays. */
    loglock_answer(logwriter_lock(l), 100);
    loglock_answer(logwriter_lock(l), LOCKFILE_STAYS);
    CHECK_EQ(logwriter_lock(l)->map->leaves, 100);
    close(fd);
    logwriter_free(l);
}

/* Has the lock with it until somebody opens its file. */
static void
linger(int ready)
{
    char event[256];
    int fd = inotify_init1(IN_CLOEXEC);

    inotify_add_watch(fd, "log/command.lock", IN_OPEN);
    close(ready);
    if (read(fd, event, sizeof event) < 0)
        _exit(1);
    _exit(0);
}

TEST(commandlog_waits_for_what_a_dead_writer_was_starting)
{
    struct logwriter *l;
    uint64_t slots[2];
    struct err err;
    int ready[2];
    pid_t writer;
    char c;

    CHECK_EQ(pipe(ready), 0);
    fflush(NULL);
    writer = fork();
    if (writer == 0) {
        static struct logwriter *kept; /* not lost, only never freed */

        kept = create("log", &err);
        close(ready[0]);
        if (fork() == 0)
            linger(ready[1]);
        _exit(kept == NULL);
    }
    close(ready[1]);
    CHECK_EQ(waitpid(writer, NULL, 0), writer);
    CHECK_EQ(read(ready[0], &c, 1), 0);
    l = logwriter_reopen("log", NULL, slots, &err);
    CHECK_STR(l == NULL ? err.text : "", "");
    logwriter_free(l);
}

TEST(commandlog_never_touches_a_log_that_is_there)
{
    struct err err;
    struct logwriter *l = create("log", &err);
    struct lockfile at;
    int fd;

    put_in(l, 1, "4");
    CHECK_EQ(logwriter_flush(l, &err), 0);
    lockslot_set(logwriter_slot(l, SENDER_DEFAULT), 11);
    logwriter_free(l);
    CHECK(create("log", &err) == NULL);
    CHECK_STR(err.text, "log/command.log: an experiment is recorded there "
                        "already, expected a folder without a log, or "
                        "--resume");
    CHECK_STR(shown("log"), "H0:{} M0 <1:GE4 end");
    /* nor what the lock file tells of who was at work */
    fd = open("log/command.lock", O_RDONLY);
    CHECK_EQ(read(fd, &at, sizeof at), sizeof at);
    close(fd);
    CHECK_EQ(memcmp(at.magic, LOCKFILE_MAGIC, sizeof at.magic), 0);
    CHECK_EQ(at.writer.pid, getpid());
    CHECK_EQ(at.slots[LOCKFILE_DEFAULT], 11);
}

/* A lock file that an earlier log left behind says nothing of this one. */
TEST(commandlog_begins_with_free_slots)
{
    struct err err;
    struct logwriter *l = create("log", &err);

    lockslot_set(logwriter_slot(l, SENDER_DEFAULT), 11);
    lockslot_set(logwriter_slot(l, SENDER_ASSESSOR), 12);
    logwriter_free(l);
    CHECK_EQ(unlink("log/command.log"), 0);
    l = create("log", &err);
    CHECK_EQ(atomic_load(logwriter_slot(l, SENDER_DEFAULT)->at), 0);
    CHECK_EQ(atomic_load(logwriter_slot(l, SENDER_ASSESSOR)->at), 0);
    logwriter_free(l);
}

TEST(commandlog_names_the_folder_it_cannot_write)
{
    struct err err;
    int fd = open("file", O_CREAT | O_WRONLY, 0600);

    close(fd);
    CHECK(create("file", &err) == NULL);
    CHECK_HAS(err.text, "file/command.lock: cannot open: Not a directory");
    CHECK_EQ(err.code, ERR_LOG);
    CHECK(create("file/below", &err) == NULL);
    CHECK_HAS(err.text, "file/below: cannot make the folder: Not a directory");
    CHECK_EQ(err.code, ERR_LOG);
    CHECK(create("", &err) == NULL);
    CHECK_EQ(err.code, ERR_LOG);
}

TEST(commandlog_read_only_folder)
{
    struct err err;

    CHECK_EQ(mkdir("log", 0700), 0);
    CHECK_EQ(chmod("log", 0500), 0);
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        SKIP("cannot give up being root");
    CHECK(create("log", &err) == NULL);
    CHECK_HAS(err.text, "Permission denied");
    CHECK_EQ(err.code, ERR_LOG);
}

/* The disk is full in the middle of an append: the log ends behind the last
 * whole one, and stays so when there is room again. */
TEST(commandlog_ends_behind_the_last_whole_append)
{
    struct err err, untouched = {.text = "untouched"};
    struct logwriter *l = create("log", &err);
    struct rlimit limit;
    struct stat st;

    signal(SIGXFSZ, SIG_IGN);
    put_in(l, 1, "1");
    CHECK_EQ(logwriter_flush(l, &err), 0);
    CHECK_EQ(stat("log/command.log", &st), 0);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = (rlim_t)st.st_size + 20;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    put_in(l, 2, "2");
    CHECK_EQ(logwriter_flush(l, &err), -1);
    CHECK_HAS(err.text, "command.log: cannot write: File too large");
    CHECK_EQ(err.code, ERR_LOG);
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    put_in(l, 3, "3");
    CHECK_EQ(logwriter_flush(l, &untouched), -1);
    CHECK_STR(untouched.text, "untouched");
    logwriter_text(l, RECORD_END, 3, "x");
    CHECK_EQ(logwriter_flush(l, &untouched), -1);
    CHECK_EQ(logwriter_sync(l, &err), 0); /* what there is */
    logwriter_free(l);
    CHECK_STR(shown("log"), "H0:{} M0 <1:GE1 end");
}

/* Each append is durable, and the next one says so first; a mark alone is
 * nothing to be written, and nothing to be marked. */
TEST(commandlog_under_sync_always_marks_each_append)
{
    const struct sync_policy always = {SYNC_ALWAYS, 0};
    struct err err;
    struct logwriter *l = create("log", &err);

    CHECK_EQ(logwriter_follow(l, always, NULL, 1, &err), 0);
    put_in(l, 1, "1");
    CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_OK);
    CHECK_STR(shown("log"), "H0:{} M0 <1:GE1 end");
    put_in(l, 2, "2");
    put_in(l, 3, "3");
    CHECK_EQ(logwriter_flush(l, &err), LOGWRITER_OK);
    CHECK_STR(shown("log"), "H0:{} M0 <1:GE1 M0 <2:GE2 <3:GE3 end");
    CHECK_EQ(logwriter_finish(l, &err), 0);
    logwriter_free(l);
    CHECK_STR(shown("log"), "H0:{} M0 <1:GE1 M0 <2:GE2 <3:GE3 M0 end");
}

/* What has come to the log, of which the watch must have been told. */
static enum record_kind
told(struct log_watch *watch, struct log_reader *l)
{
    struct record r;
    struct err err;

    CHECK_EQ(log_watch_wait(watch, &err), LOG_WATCH_MORE);
    CHECK_EQ(log_grow(l, &err), 1);
    CHECK_EQ(log_next(l, &r, &err), LOG_RECORD);
    return r.kind;
}

/* One that follows it is told of each record, also when the void log that it
 * began with is set aside, and another begun in its place. */
TEST(commandlog_is_followed_when_it_was_void)
{
    struct err err;
    struct log_watch *watch;
    struct log_reader *reader;
    struct logwriter *l;
    struct record r;

    CHECK_EQ(mkdir("log", 0777), 0);
    CHECK_EQ(file_write("log/command.log", "", 0, &err), 0);
    CHECK_EQ(file_write("log/command.lock", "", 0, &err), 0);
    watch = log_watch_new("log/command.log", &err);
    reader = log_open("log/command.log", 0, &err);
    CHECK_EQ(log_next(reader, &r, &err), LOG_END);
    l = create("log", &err);
    CHECK(l != NULL);
    CHECK_EQ(told(watch, reader), RECORD_HEAD);
    while (log_next(reader, &r, &err) == LOG_RECORD)
        ;
    put_in(l, 1, "1");
    CHECK_EQ(logwriter_flush(l, &err), 0);
    CHECK_EQ(told(watch, reader), RECORD_IN);
    logwriter_free(l);
    log_close(reader);
    log_watch_free(watch);
    CHECK_EQ(access("log/command.log.void", F_OK), 0);
}
