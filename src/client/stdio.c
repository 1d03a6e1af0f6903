/* SPDX-License-Identifier: MIT */
#include "client/stdio.h"

#include "client/remote.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "json.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASKS_MAX 1000
#define OUT_MAX ((size_t)1 << 20) /* unsent, from which on none is read */

/* Each is answered once, or an ask so often as it says. */
static const char *const commands[] = {"ask",     "tell",  "report", "look",
                                       "release", "leave", "add",    "status",
                                       "stop",    "kill",  "why"};
#define N_COMMANDS (sizeof commands / sizeof *commands)

/* A request that is not answered yet. */
struct open_request {
    struct open_request *next;
    uint64_t remote_id;
    bool has_id; /* the one who sent it has given it an id */
    uint64_t id;
};

struct stdio {
    struct remote remote;
    FILE *out;
    struct buf in; /* a line that has not ended */
    bool skips;    /* the rest of a line that was too long */
    bool ended;
    struct open_request *first, **last;
};

/* ---- answers ---- */

static void
print(struct stdio *s, const struct open_request *r,
      const struct remote_answer *answer)
{
    struct json_writer w;
    struct buf line;

    buf_init(&line, CONTROL_ANSWER_MAX);
    w = json_begin_object(&line);
    if (r->has_id)
        json_add_unsigned(&w, "id", r->id);
    if (answer->err == NULL)
        jval_write(answer->value, json_value(&w, "answer"));
    else
        json_add_text(&w, "error", answer->err->text);
    if (answer->over)
        json_add_bool(&w, "over", true);
    if (answer->gone)
        json_add_bool(&w, "gone", true);
    json_close(&w);
    fprintf(s->out, "%s\n", buf_text(&line));
    buf_fini(&line);
}

static void
hear(void *ctx, struct remote_answer *answer)
{
    struct stdio *s = ctx;
    struct open_request **at = &s->first, *r;

    while (*at != NULL && (*at)->remote_id != answer->id)
        at = &(*at)->next;
    r = *at;
    if (r == NULL)
        return;
    *at = r->next;
    if (*at == NULL)
        s->last = at;
    print(s, r, answer);
    free(r);
}

/* ---- requests ---- */

static const char *
find_command(struct jval object, struct err *err)
{
    const char *name = jval_text_of(object, "command");
    char hint[100];

    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i], name) == 0)
            return commands[i];
    err_set(err, ERR_INPUT, "command: '%s' is none%s", name,
            nearest_hint(name, commands, N_COMMANDS, hint, sizeof hint));
    return NULL;
}

/* Reads what is the client's and not the server's: how it names the request,
 * and how many requests of ours it is. */
static int
read_request(struct jval object, struct open_request *r, uint64_t *n,
             struct err *err)
{
    const char *command;
    struct jval v;

    *n = 1;
    if (jval_type(object) != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "expected an object, not %s",
                       jval_type_name(object));
    r->has_id = jval_get(object, "id", &v) && jval_uint(v, &r->id);
    if (!r->has_id && jval_get(object, "id", &v))
        return err_set(err, ERR_INPUT, "id: expected an integer from 0");
    command = find_command(object, err);
    if (command == NULL)
        return -1;
    if (strcmp(command, "ask") == 0 && jval_get(object, "n", &v) &&
        (!jval_uint(v, n) || *n < 1 || *n > ASKS_MAX))
        return err_set(err, ERR_INPUT, "n: expected an integer from 1 to %d",
                       ASKS_MAX);
    return 0;
}

static void
write_request(struct jval object, struct buf *out)
{
    struct json_writer w = json_begin_object(out);
    struct jval_iter it = jval_iter(object);

    while (jval_next(&it))
        if (strcmp(it.key, "id") != 0 && strcmp(it.key, "n") != 0)
            jval_write(it.value, json_value(&w, it.key));
    json_close(&w);
}

