/* SPDX-License-Identifier: MIT */
#include "control/client.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "history/folder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORTION 65536
#define PATIENCE_MS 10000
#define SHORT_STOP_MS 200 /* one that lasts no longer is not worth a word */

/* ---- a manager that does nothing ---- */

bool
control_client_is_stopped(const struct control_client *c)
{
    char path[64], text[256] = "";
    const char *end;
    FILE *file;

    if (c->pid <= 0)
        return false;
    snprintf(path, sizeof path, "/proc/%ld/stat", c->pid);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    end = strrchr(text, ')'); /* of its name, which may hold any */
    return end != NULL && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

int
control_client_tell_stopped(const struct control_client *c, struct err *err)
{
    err_set(err, ERR_SYSTEM,
            "%s: its manager, process %ld, is stopped (SIGSTOP, Control-Z or a "
            "debugger): to let it go on: kill -CONT %ld",
            c->folder, c->pid, c->pid);
    if (err != NULL)
        err->number = ETIMEDOUT;
    return -1;
}

static int
tell_silent(const struct control_client *c, struct err *err)
{
    if (control_client_is_stopped(c))
        return control_client_tell_stopped(c, err);
    err_set(err, ERR_SYSTEM,
            "%s: its manager, process %ld, has not answered for %d s: it may "
            "wait for a disk; to end it: kill -KILL %ld, and then tunepipe "
            "resume %s",
            c->folder, c->pid, c->patience_ms / 1000, c->pid, c->folder);
    if (err != NULL)
        err->number = ETIMEDOUT;
    return -1;
}

void
control_client_note_stopped(const struct control_client *c, const char *verb,
                            bool *said)
{
    bool stopped = control_client_is_stopped(c);

    if (stopped && !*said)
        fprintf(stderr,
                "tunepipe %s: the manager, process %ld, is stopped: nothing "
                "will happen before kill -CONT %ld\n",
                verb, c->pid, c->pid);
    *said = stopped;
}

/* ---- the connection ---- */

/* What its folder says, where the socket does not. */
static long
pid_of(const char *folder)
{
    char *path = file_join(folder, FOLDER_PID);
    struct buf text;
    long pid = 0;

    buf_init(&text, 64);
    if (path != NULL && file_read(path, 63, &text, NULL) == 0)
        pid = strtol(buf_text(&text), NULL, 10);
    buf_fini(&text);
    free(path);
    return pid;
}

/* It waits where more have come than the manager has let in. */
static int
connect_to(struct control_client *c, struct err *err)
{
    struct timeval patience = {.tv_sec = c->patience_ms / 1000};
    struct control_address a;
    int rc;

    if (control_address_open(&a, c->folder, err) != 0)
        return -1;
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    rc = connect(c->fd, (const struct sockaddr *)&a.un, sizeof a.un);
    if (rc != 0 && errno == EAGAIN) {
        c->pid = pid_of(c->folder);
        tell_silent(c, err);
    } else if (rc != 0 && (errno == ENOENT || errno == ECONNREFUSED)) {
        err_set(err, ERR_SYSTEM, "%s: no manager lives here", c->folder);
    } else if (rc != 0) {
        err_errno(err, ERR_SYSTEM, "%s/" FOLDER_CONTROL ": cannot connect",
                  c->folder);
    }
    control_address_close(&a);
    return rc;
}

int
control_client_open(struct control_client *c, const char *folder,
                    struct err *err)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;

    c->folder = folder;
    c->manager_fd = -1;
    c->pid = 0;
    c->patience_ms = PATIENCE_MS;
    c->ended = false;
    buf_init(&c->in, CONTROL_ANSWER_MAX);
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return err_errno(err, ERR_SYSTEM, "cannot make a socket");
    if (connect_to(c, err) != 0) {
        control_client_close(c);
        return -1;
    }
    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
        peer.pid > 0) {
        c->pid = peer.pid;
        c->manager_fd = process_watch(peer.pid);
    }
    return 0;
}

void
control_client_close(struct control_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    if (c->manager_fd >= 0)
        close(c->manager_fd);
    c->fd = c->manager_fd = -1;
    buf_fini(&c->in);
}

int
control_client_send(struct control_client *c, const char *request,
                    struct err *err)
{
    struct buf line;
    size_t at = 0;
    bool failed;

