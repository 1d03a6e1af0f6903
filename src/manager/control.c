/* SPDX-License-Identifier: MIT */
#include "manager/control.h"

#include "core/err.h"
#include "core/file.h"
#include "json.h"
#include "manager/control_address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS_MAX 16
#define OUT_MAX ((size_t)64 << 20)
#define BACKLOG 16

/* ---- clients ---- */

static void
detach(struct control *c, const struct control_client *client)
{
    struct control_client **link = &c->clients;

    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
}

static void
drop(struct control *c, struct control_client *client)
{
    uint64_t number = client->number;

    detach(c, client);
    c->n_clients--;
    close(client->fd); /* which takes it out of epoll */
    buf_fini(&client->in);
    buf_fini(&client->out);
    free(client);
    if (c->left != NULL)
        c->left(c->ctx, number);
}

static void
touch(struct control *c, struct control_client *client)
{
    detach(c, client);
    client->next = c->clients;
    c->clients = client;
}

static void
drop_silent(struct control *c)
{
    struct control_client *client = c->clients;

    while (client->next != NULL)
        client = client->next;
    drop(c, client);
}

static void
write_out(struct control_client *client)
{
    while (client->out.len > 0 && !client->gone) {
        ssize_t n = send(client->fd, client->out.data, client->out.len,
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n > 0)
            buf_consume(&client->out, (size_t)n);
        else if (n < 0 && errno == EAGAIN)
            return;
        else if (n < 0 && errno != EINTR)
            client->gone = true;
    }
}

void
control_send(struct control_client *client, const char *text, size_t len)
{
    buf_add(&client->out, text, len);
    buf_add_char(&client->out, '\n');
    if (client->out.failed)
        client->gone = true;
}

static void
write_error(struct buf *line, const char *fmt, long number)
{
    struct json_writer w;
    char text[160];

    snprintf(text, sizeof text, fmt, number);
    buf_init(line, CONTROL_LINE_MAX);
    w = json_begin_object(line);
    json_add_text(&w, "error", text);
    json_close(&w);
}

static void
refuse_long(struct control_client *client)
{
    struct buf line;

    write_error(&line, "a request of more than %ld bytes: expected one line",
                CONTROL_LINE_MAX);
    control_send(client, line.data, line.len);
    buf_fini(&line);
    buf_clear(&client->in);
    client->leaves = true;
}

/* Who has not read its last answer waits with its next request. */
static void
take_lines(struct control *c, struct control_client *client)
{
    char *newline;

    while (!client->gone && !client->leaves && client->out.len == 0 &&
           client->in.len > 0) {
        newline = memchr(client->in.data, '\n', client->in.len);
        if (newline == NULL) {
            if (client->in.len >= CONTROL_LINE_MAX)
                refuse_long(client);
            break;
        }
        c->take(c->ctx, client, client->in.data,
                (size_t)(newline - client->in.data));
        buf_consume(&client->in, (size_t)(newline - client->in.data) + 1);
        write_out(client);
    }
    write_out(client);
}

static void
read_in(struct control_client *client)
{
    size_t room = CONTROL_LINE_MAX - client->in.len;
    char *at = buf_reserve(&client->in, room);
    ssize_t n;

    if (at == NULL) {
        client->gone = true;
        return;
    }
    n = recv(client->fd, at, room, MSG_DONTWAIT);
    if (n > 0)
        client->in.len += (size_t)n;
    else if (n == 0)
        client->leaves = true; /* what it began and did not end is nothing */
    else if (errno != EAGAIN && errno != EINTR)
        client->gone = true;
}

static bool
has_line(const struct control_client *client)
{
    return client->in.len > 0 &&
           memchr(client->in.data, '\n', client->in.len) != NULL;
}

/* Asks epoll for what can go on now; drops who is done.  A request that waited
 * until `out` was written is taken when there is room, which is at once. */
static void
settle(struct control *c, struct control_client *client)
{
    uint32_t wanted =
        client->out.len > 0 || has_line(client) ? EPOLLOUT : EPOLLIN;
    struct epoll_event e = {.events = wanted, .data = {.u64 = client->number}};

    if (client->gone || (client->leaves && client->out.len == 0)) {
        drop(c, client);
        return;
    }
    if (wanted != client->events)
        epoll_ctl(c->epoll_fd, EPOLL_CTL_MOD, client->fd, &e);
    client->events = wanted;
}

