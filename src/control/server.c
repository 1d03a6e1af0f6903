/* SPDX-License-Identifier: MIT */
#include "control/server.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/nearest.h"

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
#define BACKLOG 128
#define TELL_NS 100000000 /* between two lines to one who watches */

/* What a client has asked for so far. */
enum interest { NOTHING, LOOKS, USES };

struct control_connection {
    struct control_server *server;
    struct control_connection *next;
    uint64_t number; /* its alone, as epoll reports it */
    int fd;
    struct buf in;          /* not taken yet */
    struct buf out;         /* not written yet */
    uint32_t events;        /* that epoll was asked for */
    bool leaves;            /* once `out` is written */
    bool gone;              /* its connection is broken */
    pid_t pid;              /* its process; 0: not known here */
    struct control_tag tag; /* of the request that is being handled */
    bool looks;             /* with that request */
    enum interest interest;
    bool watches;        /* is told how things stand, */
    uint64_t watch_rows; /* with so many trials */
    struct control_tag watch_tag;
    struct control_subscription *subscriptions;
};

/* ---- what is sent ---- */

static void
write_out(struct control_connection *client)
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

/* What a line says: an answer, which is JSON, or an error. */
enum saying { ANSWER, REFUSAL, REFUSAL_FOR_GOOD, REFUSAL_GONE, STOPPED };

static const char *const marks[] = {
    [REFUSAL_FOR_GOOD] = "over",
    [REFUSAL_GONE] = "gone",
    [STOPPED] = "stopped",
};

static void
add_line(struct buf *out, struct control_tag tag, enum saying saying,
         const char *text, size_t len)
{
    struct json_writer w = json_begin_object(out);

    if (tag.given)
        json_add_unsigned(&w, "id", tag.id);
    if (saying == ANSWER)
        buf_add(json_value(&w, "answer"), text, len);
    else
        json_add_string(&w, "error", text, len);
    if (saying > REFUSAL)
        json_add_bool(&w, marks[saying], true);
    json_close(&w);
    buf_add_char(out, '\n');
}

/* An answer that does not fit into `out` costs the connection. */
static void
send_line(struct control_connection *client, struct control_tag tag,
          enum saying saying, const char *text, size_t len)
{
    add_line(&client->out, tag, saying, text, len);
    if (client->out.failed)
        client->gone = true;
}

/* ---- who is answered more than once, or later ---- */

void
control_watch(struct control_connection *client, uint64_t rows)
{
    client->watches = true;
    client->watch_rows = rows;
    client->watch_tag = client->tag;
}

pid_t
control_peer(const struct control_connection *client)
{
    return client->pid;
}

void
control_look(struct control_connection *client)
{
    client->looks = true;
}

/* A client that has not read the line before is told the next time. */
static void
tell_watcher(const struct control_service *service,
             struct control_connection *client)
{
    struct buf text;

    if (!client->watches || client->out.len > 0)
        return;
    buf_init(&text, CONTROL_REPLY_MAX);
    service->describe(service->ctx, client->watch_rows, &text);
    if (buf_check(&text, "the answer", NULL) == 0)
        send_line(client, client->watch_tag, ANSWER, text.data, text.len);
    buf_fini(&text);
}

struct control_subscription *
control_subscribe(struct control_connection *client, uint64_t times,
                  struct err *err)
{
    struct control_subscription *sub = malloc(sizeof *sub);

