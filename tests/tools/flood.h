/* SPDX-License-Identifier: MIT */
/* flood.h - what the peers that do not behave share: a dispatcher at the other
 * end of two pipes or sockets, frames for it, its answers checked in order.
 * Needs TP_BUILD; a folder "log" is made in the current one. */
#ifndef TESTS_TOOLS_FLOOD_H
#define TESTS_TOOLS_FLOOD_H

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

#define HWM_MAX_KB (40 * 1024) /* with --max-queued 1M */

struct flood {
    pid_t child;
    int to, from;
    struct buf out; /* to be written, from `at` */
    size_t at;
    struct frame_decoder in;
    uint64_t answers, others;
};

static inline void
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

/* `with_log`: keeps a command log in "log". */
static inline void
exec_child(bool shell, bool with_log, int in, int out)
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
          "--extensions", "--max-queued", "1M", "--quiet", "--grace", "1s",
          with_log ? "--dir" : (char *)NULL, "log", (char *)NULL);
    _exit(127);
}

static inline void
flood_start(struct flood *f, const char *mode, bool with_log)
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
        exec_child(shell, with_log, in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    f->to = in[1];
    f->from = out[0];
    fcntl(f->to, F_SETFL, fcntl(f->to, F_GETFL) | O_NONBLOCK);
    buf_init(&f->out, (size_t)1 << 28);
    frame_decoder_init(&f->in, FRAME_DIGITS, 1 << 20);
}

static inline int
status_of(struct flood *f)
{
    int status;

    if (waitpid(f->child, &status, 0) != f->child)
        die(f, "waitpid: %m");
    f->child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline void
expect_status(struct flood *f, int want)
{
    int got = status_of(f);

    if (got != want)
        die(f, "exit status %d, expected %d", got, want);
}

/* The greatest resident size so far, in KiB. */
static inline long
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

static inline void
put(struct flood *f, const char *code, const char *payload)
{
    frame_encode(&f->out, FRAME_DIGITS, code, payload, strlen(payload));
}

static inline void
put_reports(struct flood *f, int n, int pings_each)
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
        for (int k = 0; k < pings_each; k++)
            put(f, "PI", "");
    }
}

static inline bool
write_some(struct flood *f)
{
    ssize_t n = write(f->to, f->out.data + f->at, f->out.len - f->at);

    if (n < 0 && errno != EAGAIN)
        die(f, "write: %m");
    f->at += n > 0 ? (size_t)n : 0;
    return f->at == f->out.len;
}

static inline void
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
static inline bool
read_at_most(struct flood *f, size_t most)
{
    struct frame frame;
    struct err err;
    enum frame_status status;
    size_t room;
    char *to = frame_room(&f->in, &room);
    struct pollfd p = {.fd = f->from, .events = POLLIN};
    ssize_t n = poll(&p, 1, -1) == 1
                    ? read(f->from, to, room < most ? room : most)
                    : -1;

    if (n <= 0)
        return false;
    frame_filled(&f->in, (size_t)n);
    while ((status = frame_next(&f->in, &frame, &err)) == FRAME_READY)
        check_frame(f, &frame);
    if (status == FRAME_BROKEN)
        die(f, "%s", err.text);
    return true;
}

static inline bool
read_some(struct flood *f)
{
    return read_at_most(f, SIZE_MAX);
}

static inline void
write_everything(struct flood *f)
{
    struct pollfd p = {.fd = f->to, .events = POLLOUT};

    while (poll(&p, 1, -1) == 1 && !write_some(f))
        continue;
}

/* Until so many have come; writes on meanwhile. */
static inline void
read_answers(struct flood *f, uint64_t n)
{
    while (f->answers < n) {
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

/* ---- modes ---- */

struct flood_mode {
    const char *name; /* NULL ends a table */
    void (*run)(struct flood *);
    bool without_log;
};

static inline int
flood_main(const struct flood_mode *m, int argc, char **argv)
{
    struct flood f = {0};

    signal(SIGPIPE, SIG_IGN);
    alarm(100);
    for (; argc == 2 && getenv("TP_BUILD") != NULL && m->name != NULL; m++)
        if (strcmp(argv[1], m->name) == 0) {
            flood_start(&f, m->name, !m->without_log);
            m->run(&f);
            buf_fini(&f.out);
            frame_decoder_fini(&f.in);
            return 0;
        }
    fprintf(stderr, "usage: TP_BUILD=... %s MODE\n", argv[0]);
    return 2;
}

/* Whether it is not a sanitizer's build. */
static inline bool
is_plain(void)
{
    const char *build = strrchr(getenv("TP_BUILD"), '/');

    return strcmp(build, "/release") == 0 || strcmp(build, "/clang") == 0;
}

static inline void
check_memory(struct flood *f)
{
    long kb = high_water(f);

    if (is_plain() && kb > HWM_MAX_KB)
        die(f, "%ld KiB resident, expected at most %d", kb, HWM_MAX_KB);
}

#endif
