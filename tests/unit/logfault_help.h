/* SPDX-License-Identifier: MIT */
/* logfault_help.h - a dispatcher in a child process whose log's system calls
 * fail on order, and a manager that plays a short session with it. */
#ifndef TESTS_LOGFAULT_HELP_H
#define TESTS_LOGFAULT_HELP_H

#include "dispatcher/dispatcher.h"
#include "dispatcher_help.h"
#include "log/io.h"
#include "log/log.h"
#include "replay/replay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* ---- calls that fail ---- */

enum call {
    CALL_OPEN,
    CALL_PREAD,
    CALL_PWRITE,
    CALL_FALLOCATE,
    CALL_SYNC,
    CALL_TRUNCATE,
    CALL_LINK,
    CALL_RENAME,
    CALL_UNLINK,
    CALLS
};

#define SHORT_WRITE 0 /* in place of an errno */
#define FOR_EVER 1000000000

struct fault {
    enum call call;
    int nth, times; /* from the nth on, so many times; nth 0: never */
    int error;
};

/* Behind the fault's calls those fail, too, that are made before this file is
 * there, and the second one behind it. */
#define HEALED "healed"

static struct fault fault;
static bool pread_lies;
static int64_t grace_ms = 30000;
static int digits = FRAME_DIGITS;
static uint64_t segment_size; /* 0: one is enough */
static enum error_policy on_error;
static bool relapses;     /* see HEALED */
static atomic_int *calls; /* [CALLS] so far, shared with the child */

static bool
fails_around_healing(void)
{
    static int behind;

    behind += access(HEALED, F_OK) == 0;
    return behind == 0 || behind == 2;
}

static bool
call_fails(enum call call)
{
    int n = atomic_fetch_add(&calls[call], 1) + 1;

    if (call != fault.call || fault.nth == 0 || n < fault.nth ||
        (n - fault.nth >= fault.times && !(relapses && fails_around_healing())))
        return false;
    errno = fault.error;
    return true;
}

static int
fault_open(const char *path, int flags, mode_t mode)
{
    return call_fails(CALL_OPEN) ? -1 : open(path, flags, mode);
}

static ssize_t
fault_pread(int fd, void *data, size_t len, off_t at)
{
    ssize_t n = call_fails(CALL_PREAD) ? -1 : pread(fd, data, len, at);

    if (n > 0 && pread_lies)
        memset(data, 0, (size_t)n);
    return n;
}

/* Also one that fails has written half of it. */
static ssize_t
fault_pwrite(int fd, const void *data, size_t len, off_t at)
{
    int error;
    ssize_t n;

    if (!call_fails(CALL_PWRITE))
        return pwrite(fd, data, len, at);
    error = errno;
    n = pwrite(fd, data, error == SHORT_WRITE ? (len + 1) / 2 : len / 2, at);
    errno = error;
    return error == SHORT_WRITE ? n : -1;
}

static int
fault_fallocate(int fd, int mode, off_t at, off_t len)
{
    return call_fails(CALL_FALLOCATE) ? -1 : fallocate(fd, mode, at, len);
}

static int
fault_fdatasync(int fd)
{
    (void)fd; /* the disk's time is not what is tested */
    return call_fails(CALL_SYNC) ? -1 : 0;
}

static int
fault_ftruncate(int fd, off_t len)
{
    return call_fails(CALL_TRUNCATE) ? -1 : ftruncate(fd, len);
}

static int
fault_link(const char *from, const char *to)
{
    return call_fails(CALL_LINK) ? -1 : link(from, to);
}

static int
fault_rename(const char *from, const char *to)
{
    return call_fails(CALL_RENAME) ? -1 : rename(from, to);
}

static int
fault_unlink(const char *path)
{
    return call_fails(CALL_UNLINK) ? -1 : unlink(path);
}

static const struct logio fault_io = {
    .open = fault_open,
    .pread = fault_pread,
    .pwrite = fault_pwrite,
    .fallocate = fault_fallocate,
    .fdatasync = fault_fdatasync,
    .ftruncate = fault_ftruncate,
    .link = fault_link,
    .rename = fault_rename,
    .unlink = fault_unlink,
};

/* ---- the session ---- */

struct step {
    const char *code, *payload;
    int frames; /* that have come back in all before the next step */
};

#define REPORT(id, job, type, sequence)                    \
    "{\"parameter_id\": " #id ", \"trial_job_id\": \"" job \
    "\", \"type\": \"" type "\", \"sequence\": " #sequence \
    ", \"value\": \"1\"}"

#define STEPS_MAX 8