    if (sub == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *sub = (struct control_subscription){.left = times,
                                         .tag = client->tag,
                                         .client = client,
                                         .next = client->subscriptions,
                                         .link = &client->subscriptions};
    if (sub->next != NULL)
        sub->next->link = &sub->next;
    client->subscriptions = sub;
    return sub;
}

/* A connection that this finds broken is dropped at the end of the round: it
 * may be the one whose request is being handled. */
static void
answer_later(struct control_subscription *sub, const char *object)
{
    send_line(sub->client, sub->tag, ANSWER, object, strlen(object));
    write_out(sub->client);
}

void
control_subscription_end(struct control_subscription *sub, const char *object)
{
    if (object != NULL)
        answer_later(sub, object);
    *sub->link = sub->next;
    if (sub->next != NULL)
        sub->next->link = sub->link;
    free(sub);
}

void
control_subscription_refuse(struct control_subscription *sub, const char *text,
                            bool for_good)
{
    send_line(sub->client, sub->tag, for_good ? REFUSAL_FOR_GOOD : REFUSAL,
              text, strlen(text));
    control_subscription_end(sub, NULL);
}

void
control_subscription_answer(struct control_subscription *sub,
                            const char *object)
{
    if (--sub->left == 0)
        control_subscription_end(sub, object);
    else
        answer_later(sub, object);
}

/* ---- connections ---- */

static void
detach(struct control_connection *client)
{
    struct control_connection **link = &client->server->clients;

    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
}

static void
drop(struct control_connection *client)
{
    const struct control_service *service = &client->server->service;

    while (client->subscriptions != NULL) {
        service->cancel(service->ctx, client->subscriptions->source);
        control_subscription_end(client->subscriptions, NULL);
    }
    detach(client);
    client->server->n_clients--;
    client->server->n_lookers -= client->interest == LOOKS;
    close(client->fd); /* which takes it out of epoll */
    buf_fini(&client->in);
    buf_fini(&client->out);
    free(client);
}

static void
heard_from(struct control_connection *client)
{
    detach(client);
    client->next = client->server->clients;
    client->server->clients = client;
}

/* The most silent client of those that wait for no answer; NULL: all wait. */
static struct control_connection *
find_most_silent(const struct control_server *s)
{
    struct control_connection *client = s->clients, *silent = NULL;

    for (; client != NULL; client = client->next)
        if (client->subscriptions == NULL && !client->watches)
            silent = client;
    return silent;
}

static bool
has_line(const struct control_connection *client)
{
    return client->in.len > 0 &&
           memchr(client->in.data, '\n', client->in.len) != NULL;
}

/* Asks epoll for what can go on now; drops who is done.  A request that waited
 * until `out` was written is taken when there is room, which is at once. */
static void
settle(struct control_connection *client)
{
    uint32_t wanted =
        client->out.len > 0 || has_line(client) ? EPOLLOUT : EPOLLIN;
    struct epoll_event e = {.events = wanted, .data = {.u64 = client->number}};

    if (client->gone || (client->leaves && client->out.len == 0)) {
        drop(client);
        return;
    }
    if (wanted != client->events)
        epoll_ctl(client->server->epoll_fd, EPOLL_CTL_MOD, client->fd, &e);
    client->events = wanted;
}

/* Writes what clients can take now, and drops those who have gone. */
static void
flush(struct control_server *s)
{
    struct control_connection *client = s->clients, *next;

    for (; client != NULL; client = next) {
        next = client->next;
        write_out(client);
        settle(client);
    }
}

/* ---- requests ---- */

static const struct control_command *
find_command(const struct control_service *service, const char *name,
             void **ctx, struct err *err)
{
    const struct control_commands *c = &service->commands;
    const char *names[CONTROL_COMMANDS_MAX];
    char hint[128];
    size_t n = 0;

    for (size_t i = 0; n < CONTROL_COMMANDS_MAX; n++, i++) {
        if (i == c->n && c == &service->commands)
            c = &service->more, i = 0;
        if (i == c->n)
            break;
        names[n] = c->table[i].name;
        *ctx = c->ctx;
        if (strcmp(names[n], name) == 0)
            return &c->table[i];
    }
    err_set(err, ERR_INPUT, "no command '%s'%s", name,
            nearest_hint(name, names, n, hint, sizeof hint));
    return NULL;
}

static int
check_keys(const struct control_command *command, struct jval request,
           struct err *err)
{
    struct jval_iter it = jval_iter(request);
    char hint[128];

    while (jval_next(&it)) {
        size_t n = 0;
        bool known =
            strcmp(it.key, "command") == 0 || strcmp(it.key, "id") == 0;

        for (; n < CONTROL_KEYS_MAX && command->keys[n] != NULL; n++)
            known = known || strcmp(it.key, command->keys[n]) == 0;
        if (!known)
            return err_set(
                err, ERR_INPUT, "%s: no member '%s'%s", command->name, it.key,
                nearest_hint(it.key, command->keys, n, hint, sizeof hint));
    }
    return 0;
}

static int
read_tag(struct jval object, struct control_tag *tag, struct err *err)
{
    struct jval v;

    *tag = (struct control_tag){.given = jval_type(object) == JSON_OBJECT &&
                                         jval_get(object, "id", &v)};
    if (!tag->given || jval_uint(v, &tag->id))
        return 0;
    tag->given = false;
    return err_set(err, ERR_INPUT, "id: expected an integer from 0");
}

static int
handle(struct control_connection *client, struct jval object, struct buf *reply,
       struct err *err)
{
    const struct control_service *service = &client->server->service;
    const struct control_request request = {client, object};
    const struct control_command *command;
    const char *name;
    struct jval v;
    size_t len;
    void *ctx;
    int rc;

