/* SPDX-License-Identifier: MIT */
/* child.h - for benchmarks: a dispatcher, or a reader to compare it with, at
 * the other end of two pipes; what it costs in CPU time and memory. */
#ifndef TESTS_BENCH_CHILD_H
#define TESTS_BENCH_CHILD_H

#include "stream.h"

#include "core/err.h"
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define CHILD_PATIENCE_MS 120000

struct child {
    pid_t pid;
    int to, from;
    const char *errors; /* the file with its stderr */
    clockid_t clock;
    struct frame_decoder decoder;
    uint64_t initialized, trials, kills, others; /* frames it sent */
};

__attribute__((noreturn)) static inline void
child_die(const char *what)
{
    fprintf(stderr, "bench: %s: %m\n", what);
    exit(1);
}

/* A pair of sockets out of the way of the low descriptors. */
static inline void
child_sockets(int fds[2])
{
    int low[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) != 0)
        child_die("socketpair");
    for (int i = 0; i < 2; i++) {
        fds[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
        if (fds[i] < 0)
            child_die("fcntl");
        close(low[i]);
    }
}

/* The child's words for people go to the file, see child_finish().  It finds
 * pipes at 0 and 1, or, for NNI, sockets at 3 and 4. */
static inline void
child_spawn(struct child *c, const char *const *argv, const char *errors,
            bool nni)
{
    posix_spawn_file_actions_t actions;
    int in[2], out[2];

    *c = (struct child){.errors = errors};
    frame_decoder_init(&c->decoder, FRAME_DIGITS, FRAME_PAYLOAD_MAX_DEFAULT);
    signal(SIGPIPE, SIG_IGN);
    if (nni) {
        child_sockets(in);
        child_sockets(out);
    } else if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        child_die("pipe");
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], nni ? 3 : 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], nni ? 4 : 1);
    posix_spawn_file_actions_addopen(
        &actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    errno = posix_spawnp(&c->pid, argv[0], &actions, NULL,
                         (char *const *)(uintptr_t)argv, environ);
    if (errno != 0)
        child_die(argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = out[0];
    /* The write end is ours alone. */
    if (fcntl(c->to, F_SETFL, O_NONBLOCK) != 0)
        child_die("pipe");
    errno = clock_getcpuclockid(c->pid, &c->clock);
    if (errno != 0)
        child_die("clock_getcpuclockid");
}

static inline void
child_start(struct child *c, const char *const *argv, const char *errors)
{
    child_spawn(c, argv, errors, false);
}

/* Of all its threads, user and system. */
static inline int64_t
child_cpu_ns(const struct child *c)
{
    struct timespec t;

    if (clock_gettime(c->clock, &t) != 0)
        child_die("clock_gettime");
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Shows what the child said. */
static inline void
child_quote(const struct child *c, const char *what)
{
    char line[512];
    FILE *f = fopen(c->errors, "re");

    fprintf(stderr, "bench: the child %s; it said:\n", what);
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        fprintf(stderr, "  %s", line);
    exit(1);
}

static inline void
child_count(struct child *c, const char *code)
{
    if (strcmp(code, "TR") == 0)
        c->trials++;
    else if (strcmp(code, "KI") == 0)
        c->kills++;
    else if (strcmp(code, "ID") == 0)
        c->initialized++;
    else
        c->others++;
}

static inline void
child_receive(struct child *c)
{
    struct frame f;
    struct err err;
    size_t room;
    char *to = frame_room(&c->decoder, &room);
    ssize_t n = to == NULL ? 0 : read(c->from, to, room);

    if (n <= 0)
        child_quote(c, "ended too early");
    frame_filled(&c->decoder, (size_t)n);
    while (frame_next(&c->decoder, &f, &err) == FRAME_READY)
        child_count(c, f.code);
}

/* Waits until something came, or (unless `len` is 0) can be written. */
static inline void
child_poll(struct child *c, struct pollfd fds[2], size_t len)
{
    fds[0] = (struct pollfd){.fd = c->from, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = len > 0 ? c->to : -1, .events = POLLOUT};
    if (poll(fds, 2, CHILD_PATIENCE_MS) <= 0)
        child_die("waiting for the child");
}

static inline void
child_feed(struct child *c, const char *data, size_t len)
{
    struct pollfd fds[2];

    while (len > 0) {
        ssize_t n;

        child_poll(c, fds, len);
        if (fds[0].revents != 0)
            child_receive(c);
        if (fds[1].revents == 0)
            continue;
        n = write(c->to, data, len);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            child_quote(c, "reads no more");
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
}

/* Waits for so many frames, from the first on. */
static inline void
child_await(struct child *c, uint64_t trials, uint64_t kills)
{
    struct pollfd fds[2];

    while (c->trials < trials || c->kills < kills) {
        child_poll(c, fds, 0);
        child_receive(c);
    }
    if (c->trials > trials || c->kills > kills || c->others > 0)
        child_quote(c, "sent other frames than expected");
}

static inline void
child_await_initialized(struct child *c, uint64_t n)
{
    struct pollfd fds[2];

    while (c->initialized < n) {
        child_poll(c, fds, 0);
        child_receive(c);
    }
}

/* All steps of the stream. */
static inline void
child_play(struct child *c, const struct stream *s)
{
    size_t at = 0;

    for (size_t i = 0; i < s->n_steps; i++) {
        const struct stream_step *step = &s->steps[i];

        child_feed(c, s->bytes.data + at, step->end - at);
        child_await(c, step->trials, step->kills);
        at = step->end;
    }
}

static inline void
child_close(struct child *c)
{
    close(c->to);
    c->to = -1;
}

/* A command that cost an error was not handled as is measured here. */
static inline void
child_check_errors(const struct child *c)
{
    char line[512];
    FILE *f = fopen(c->errors, "re");

    if (f == NULL)
        child_die(c->errors);
    while (fgets(line, sizeof line, f) != NULL)
        if (strstr(line, "error:") != NULL)
            child_quote(c, "met errors");
    fclose(f);
}

/* Must end by itself, and well. */
static inline void
child_finish(struct child *c)
{
    int status;

    if (c->to >= 0)
        child_close(c);
    if (waitpid(c->pid, &status, 0) != c->pid)
        child_die("waitpid");
    close(c->from);
    frame_decoder_fini(&c->decoder);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        child_quote(c, "failed");
    child_check_errors(c);
    unlink(c->errors);
}

/* A line `NAME:  NUMBER kB` of a file of the child's in /proc, in bytes. */
static inline uint64_t
child_memory(const struct child *c, const char *file, const char *name)
{
    char path[64], line[256];
    uint64_t kib = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)c->pid, file);
    f = fopen(path, "re");
    if (f == NULL)
        child_die(path);
    while (kib == 0 && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), ": %" SCNu64, &kib);
    fclose(f);
    return kib * 1024;
}

#endif
