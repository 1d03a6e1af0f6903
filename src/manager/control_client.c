/* SPDX-License-Identifier: MIT */
#include "manager/control_client.h"

#include "core/err.h"
#include "manager/control_address.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)256 << 20)
#define PORTION 65536

static int
connect_to(int fd, const char *folder, struct err *err)
{
    struct control_address a;
    int rc;

    if (control_address_open(&a, folder, err) != 0)
        return -1;
    rc = connect(fd, (const struct sockaddr *)&a.un, sizeof a.un);
    if (rc != 0 && (errno == ENOENT || errno == ECONNREFUSED))
        err_set(err, ERR_SYSTEM, "%s: no manager lives here", folder);
    else if (rc != 0)
        err_errno(err, ERR_SYSTEM, "%s/" FOLDER_CONTROL ": cannot connect",
                  folder);
    control_address_close(&a);
    return rc;
}

int
control_link_open(struct control_link *l, const char *folder, struct err *err)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;

    l->manager_fd = -1;
    l->ended = false;
    buf_init(&l->in, ANSWER_MAX);
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->fd < 0)
        return err_errno(err, ERR_SYSTEM, "cannot make a socket");
    if (connect_to(l->fd, folder, err) != 0) {
        control_link_close(l);
        return -1;
    }
    if (getsockopt(l->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
        peer.pid > 0)
        l->manager_fd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
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

int
control_ask(const char *folder, const char *request, struct json **out,
            struct jval *answer, struct err *err)
{
    struct control_link l;
    int rc;

    *out = NULL;
    if (control_link_open(&l, folder, err) != 0)
        return -1;
    rc = control_link_send(&l, request, err);
    if (rc == 0)
        rc = control_link_read(&l, out, answer, err);
    control_link_close(&l);
    return rc;
}

void
control_link_await_end(struct control_link *l)
{
    struct pollfd p = {.fd = l->manager_fd, .events = POLLIN};
    struct err err;

    do
        buf_clear(&l->in);
    while (control_link_fill(l, &err) >= 0);
    while (l->manager_fd >= 0 && poll(&p, 1, -1) < 0 && errno == EINTR)
        continue;
}