    if (read_tag(object, &client->tag, err) != 0)
        return -1;
    if (jval_type(object) != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "expected an object, not %s",
                       jval_type_name(object));
    if (!jval_get(object, "command", &v) || !jval_string(v, &name, &len) ||
        strlen(name) != len)
        return err_set(err, ERR_INPUT, "command: expected a text");
    command = find_command(service, name, &ctx, err);
    if (command == NULL || check_keys(command, object, err) != 0)
        return -1;
    rc = command->handle(ctx, &request, reply, err);
    return rc == 0 ? buf_check(reply, "the answer", err) : rc;
}

static void
note_interest(struct control_connection *client)
{
    struct control_server *s = client->server;
    enum interest before = client->interest;

    if (!client->looks)
        client->interest = USES;
    else if (before == NOTHING)
        client->interest = LOOKS;
    s->n_uses += !client->looks;
    s->n_lookers += client->interest == LOOKS;
    s->n_lookers -= before == LOOKS;
}

static void
take_request(struct control_connection *client, const char *line, size_t len)
{
    struct err err = {0};
    struct json *doc = json_parse(line, len, JSON_UNIQUE, &err);
    struct buf reply;
    int rc = CONTROL_REFUSED;

    client->tag.given = false;
    client->looks = false;
    buf_init(&reply, CONTROL_REPLY_MAX);
    if (doc != NULL)
        rc = handle(client, json_root(doc), &reply, &err);
    if (rc != 0)
        send_line(client, client->tag,
                  rc == CONTROL_GONE ? REFUSAL_GONE : REFUSAL, err.text,
                  strlen(err.text));
    else if (reply.len > 0)
        send_line(client, client->tag, ANSWER, reply.data, reply.len);
    client->tag.given = false;
    note_interest(client);
    buf_fini(&reply);
    json_free(doc);
}

static void
refuse_long(struct control_connection *client)
{
    char text[100];
    int len = snprintf(text, sizeof text,
                       "a request of more than %d bytes: expected one line",
                       CONTROL_LINE_MAX);

    send_line(client, client->tag, REFUSAL, text, (size_t)len);
    buf_clear(&client->in);
    client->leaves = true;
}

/* A client's next request waits until its last answer is read. */
static void
take_lines(struct control_connection *client)
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
        take_request(client, client->in.data,
                     (size_t)(newline - client->in.data));
        buf_consume(&client->in, (size_t)(newline - client->in.data) + 1);
        write_out(client);
    }
    write_out(client);
}

static void
read_in(struct control_connection *client)
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
        client->leaves = true; /* a line that has not ended is no request */
    else if (errno != EAGAIN && errno != EINTR)
        client->gone = true;
}

static void
serve(struct control_connection *client, uint32_t events)
{
    size_t pending = client->out.len;

    if (events & EPOLLERR)
        client->gone = true;
    write_out(client);
    if (events & EPOLLIN)
        read_in(client);
    if (events & EPOLLIN || client->out.len < pending)
        heard_from(client);
    take_lines(client);
    settle(client);
}

/* ---- who comes ---- */

/* The experiment's owner is, and root, who may do anything. */
static bool
is_allowed(int fd, pid_t *pid)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 ||
        (peer.uid != geteuid() && peer.uid != 0))
        return false;
    *pid = peer.pid;
    return true;
}

static void
refuse(int fd, const char *text)
{
    struct buf line;

    buf_init(&line, CONTROL_LINE_MAX);
    add_line(&line, (struct control_tag){0}, REFUSAL, text, strlen(text));
    send(fd, line.data, line.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    buf_fini(&line);
    close(fd);
}

/* False: all wait for answers. */
static bool
make_room(struct control_server *s)
{
    struct control_connection *silent;

    if (s->n_clients < s->service.clients_max)
        return true;
    silent = find_most_silent(s);
    if (silent != NULL)
        drop(silent);
    return silent != NULL;
}

static void
admit(struct control_server *s, int fd, pid_t pid)
{
    struct control_connection *client = calloc(1, sizeof *client);
    struct epoll_event e = {.events = EPOLLIN};

    if (client == NULL) {
        close(fd);
        return;
    }
    client->server = s;
    client->number = ++s->n_admitted;
    client->fd = fd;
    client->pid = pid;
    client->events = EPOLLIN;
    buf_init(&client->in, CONTROL_LINE_MAX);
    buf_init(&client->out, CONTROL_PENDING_MAX);
    client->next = s->clients;
    s->clients = client;
    s->n_clients++;
    e.data.u64 = client->number;
    if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0)
        drop(client);
}

/* No descriptor is left: the one kept for this turns one client away, who
 * would else wake us for ever. */