static void
serve(struct control *c, struct control_client *client, uint32_t events)
{
    size_t pending = client->out.len;

    if (events & EPOLLERR)
        client->gone = true;
    write_out(client);
    if (events & EPOLLIN)
        read_in(client);
    if (events & EPOLLIN || client->out.len < pending)
        touch(c, client);
    take_lines(c, client);
    settle(c, client);
}

void
control_flush(struct control *c)
{
    struct control_client *client = c->clients, *next;

    for (; client != NULL; client = next) {
        next = client->next;
        write_out(client);
        settle(c, client);
    }
}

struct control_client *
control_find(const struct control *c, uint64_t number)
{
    struct control_client *client = c->clients;

    while (client != NULL && client->number != number)
        client = client->next;
    return client;
}

/* ---- the door ---- */

/* Its owner, and root, who may do anything. */
static bool
may_enter(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    struct buf line;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
        (peer.uid == geteuid() || peer.uid == 0))
        return true;
    write_error(&line,
                "this experiment is user %ld's: no other user may control it",
                (long)geteuid());
    buf_add_char(&line, '\n');
    send(fd, buf_text(&line), line.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    buf_fini(&line);
    return false;
}

static void
admit(struct control *c, int fd)
{
    struct control_client *client = calloc(1, sizeof *client);
    struct epoll_event e = {.events = EPOLLIN};

    if (client == NULL) {
        close(fd);
        return;
    }
    client->number = ++c->numbers;
    client->fd = fd;
    client->events = EPOLLIN;
    buf_init(&client->in, CONTROL_LINE_MAX);
    buf_init(&client->out, OUT_MAX);
    client->next = c->clients;
    c->clients = client;
    c->n_clients++;
    e.data.u64 = client->number;
    if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0)
        drop(c, client);
}

/* No descriptor is left: the one kept for this turns one client away, who
 * would else wake us for ever. */
static void
turn_away(struct control *c)
{
    int fd;

    if (c->spare_fd >= 0)
        close(c->spare_fd);
    fd = accept(c->listen_fd, NULL, NULL);
    if (fd >= 0)
        close(fd);
    c->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
open_door(struct control *c)
{
    int fd = accept4(c->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        turn_away(c);
    if (fd < 0)
        return;
    if (!may_enter(fd)) {
        close(fd);
        return;
    }
    if (c->n_clients == CONTROL_CLIENTS_MAX)
        drop_silent(c);
    admit(c, fd);
}

void
control_serve(struct control *c)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(c->epoll_fd, events, EVENTS_MAX, 0);

    for (int i = 0; i < n; i++) {
        struct control_client *client = control_find(c, events[i].data.u64);

        if (events[i].data.u64 == 0)
            open_door(c);
        else if (client != NULL)
            serve(c, client, events[i].events);
    }
    control_flush(c); /* answers to others than who asked */
}

/* The socket's mode is what its inode has before it gets a name. */
static int
bind_socket(const struct control *c, struct err *err)
{
    char *path = file_join(c->folder, FOLDER_CONTROL);
    struct control_address a = {.folder_fd = -1};
    int rc = -1;

    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (control_address_open(&a, c->folder, err) == 0) {
        unlink(path);
        rc = fchmod(c->listen_fd, 0600) == 0 &&
                     bind(c->listen_fd, (const struct sockaddr *)&a.un,
                          sizeof a.un) == 0 &&
                     listen(c->listen_fd, BACKLOG) == 0
                 ? 0
                 : err_errno(err, ERR_SYSTEM, "%s: cannot make the socket",
                             path);
        control_address_close(&a);
    }
    free(path);
    return rc;
}

int
control_open(struct control *c, const char *folder, control_take *take,
             void *ctx, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN}; /* 0: no client's number */
    int rc;

    *c = (struct control)CONTROL_CLOSED;
    c->take = take;
    c->ctx = ctx;
    c->folder = strdup(folder);
    c->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    c->listen_fd =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->folder == NULL || c->epoll_fd < 0 || c->listen_fd < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the socket", folder);
    else
        rc = bind_socket(c, err);
    if (rc == 0 && epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, c->listen_fd, &e) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot watch the socket", folder);
    if (rc != 0)
        control_close(c);
    return rc;
}

void
control_close(struct control *c)
{
    const int fds[] = {c->listen_fd, c->epoll_fd, c->spare_fd};
    char *path;

    while (c->clients != NULL)
        drop(c, c->clients);
    if (c->folder != NULL) {
        path = file_join(c->folder, FOLDER_CONTROL);
        if (path != NULL)
            unlink(path);
        free(path);
    }
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(c->folder);
    *c = (struct control)CONTROL_CLOSED;
}