    buf_init(&line, CONTROL_ANSWER_MAX);
    buf_add_text(&line, request);
    buf_add_char(&line, '\n');
    while (!line.failed && at < line.len) {
        ssize_t n = send(c->fd, line.data + at, line.len - at, MSG_NOSIGNAL);

        if (n < 0 && errno == EPIPE)
            at = line.len; /* what it said before it went tells why */
        else if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    failed = line.failed || at < line.len;
    buf_fini(&line);
    return failed ? err_errno(err, ERR_SYSTEM,
                              "the manager does not take the request")
                  : 0;
}

int
control_client_fill(struct control_client *c, struct err *err)
{
    char *at = buf_reserve(&c->in, PORTION);
    ssize_t n;

    if (at == NULL)
        return err_set(err, ERR_MEMORY, "the answer is too long");
    n = recv(c->fd, at, PORTION, 0);
    if (n < 0 && errno == EINTR)
        return 0;
    c->ended = n <= 0;
    if (c->ended)
        return err_set(err, ERR_SYSTEM, "the manager has ended");
    c->in.len += (size_t)n;
    return memchr(at, '\n', (size_t)n) != NULL;
}

static int
read_answer(const struct json *doc, struct jval *answer, struct err *err)
{
    const char *text = "an answer that is none";
    struct jval v;

    if (jval_get(json_root(doc), "answer", answer))
        return 0;
    if (jval_get(json_root(doc), "error", &v))
        jval_string(v, &text, NULL);
    return err_set(err, ERR_INPUT, "%s", text);
}

int
control_client_line(struct control_client *c, struct json **out,
                    struct err *err)
{
    const char *newline =
        c->in.len > 0 ? memchr(c->in.data, '\n', c->in.len) : NULL;
    size_t len;

    *out = NULL;
    if (newline == NULL)
        return 0;
    len = (size_t)(newline - c->in.data);
    *out = json_parse(c->in.data, len, JSON_STRICT, err);
    buf_consume(&c->in, len + 1);
    return *out == NULL ? -1 : 1;
}

int
control_client_take(struct control_client *c, struct json **out,
                    struct jval *answer, struct err *err)
{
    int rc = control_client_line(c, out, err);

    if (rc <= 0)
        return rc;
    if (read_answer(*out, answer, err) == 0)
        return 1;
    json_free(*out);
    *out = NULL;
    return -1;
}

/* Whether there is something to read, or the end, before the time is over. */
static bool
await(int fd, int ms)
{
    const int64_t until = clock_monotonic_ns() + ms * INT64_C(1000000);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t left = ms;
    int n;

    do {
        n = poll(&p, 1, left < 0 ? 0 : (int)left);
        left = (until - clock_monotonic_ns()) / 1000000;
    } while (n < 0 && errno == EINTR);
    return n != 0;
}

int
control_client_ask(struct control_client *c, const char *request,
                   struct json **out, struct jval *answer, struct err *err)
{
    *out = NULL;
    /* What it is asked now it would do whenever it goes on. */
    if (control_client_is_stopped(c) && !await(c->fd, SHORT_STOP_MS) &&
        control_client_is_stopped(c))
        return control_client_tell_stopped(c, err);
    if (control_client_send(c, request, err) != 0)
        return -1;
    for (;;) {
        int rc = control_client_take(c, out, answer, err);

        if (rc != 0)
            return rc > 0 ? 0 : -1;
        if (!await(c->fd, c->patience_ms))
            return tell_silent(c, err);
        if (control_client_fill(c, err) < 0)
            return -1;
    }
}

/* Whether there is before the deadline (0: none); tells when the manager is
 * stopped meanwhile. */
static bool
await_until(const struct control_client *c, int64_t deadline_ns,
            const char *verb)
{
    bool said = false;

    for (;;) {
        int64_t now_ns = clock_monotonic_ns(), left_ms = CONTROL_LOOK_MS;

        control_client_note_stopped(c, verb, &said);
        if (deadline_ns > 0 && deadline_ns - now_ns < left_ms * 1000000)
            left_ms = deadline_ns <= now_ns
                          ? 0
                          : (deadline_ns - now_ns + 999999) / 1000000;
        if (await(c->fd, (int)left_ms))
            return true;
        if (deadline_ns > 0 && clock_monotonic_ns() >= deadline_ns)
            return false;
    }
}

int
control_client_next(struct control_client *c, int64_t deadline_ns,
                    const char *verb, struct json **out, struct jval *answer,
                    struct err *err)
{
    for (;;) {
        int rc = control_client_take(c, out, answer, err);

        if (rc != 0 || !await_until(c, deadline_ns, verb))
            return rc;
        if (control_client_fill(c, err) < 0)
            return -1;
    }
}

int
control_ask(const char *folder, const char *request, struct json **out,
            struct jval *answer, struct err *err)
{
    struct control_client c;
    int rc;

    *out = NULL;
    if (control_client_open(&c, folder, err) != 0)
        return -1;
    rc = control_client_ask(&c, request, out, answer, err);
    control_client_close(&c);
    return rc;
}

void
control_client_await_end(struct control_client *c, const char *verb)
{
    bool said = false;
    struct err err;

    do {
        buf_clear(&c->in);
        while (!await(c->fd, CONTROL_LOOK_MS))
            control_client_note_stopped(c, verb, &said);
    } while (control_client_fill(c, &err) >= 0);
    while (c->manager_fd >= 0 && !await(c->manager_fd, CONTROL_LOOK_MS))
        control_client_note_stopped(c, verb, &said);
}