static int
send_request(struct stdio *s, const struct open_request *how,
             const char *object, struct err *err)
{
    struct open_request *r = malloc(sizeof *r);

    if (r == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    *r = *how;
    if (remote_send(&s->remote, object, &r->remote_id, err) != 0) {
        free(r);
        return -1;
    }
    *s->last = r;
    s->last = &r->next;
    return 0;
}

static void
take_line(struct stdio *s, const char *line, size_t len)
{
    struct err err = {0};
    struct json *doc = json_parse(line, len, JSON_UNIQUE, &err);
    struct open_request r = {.next = NULL};
    struct buf object;
    uint64_t n = 0;
    int rc = -1;

    buf_init(&object, CONTROL_LINE_MAX);
    if (doc != NULL)
        rc = read_request(json_root(doc), &r, &n, &err);
    if (rc == 0) {
        write_request(json_root(doc), &object);
        rc = buf_check(&object, "the request", &err);
    }
    for (; rc == 0 && n > 0; n--)
        rc = send_request(s, &r, buf_text(&object), &err);
    if (rc != 0)
        print(s, &r, &(struct remote_answer){.err = &err});
    buf_fini(&object);
    json_free(doc);
}

static void
refuse_long(struct stdio *s)
{
    struct err err = {0};

    err_set(&err, ERR_INPUT, "a line of more than %d bytes", CONTROL_LINE_MAX);
    print(s, &(struct open_request){.next = NULL},
          &(struct remote_answer){.err = &err});
}

/* Takes the lines that have ended; at the end of input the last one has. */
static void
take_lines(struct stdio *s)
{
    char *newline;

    while (s->in.len > 0) {
        size_t len;

        newline = memchr(s->in.data, '\n', s->in.len);
        len = newline != NULL ? (size_t)(newline - s->in.data) : s->in.len;
        if (newline == NULL && len < CONTROL_LINE_MAX && !s->ended)
            break;
        if (!s->skips && len >= CONTROL_LINE_MAX)
            refuse_long(s);
        else if (!s->skips)
            take_line(s, s->in.data, len);
        s->skips = newline == NULL;
        buf_consume(&s->in, len + (newline != NULL));
    }
}

static int
read_in(struct stdio *s, int in, struct err *err)
{
    char *at = buf_reserve(&s->in, CONTROL_LINE_MAX);
    ssize_t n = at == NULL ? -1 : read(in, at, CONTROL_LINE_MAX);

    if (n < 0 && at != NULL && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 0)
        return err_errno(err, ERR_SYSTEM, "cannot read the requests");
    s->in.len += (size_t)n;
    s->ended = n == 0;
    take_lines(s);
    return 0;
}

static int
serve(struct stdio *s, int in, struct err *err)
{
    while (!s->ended || s->first != NULL) {
        struct pollfd fds[] = {{.fd = s->remote.epoll_fd, .events = POLLIN},
                               {.fd = in, .events = POLLIN}};

        if (s->ended || s->remote.out.len > OUT_MAX)
            fds[1].fd = -1;
        if (fflush(s->out) != 0)
            return err_errno(err, ERR_SYSTEM, "cannot write the answers");
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return err_errno(err, ERR_SYSTEM, "poll");
        if (fds[1].revents != 0 && read_in(s, in, err) != 0)
            return -1;
        if (remote_turn(&s->remote, false, err) != 0)
            return -1;
    }
    return fflush(s->out) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "cannot write the answers");
}

int
stdio_serve(const char *folder, const char *config, int in, FILE *out,
            struct err *err)
{
    struct stdio s = {.out = out};
    int rc;

    s.last = &s.first;
    if (remote_open(&s.remote, folder, config, hear, &s, err) != 0)
        return -1;
    buf_init(&s.in, 2 * CONTROL_LINE_MAX);
    rc = serve(&s, in, err);
    while (s.first != NULL) {
        struct open_request *r = s.first;

        s.first = r->next;
        free(r);
    }
    buf_fini(&s.in);
    remote_close(&s.remote, true);
    return rc;
}