struct play {
    const char *tuner, *script; /* of the program, NULL: a plugin */
    struct step steps[STEPS_MAX];
    int frames; /* in all */
};

static const struct play plugins = {
    "random",
    NULL,
    {{"IN", HELP_SPACE, 1},
     {"GE", "2", 3},
     {"ME", REPORT(0, "A", "PERIODICAL", 0), 3},
     {"ME", REPORT(0, "A", "PERIODICAL", 1), 4},
     {"EN", "{\"trial_job_id\":\"A\",\"event\":\"USER_CANCELED\"}", 4},
     {"GE", "2", 6},
     {"ME", REPORT(1, "B", "FINAL", 0), 6},
     {"GE", "1", 7}},
    7};

#define SUGGEST(x) \
    "\"+TR:{\\\"parameter_id\\\":" #x ",\\\"parameters\\\":" #x "}\""

static const struct play program = {
    "exec",
    "\"IN\",\"+ID\",\"GE\"," SUGGEST(1) "," SUGGEST(2) ",\"GE\"," SUGGEST(3),
    {{"IN", HELP_SPACE, 1},
     {"GE", "2", 3},
     {"ME", REPORT(0, "A", "FINAL", 0), 3},
     {"GE", "1", 4}},
    4};

static const struct play *play = &plugins;

struct session_run {
    struct frame_decoder decoder;
    struct buf got; /* "TR {...}\n" a frame */
    int frames;
    int to, from, lines; /* descriptors */
    struct buf said;
    pid_t pid;
    int status; /* enum dispatcher_end */
};

static void
serve_session(struct sync_policy policy, int in, int out, int lines)
{
    struct drive d;
    char args[4096];
    struct dispatcher_setup setup = {.in_fd = in,
                                     .out_fd = out,
                                     .folder = "log",
                                     .sync = policy,
                                     .segments = {segment_size, OLD_KEEP},
                                     .log_retry_ms = 1,
                                     .log_io = &fault_io,
                                     .max_queued = 1 << 20,
                                     .grace_ms = grace_ms};
    struct err err;
    int signal_number;
    enum dispatcher_end end;

    if (play->script != NULL)
        snprintf(args, sizeof args, "{\"command\":[\"sh\",\"%s\",%s]}",
                 t_source("tests/programs/steps.sh"), play->script);
    drive_setup(&d, play->tuner, play->script != NULL ? args : NULL, "stops_at",
                "{\"step\": 2}");
    d.lines.fd = lines;
    d.lines.most = LOG_WARNING;
    setup.session = d.setup;
    setup.session.digits = digits;
    setup.session.policy.on_error = on_error;
    setup.log = &d.lines;
    err_clear(&err);
    end = dispatcher_run(&setup, &signal_number, &err);
    if (end == DISPATCHER_FAILED)
        log_error(&d.lines, "%s", err.text);
    plugin_paths_free(d.paths);
    json_free(d.tuner_args);
    json_free(d.assessor_args);
    buf_fini(&d.sent);
    exit((int)end);
}

static void
remove_old(void)
{
    char path[64];
    int n = 0;

    while (n++ < 99) {
        snprintf(path, sizeof path, "log/command.%d.log", n);
        unlink(path);
        snprintf(path, sizeof path, "log/command.%d.snapshot", n);
        unlink(path);
    }
}

static void
run_begin(struct session_run *r, struct sync_policy policy)
{
    int in[2], out[2], lines[2];

    *r = (struct session_run){.status = -1};
    signal(SIGPIPE, SIG_IGN);
    if (calls == NULL)
        calls = mmap(NULL, CALLS * sizeof *calls, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < CALLS; i++)
        atomic_store(&calls[i], 0);
    frame_decoder_init(&r->decoder, FRAME_DIGITS, 1 << 20);
    buf_init(&r->got, 1 << 20);
    buf_init(&r->said, 1 << 20);
    unlink("log/command.log");
    remove_old();
    CHECK_EQ(pipe2(in, O_CLOEXEC), 0);
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    CHECK_EQ(pipe2(lines, O_CLOEXEC), 0);
    fflush(NULL);
    r->pid = fork();
    if (r->pid == 0) {
        close(in[1]);
        close(out[0]);
        close(lines[0]);
        serve_session(policy, in[0], out[1], lines[1]);
    }
    close(in[0]);
    close(out[1]);
    close(lines[1]);
    r->to = in[1];
    r->from = out[0];
    r->lines = lines[0];
}

