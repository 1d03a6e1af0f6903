/* SPDX-License-Identifier: MIT */
#include "manager/control_client.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "history/folder.h"
#include "manager/control_address.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)256 << 20)
#define PORTION 65536
#define PATIENCE_MS 10000
#define SHORT_STOP_MS 200 /* one that lasts no longer is not worth a word */

/* ---- a manager that does nothing ---- */

bool
control_link_is_stopped(const struct control_link *l)
{
    char path[64], text[256] = "";
    const char *end;
    FILE *file;

    if (l->pid <= 0)
        return false;
    snprintf(path, sizeof path, "/proc/%ld/stat", l->pid);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    end = strrchr(text, ')'); /* of its name, which may hold any */
    return end != NULL && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

static int
tell_stopped(const struct control_link *l, struct err *err)
{
    err_set(err, ERR_SYSTEM,
            "%s: its manager, process %ld, is stopped (SIGSTOP, Control-Z or a "
            "debugger): to let it go on: kill -CONT %ld",
            l->folder, l->pid, l->pid);
    if (err != NULL)
        err->number = ETIMEDOUT;
    return -1;
}

static int
tell_silent(const struct control_link *l, struct err *err)
{
    if (control_link_is_stopped(l))
        return tell_stopped(l, err);
    err_set(err, ERR_SYSTEM,
            "%s: its manager, process %ld, has not answered for %d s: it may "
            "wait for a disk; to end it: kill -KILL %ld, and then tunepipe "
            "resume %s",
            l->folder, l->pid, l->patience_ms / 1000, l->pid, l->folder);
    if (err != NULL)
        err->number = ETIMEDOUT;
    return -1;
}

void
control_link_note_stopped(const struct control_link *l, const char *verb,
                          bool *said)
{
    bool stopped = control_link_is_stopped(l);

    if (stopped && !*said)
        fprintf(stderr,
                "tunepipe %s: the manager, process %ld, is stopped: nothing "
                "will happen before kill -CONT %ld\n",
                verb, l->pid, l->pid);
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
connect_to(struct control_link *l, struct err *err)
{
    struct timeval patience = {.tv_sec = l->patience_ms / 1000};
    struct control_address a;
    int rc;

    if (control_address_open(&a, l->folder, err) != 0)
        return -1;
    setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    rc = connect(l->fd, (const struct sockaddr *)&a.un, sizeof a.un);
    if (rc != 0 && errno == EAGAIN) {
        l->pid = pid_of(l->folder);
        tell_silent(l, err);
    } else if (rc != 0 && (errno == ENOENT || errno == ECONNREFUSED)) {
        err_set(err, ERR_SYSTEM, "%s: no manager lives here", l->folder);
    } else if (rc != 0) {
        err_errno(err, ERR_SYSTEM, "%s/" FOLDER_CONTROL ": cannot connect",
                  l->folder);
    }
    control_address_close(&a);
    return rc;
}

int
control_link_open(struct control_link *l, const char *folder, struct err *err)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;

    l->folder = folder;
    l->manager_fd = -1;
    l->pid = 0;
    l->patience_ms = PATIENCE_MS;
    l->ended = false;
    buf_init(&l->in, ANSWER_MAX);
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->fd < 0)
        return err_errno(err, ERR_SYSTEM, "cannot make a socket");
    if (connect_to(l, err) != 0) {
        control_link_close(l);
        return -1;
    }
    if (getsockopt(l->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
        peer.pid > 0) {
        l->pid = peer.pid;
        l->manager_fd = process_watch(peer.pid);
    }
    return 0;
}

void
control_link_close(struct control_link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (l->manager_fd >= 0)
        close(l->manager_fd);
    l->fd = l->manager_fd = -1;
    buf_fini(&l->in);
}

int
control_link_send(struct control_link *l, const char *request, struct err *err)
{
    struct buf line;
    size_t at = 0;
    bool failed;

    buf_init(&line, ANSWER_MAX);
    buf_add_text(&line, request);
    buf_add_char(&line, '\n');
    while (!line.failed && at < line.len) {
        ssize_t n = send(l->fd, line.data + at, line.len - at, MSG_NOSIGNAL);

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

bool
control_link_holds(const struct control_link *l)
{
    return l->in.len > 0 && memchr(l->in.data, '\n', l->in.len) != NULL;
}

int
control_link_fill(struct control_link *l, struct err *err)
{
    char *at;
    ssize_t n;

    if (control_link_holds(l))
        return 1;
    at = buf_reserve(&l->in, PORTION);
    if (at == NULL)
        return err_set(err, ERR_MEMORY, "the answer is too long");
    n = recv(l->fd, at, PORTION, 0);
    if (n < 0 && errno == EINTR)
        return 0;
    l->ended = n <= 0;
    if (l->ended)
        return err_set(err, ERR_SYSTEM, "the manager has ended");
    l->in.len += (size_t)n;
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
control_link_read(struct control_link *l, struct json **out,
                  struct jval *answer, struct err *err)
{
    size_t len;
    int rc;

    *out = NULL;
    do
        rc = control_link_fill(l, err);
    while (rc == 0);
    if (rc < 0)
        return -1;
    len = (size_t)((char *)memchr(l->in.data, '\n', l->in.len) - l->in.data);
    *out = json_parse(l->in.data, len, JSON_STRICT, err);
    buf_consume(&l->in, len + 1);
    if (*out == NULL)
        return -1;
    if (read_answer(*out, answer, err) == 0)
        return 0;
    json_free(*out);
    *out = NULL;
    return -1;
}

/* 1: there is something to read, or the end; 0: the time is over. */
static int
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
control_link_ask(struct control_link *l, const char *request, struct json **out,
                 struct jval *answer, struct err *err)
{
    *out = NULL;
    /* What it is asked now it would do whenever it goes on. */
    if (control_link_is_stopped(l) && !await(l->fd, SHORT_STOP_MS) &&
        control_link_is_stopped(l))
        return tell_stopped(l, err);
    if (control_link_send(l, request, err) != 0)
        return -1;
    for (;;) {
        int rc = control_link_holds(l) ? 1 : 0;

        if (rc == 0 && !await(l->fd, l->patience_ms))
            return tell_silent(l, err);
        if (rc == 0)
            rc = control_link_fill(l, err);
        if (rc < 0)
            return -1;
        if (rc > 0)
            return control_link_read(l, out, answer, err);
    }
}

int
control_ask(const char *folder, const char *request, struct json **out,
            struct jval *answer, struct err *err)
{
    struct control_link l;
    int rc;

    *out = NULL;
    if (control_link_open(&l, folder, err) != 0)
        return -1;
    rc = control_link_ask(&l, request, out, answer, err);
    control_link_close(&l);
    return rc;
}

void
control_link_await_end(struct control_link *l, const char *verb)
{
    bool said = false;
    struct err err;

    do {
        buf_clear(&l->in);
        while (!await(l->fd, CONTROL_LOOK_MS))
            control_link_note_stopped(l, verb, &said);
    } while (control_link_fill(l, &err) >= 0);
    while (l->manager_fd >= 0 && !await(l->manager_fd, CONTROL_LOOK_MS))
        control_link_note_stopped(l, verb, &said);
}
