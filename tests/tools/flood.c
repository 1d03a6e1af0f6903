/* SPDX-License-Identifier: MIT */
/* flood MODE: holds a dispatcher against peers that do not behave.  Needs
 * TP_BUILD; a folder "log" is made in the current one.  Modes:
 *
 *   answers  writes 200,000 synchronous reports and pings and reads nothing
 *            until the dispatcher stops reading; then reads: every answer
 *            comes, in order, and memory has stayed within bounds
 *   sigterm  the same, then SIGTERM instead of reading: status 143
 *   deaf     the same, then closes its reading end: status 4
 *   unread   writes some, closes its writing end and never reads: after the
 *            grace status 4
 *   socket   one socket is the child's descriptor 0 and 1
 *   shell    descriptors 3 and 4 are sockets; the parent is a shell that keeps
 *            copies of both
 *
 * That the dispatcher has stopped reading shows in nothing but that it does
 * not go on; waiting for that too briefly makes the test weaker, not wrong. */
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORTS 200000
#define QUIET_MS 500
#define HWM_MAX_KB (40 * 1024) /* with --max-queued 1M */

struct flood {
    pid_t child;
    int to, from;
    struct buf out; /* to be written, from `at` */
    size_t at;
    struct frame_decoder in;
    uint64_t answers, others;
};

static void
die(struct flood *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    if (f->child > 0)
        kill(f->child, SIGKILL);
    exit(1);
}

/* ---- the child ---- */