/* Reads once what it answers or says; false at the end of both. */
static bool
run_listen(struct session_run *r)
{
    struct pollfd fds[2] = {{r->from, POLLIN, 0}, {r->lines, POLLIN, 0}};
    struct frame f;
    char bytes[4096];
    ssize_t n;

    if (r->from < 0 && r->lines < 0)
        return false;
    CHECK(poll(fds, 2, -1) > 0);
    if (fds[1].revents != 0) {
        n = read(r->lines, bytes, sizeof bytes);
        if (n > 0) {
            buf_add(&r->said, bytes, (size_t)n);
        } else {
            close(r->lines);
            r->lines = -1;
        }
    }
    if (fds[0].revents == 0)
        return true;
    n = read(r->from, bytes, sizeof bytes);
    if (n <= 0) {
        close(r->from);
        r->from = -1;
        return true;
    }
    for (ssize_t at = 0; at < n;) {
        size_t room;
        char *to = frame_room(&r->decoder, &room);

        if (room > (size_t)(n - at))
            room = (size_t)(n - at);
        memcpy(to, bytes + at, room);
        frame_filled(&r->decoder, room);
        at += (ssize_t)room;
        while (frame_next(&r->decoder, &f, NULL) == FRAME_READY) {
            buf_printf(&r->got, "%s %.*s\n", f.code, (int)f.len,
                       f.len > 0 ? f.payload : "");
            r->frames++;
        }
    }
    return true;
}

/* NULL: there are no more. */
static const struct step *
play_step(size_t i)
{
    return i < STEPS_MAX && play->steps[i].code != NULL ? &play->steps[i]
                                                        : NULL;
}

static void
run_send(struct session_run *r, const struct step *step)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    frame_encode(&b, FRAME_DIGITS, step->code, step->payload,
                 strlen(step->payload));
    if (write(r->to, b.data, b.len) < 0)
        CHECK_EQ(errno, EPIPE);
    buf_fini(&b);
}

/* Hears all it has to say, and its end. */
static void
run_end(struct session_run *r)
{
    int status;

    close(r->to);
    while (run_listen(r))
        continue;
    CHECK_EQ(waitpid(r->pid, &status, 0), r->pid);
    if (!WIFEXITED(status))
        printf("%s\n", buf_text(&r->said));
    CHECK(WIFEXITED(status));
    r->status = WEXITSTATUS(status);
}

static inline void
run_fini(struct session_run *r)
{
    frame_decoder_fini(&r->decoder);
    buf_fini(&r->got);
    buf_fini(&r->said);
}

/* The whole session, answer by answer. */
static inline void
run_session(struct session_run *r, struct sync_policy policy)
{
    run_begin(r, policy);
    for (size_t i = 0; play_step(i) != NULL && r->from >= 0; i++) {
        run_send(r, play_step(i));
        while (r->frames < play_step(i)->frames && r->from >= 0)
            run_listen(r);
    }
    run_end(r);
}

/* How often `part` stands in what it said. */
static inline int
run_said(struct session_run *r, const char *part)
{
    int n = 0;

    for (const char *at = buf_text(&r->said); (at = strstr(at, part)) != NULL;
         at++)
        n++;
    return n;
}

/* ---- its log ---- */

/* Outbound frames as in `got`; *kinds gets how many of each kind. */
static inline enum log_status
read_frames(struct buf *out, int kinds[32])
{
    struct err err;
    struct log_reader *f = log_open("log/command.log", 0, &err);
    enum log_status status;
    struct record rec;

    memset(kinds, 0, 32 * sizeof *kinds);
    CHECK(f != NULL);
    while ((status = log_next(f, &rec, &err)) == LOG_RECORD) {
        kinds[rec.kind]++;
        if (rec.kind == RECORD_TUNER || rec.kind == RECORD_ASSESSOR)
            buf_printf(out, "%.2s %.*s\n", rec.payload, (int)rec.len - 2,
                       rec.payload + 2);
    }
    log_close(f);
    return status;
}

static inline void
check_replay(void)
{
    static const char *folder;
    struct log silent = {.fd = -1, .name = "tunepipe"};
    struct replay_setup setup = {.path = "log/command.log", .log = &silent};
    struct replay_report report;
    struct plugin_paths *paths;
    struct err err;

    err_clear(&err);
    if (folder == NULL) {
        folder = t_build("plugins");
        setenv("TUNEPIPE_PLUGIN_PATH", t_build("tests/plugins"), 1);
    }
    paths = plugin_paths_new(folder, &err);
    setup.paths = paths;
    replay_run(&setup, &report, &err);
    CHECK_STR(err.text, "");
    plugin_paths_free(paths);
}

#endif