static void
turn_away(struct control_server *s)
{
    int fd;

    if (s->spare_fd >= 0)
        close(s->spare_fd);
    fd = accept(s->listen_fd, NULL, NULL);
    if (fd >= 0)
        close(fd);
    s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
accept_client(struct control_server *s)
{
    int fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    char text[160];
    pid_t pid = 0;

    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        turn_away(s);
    if (fd < 0)
        return;
    if (!is_allowed(fd, &pid)) {
        snprintf(text, sizeof text,
                 "this experiment is user %ld's: no other user may control it",
                 (long)geteuid());
        refuse(fd, text);
    } else if (!make_room(s)) {
        snprintf(text, sizeof text,
                 "%zu clients wait for answers already: no more are let in",
                 s->n_clients);
        refuse(fd, text);
    } else {
        admit(s, fd, pid);
    }
}

/* ---- in the owner's loop ---- */

/* NULL: it was dropped since epoll reported it. */
static struct control_connection *
find(const struct control_server *s, uint64_t number)
{
    struct control_connection *client = s->clients;

    while (client != NULL && client->number != number)
        client = client->next;
    return client;
}

void
control_server_serve(struct control_server *s)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(s->epoll_fd, events, EVENTS_MAX, 0);

    for (int i = 0; i < n; i++) {
        struct control_connection *client = find(s, events[i].data.u64);

        if (events[i].data.u64 == 0)
            accept_client(s);
        else if (client != NULL)
            serve(client, events[i].events);
    }
    flush(s); /* a request may have led to answers to other clients */
}

static bool
is_watched(const struct control_server *s)
{
    const struct control_connection *client = s->clients;

    while (client != NULL && !client->watches)
        client = client->next;
    return client != NULL;
}

int64_t
control_server_settle(struct control_server *s, int64_t now_ns)
{
    bool due = s->changed && is_watched(s);
    bool early = now_ns - s->told_ns < TELL_NS;

    if (due && !early) {
        for (struct control_connection *client = s->clients; client != NULL;
             client = client->next)
            tell_watcher(&s->service, client);
        s->changed = false;
        s->told_ns = now_ns;
    }
    flush(s);
    return due && early ? s->told_ns + TELL_NS : INT64_MAX;
}

void
control_server_stop(struct control_server *s,
                    const struct control_connection *from, const char *text)
{
    struct control_connection *client = s->clients;

    for (; client != NULL; client = client->next)
        if (client != from && client->interest != LOOKS)
            send_line(client, (struct control_tag){0}, STOPPED, text,
                      strlen(text));
}

/* ---- its opening and closing ---- */

/* The socket's mode is what its inode has before it gets a name. */
static int
bind_socket(const struct control_server *s, struct err *err)
{
    char *path = file_join(s->folder, FOLDER_CONTROL);
    struct control_address a = {.folder_fd = -1};
    int rc = -1;

    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (control_address_open(&a, s->folder, err) == 0) {
        unlink(path);
        rc = fchmod(s->listen_fd, 0600) == 0 &&
                     bind(s->listen_fd, (const struct sockaddr *)&a.un,
                          sizeof a.un) == 0 &&
                     listen(s->listen_fd, BACKLOG) == 0
                 ? 0
                 : err_errno(err, ERR_SYSTEM, "%s: cannot make the socket",
                             path);
        control_address_close(&a);
    }
    free(path);
    return rc;
}

int
control_server_open(struct control_server *s, const char *folder,
                    const struct control_service *service, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN}; /* 0: no client's number */
    int rc;

    *s = (struct control_server)CONTROL_SERVER_CLOSED;
    s->service = *service;
    s->folder = strdup(folder);
    s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->listen_fd =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->folder == NULL || s->epoll_fd < 0 || s->listen_fd < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the socket", folder);
    else
        rc = bind_socket(s, err);
    if (rc == 0 && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fd, &e) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot watch the socket", folder);
    if (rc != 0)
        control_server_close(s);
    return rc;
}

void
control_server_shut(struct control_server *s)
{
    char *path;

    if (s->listen_fd < 0)
        return;
    path = s->folder == NULL ? NULL : file_join(s->folder, FOLDER_CONTROL);
    if (path != NULL)
        unlink(path);
    free(path);
    close(s->listen_fd); /* which takes it out of epoll */
    s->listen_fd = -1;
}

void
control_server_close(struct control_server *s)
{
    const int fds[] = {s->epoll_fd, s->spare_fd};

    while (s->clients != NULL)
        drop(s->clients);
    control_server_shut(s);
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(s->folder);
    *s = (struct control_server)CONTROL_SERVER_CLOSED;
}