static void
exec_child(bool shell, int in, int out)
{
    const char *build = getenv("TP_BUILD");
    char program[4096], command[8192];

    snprintf(program, sizeof program, "%s/tunepipe", build);
    if (shell) {
        snprintf(command, sizeof command,
                 "'%s' dispatch --tuner random --seed 1 --in-fd 3 --out-fd 4 "
                 "--extensions --dir log; exit $?",
                 program);
        in = fcntl(in, F_DUPFD, 20);
        out = fcntl(out, F_DUPFD, 20);
        dup2(in, 3);
        dup2(out, 4);
        for (int fd = 5; fd < 40; fd++)
            close(fd);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    in = fcntl(in, F_DUPFD, 20);
    out = fcntl(out, F_DUPFD, 20);
    dup2(in, 0);
    dup2(out, 1);
    for (int fd = 3; fd < 40; fd++)
        close(fd);
    execl(program, "tunepipe", "dispatch", "--tuner", "random", "--seed", "1",
          "--extensions", "--max-queued", "1M", "--dir", "log", "--quiet",
          "--grace", "1s", (char *)NULL);
    _exit(127);
}

static void
start(struct flood *f, const char *mode)
{
    bool shell = strcmp(mode, "shell") == 0;
    bool one = strcmp(mode, "socket") == 0;
    int in[2], out[2];
    int rc = one     ? socketpair(AF_UNIX, SOCK_STREAM, 0, in)
             : shell ? socketpair(AF_UNIX, SOCK_STREAM, 0, in) |
                           socketpair(AF_UNIX, SOCK_STREAM, 0, out)
                     : pipe(in) | pipe(out);

    if (rc != 0)
        die(f, "pipe: %m");
    if (one) {
        out[0] = fcntl(in[1], F_DUPFD, 0);
        out[1] = fcntl(in[0], F_DUPFD, 0);
    }
    f->child = fork();
    if (f->child == 0) {
        close(in[1]);
        close(out[0]);
        exec_child(shell, in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    f->to = in[1];
    f->from = out[0];
    fcntl(f->to, F_SETFL, fcntl(f->to, F_GETFL) | O_NONBLOCK);
    buf_init(&f->out, (size_t)1 << 28);
    frame_decoder_init(&f->in, FRAME_DIGITS, 1 << 20);
}

static int
status_of(struct flood *f)
{
    int status;

    if (waitpid(f->child, &status, 0) != f->child)
        die(f, "waitpid: %m");
    f->child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void
expect_status(struct flood *f, int want)
{
    int got = status_of(f);

    if (got != want)
        die(f, "exit status %d, expected %d", got, want);
}

/* The greatest resident size so far, in KiB. */
static long
high_water(struct flood *f)
{
    char path[64], line[256];
    long kb = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)f->child);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmHWM: %ld", &kb);
    if (file != NULL)
        fclose(file);
    return kb;
}

/* ---- frames ---- */

static void
put(struct flood *f, const char *code, const char *payload)
{
    frame_encode(&f->out, FRAME_DIGITS, code, payload, strlen(payload));
}

static void
put_reports(struct flood *f, int n)
{
    char payload[256];

    put(f, "IN", "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}");
    put(f, "GE", "1");
    for (int i = 0; i < n; i++) {
        snprintf(payload, sizeof payload,
                 "{\"parameter_id\": null, \"trial_job_id\": \"A\", \"type\": "
                 "\"PERIODICAL\", \"sequence\": %d, \"value\": \"0.5\", "
                 "\"sync\": true}",
                 i);
        put(f, "ME", payload);
        put(f, "PI", "");
    }
}

static bool
write_some(struct flood *f)
{
    ssize_t n = write(f->to, f->out.data + f->at, f->out.len - f->at);

    if (n < 0 && errno != EAGAIN)
        die(f, "write: %m");
    f->at += n > 0 ? (size_t)n : 0;
    return f->at == f->out.len;
}

static void
check_frame(struct flood *f, const struct frame *frame)
{
    char want[64];

    if (strcmp(frame->code, "AK") != 0) {
        f->others++;
        return;
    }
    snprintf(want, sizeof want, "\"sequence\": %" PRIu64 ", ", f->answers++);
    if (memmem(frame->payload, frame->len, want, strlen(want)) == NULL)
        die(f, "expected an answer with %s, got %.*s", want, (int)frame->len,
            frame->payload);
}

/* False at the end of the stream. */
static bool
read_some(struct flood *f)
{
    struct frame frame;
    struct err err;
    enum frame_status status;
    size_t room;
    char *to = frame_room(&f->in, &room);
    struct pollfd p = {.fd = f->from, .events = POLLIN};
    ssize_t n = poll(&p, 1, -1) == 1 ? read(f->from, to, room) : -1;

    if (n <= 0)
        return false;
    frame_filled(&f->in, (size_t)n);
    while ((status = frame_next(&f->in, &frame, &err)) == FRAME_READY)
        check_frame(f, &frame);
    if (status == FRAME_BROKEN)
        die(f, "%s", err.text);
    return true;
}

/* ---- the modes ---- */

/* Writes until the dispatcher does not read on. */
static void
write_until_held(struct flood *f)
{
    struct pollfd p = {.fd = f->to, .events = POLLOUT};

    put_reports(f, REPORTS);
    while (poll(&p, 1, QUIET_MS) == 1)
        if (write_some(f))
            die(f, "all was taken while nothing was read");
}

static void
read_everything(struct flood *f)
{
    while (f->answers < REPORTS) {
        struct pollfd p[2] = {
            {.fd = f->at < f->out.len ? f->to : -1, .events = POLLOUT},
            {.fd = f->from, .events = POLLIN},
        };

        if (poll(p, 2, -1) < 0)
            die(f, "poll: %m");
        if (p[0].revents != 0)
            write_some(f);
        if (p[1].revents != 0 && !read_some(f))
            die(f, "the answers end after %" PRIu64, f->answers);
    }
}

static void
write_everything(struct flood *f)
{
    struct pollfd p = {.fd = f->to, .events = POLLOUT};

    while (poll(&p, 1, -1) == 1 && !write_some(f))
        continue;
}

static void
answers(struct flood *f)
{
    const char *build = strrchr(getenv("TP_BUILD"), '/');
    bool plain = strcmp(build, "/release") == 0 || strcmp(build, "/clang") == 0;
    long kb;

    write_until_held(f);
    read_everything(f);
    kb = high_water(f);
    if (plain && kb > HWM_MAX_KB)
        die(f, "%ld KiB resident, expected at most %d", kb, HWM_MAX_KB);
    close(f->to);
    while (read_some(f))
        continue;
    if (f->others != 2)
        die(f, "%" PRIu64 " other frames, expected ID and TR", f->others);
    expect_status(f, 0);
}

static void
sigterm(struct flood *f)
{
    write_until_held(f);
    kill(f->child, SIGTERM);
    expect_status(f, 143);
}

static void
deaf(struct flood *f)
{
    write_until_held(f);
    close(f->from);
    expect_status(f, 4);
}

static void
unread(struct flood *f)
{
    put_reports(f, 3000); /* more than a pipe takes, less than it holds at */
    write_everything(f);
    close(f->to);
    expect_status(f, 4);
}

static void
converse(struct flood *f)
{
    put_reports(f, 10);
    write_everything(f);
    shutdown(f->to, SHUT_WR);
    while (read_some(f))
        continue;
    if (f->answers != 10 || f->others != 2)
        die(f, "%" PRIu64 " answers and %" PRIu64 " others", f->answers,
            f->others);
    expect_status(f, 0);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct flood *);
    } modes[] = {{"answers", answers}, {"sigterm", sigterm},
                 {"deaf", deaf},       {"unread", unread},
                 {"socket", converse}, {"shell", converse}};
    struct flood f = {0};

    signal(SIGPIPE, SIG_IGN);
    alarm(100);
    for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0 && getenv("TP_BUILD") != NULL) {
            start(&f, modes[i].name);
            modes[i].run(&f);
            buf_fini(&f.out);
            frame_decoder_fini(&f.in);
            return 0;
        }
    fprintf(stderr, "usage: TP_BUILD=... flood MODE\n");
    return 2;
}
