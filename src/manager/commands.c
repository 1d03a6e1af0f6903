/* SPDX-License-Identifier: MIT */
#include "manager/commands.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/nearest.h"
#include "manager/account.h"
#include "manager/commands_table.h"
#include "manager/state.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define REPLY_MAX ((size_t)48 << 20)
#define PUSH_NS 100000000 /* between two lines to one who watches */
#define ROWS_SOME 50
#define KEYS_MAX 4

static commands_answerer status, watch;

static const struct command_row {
    const char *name;
    const char *keys[KEYS_MAX]; /* of the request, besides "command" */
    commands_answerer *answer;
} rows[] = {
    {"status", {"rows"}, status},
    {"watch", {"rows"}, watch}, /* a status now, and after each change */
    {"update",
     {"concurrency", "max_trials", "max_duration_ms"},
     commands_update},
    {"kill", {"trials"}, commands_kill},
    {"retry", {"trials"}, commands_retry},
    {"why", {"trial"}, commands_why},
    {"import", {NULL}, commands_import}, /* what lies in FOLDER_IMPORT_NEW */
    {"pause", {NULL}, commands_pause},
    {"continue", {NULL}, commands_continue},
    {"stop", {"now"}, commands_stop},
    {"wait", {"event", "count", "timeout_ms"}, commands_wait},
};
#define N_ROWS (sizeof rows / sizeof *rows)

/* ---- what is answered here ---- */

static int
read_rows(struct jval request, uint64_t *out, struct err *err)
{
    struct jval v;

    *out = ROWS_SOME;
    if (jval_get(request, "rows", &v) && !jval_uint(v, out))
        return err_set(err, ERR_INPUT, "rows: expected an integer from 0");
    return 0;
}

static int
status(struct manager *m, struct jval request, struct buf *reply,
       struct err *err)
{
    uint64_t n;

    if (read_rows(request, &n, err) != 0)
        return -1;
    account_write(m, n, reply);
    return 0;
}

static int
watch(struct manager *m, struct jval request, struct buf *reply,
      struct err *err)
{
    struct commands *c = &m->commands;
    struct control_client *client = control_find(&c->control, c->asker);
    uint64_t n;

    if (read_rows(request, &n, err) != 0)
        return -1;
    if (client != NULL)
        client->watch_rows = n + 1;
    account_write(m, n, reply);
    return 0;
}

/* ---- the table ---- */

static const struct command_row *
find_row(const char *name, struct err *err)
{
    const char *names[N_ROWS];
    char hint[128];

    for (size_t i = 0; i < N_ROWS; i++) {
        names[i] = rows[i].name;
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    err_set(err, ERR_INPUT, "no command '%s'%s", name,
            nearest_hint(name, names, N_ROWS, hint, sizeof hint));
    return NULL;
}

static int
check_keys(const struct command_row *row, struct jval request, struct err *err)
{
    struct jval_iter it = jval_iter(request);
    char hint[128];

    while (jval_next(&it)) {
        size_t n = 0;
        bool known = strcmp(it.key, "command") == 0;

        for (; n < KEYS_MAX && row->keys[n] != NULL; n++)
            known = known || strcmp(it.key, row->keys[n]) == 0;
        if (!known)
            return err_set(
                err, ERR_INPUT, "%s: no member '%s'%s", row->name, it.key,
                nearest_hint(it.key, row->keys, n, hint, sizeof hint));
    }
    return 0;
}

static int
answer(struct manager *m, struct jval request, struct buf *reply,
       struct err *err)
{
    const struct command_row *row;
    const char *name;
    struct jval v;
    size_t len;

    if (jval_type(request) != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "expected an object, not %s",
                       jval_type_name(request));
    if (!jval_get(request, "command", &v) || !jval_string(v, &name, &len) ||
        strlen(name) != len)
        return err_set(err, ERR_INPUT, "command: expected a text");
    row = find_row(name, err);
    if (row == NULL || check_keys(row, request, err) != 0 ||
        row->answer(m, request, reply, err) != 0)
        return -1;
    return buf_check(reply, "the answer", err);
}

static void
send_line(struct control_client *client, bool ok, const char *text, size_t len)
{
    struct buf line;

    buf_init(&line, len * 6 + 64);
    buf_add_text(&line, ok ? "{\"answer\": " : "{\"error\": ");
    if (ok)
        buf_add(&line, text, len);
    else
        json_write_string(&line, text, len);
    buf_add_char(&line, '}');
    if (buf_check(&line, "the answer", NULL) == 0)
        control_send(client, line.data, line.len);
    else
        client->gone = true;
    buf_fini(&line);
}

static void
take(void *ctx, struct control_client *client, const char *line, size_t len)
{
    struct manager *m = ctx;
    struct err err = {0};
    struct json *doc = json_parse(line, len, JSON_UNIQUE, &err);
    struct buf reply;
    int rc = -1;

    buf_init(&reply, REPLY_MAX);
    m->commands.asker = client->number;
    if (doc != NULL)
        rc = answer(m, json_root(doc), &reply, &err);
    m->commands.asker = 0;
    if (rc != 0)
        send_line(client, false, err.text, strlen(err.text));
    else if (reply.len > 0)
        send_line(client, true, reply.data, reply.len);
    buf_fini(&reply);
    json_free(doc);
}

uint64_t
commands_asker(const struct manager *m)
{
    return m->commands.asker;
}

int
commands_answer(struct manager *m, uint64_t asker, const char *object)
{
    struct control_client *client = control_find(&m->commands.control, asker);

    if (client == NULL)
        return -1;
    send_line(client, true, object, strlen(object));
    if (m->commands.asker == 0) /* else it goes out behind the answer */
        control_flush(&m->commands.control);
    return 0;
}

/* ---- in the loop ---- */

void
commands_open(struct manager *m)
{
    struct control *c = &m->commands.control;
    struct err err = {0};

    if (control_open(c, m->folder.path, take, m, &err) == 0 &&
        manager_watch(m, c->epoll_fd, EPOLLIN, SOURCE_CONTROL) != 0) {
        err_errno(&err, ERR_SYSTEM, "cannot watch the socket");
        control_close(c);
    }
    c->left = commands_wait_left;
    if (err.code != ERR_NONE)
        progress_warn(&m->progress,
                      "tunepipe: warning: this experiment cannot be "
                      "controlled while it runs: %s",
                      err.text);
}

void
commands_close(struct manager *m)
{
    control_close(&m->commands.control);
}

void
commands_serve(struct manager *m)
{
    control_serve(&m->commands.control);
}

/* Who has not read the line before waits for the next one. */
static void
push(struct manager *m, struct control_client *client)
{
    struct buf text;

    if (client->watch_rows == 0 || client->out.len > 0)
        return;
    buf_init(&text, REPLY_MAX);
    account_write(m, client->watch_rows - 1, &text);
    if (buf_check(&text, "the answer", NULL) == 0)
        send_line(client, true, text.data, text.len);
    buf_fini(&text);
}

int64_t
commands_settle(struct manager *m, int64_t now_ns)
{
    struct commands *c = &m->commands;
    struct control_client *client = c->control.clients;

    while (client != NULL && client->watch_rows == 0)
        client = client->next;
    if (client == NULL || !c->news)
        return INT64_MAX;
    if (now_ns - c->pushed_ns < PUSH_NS)
        return c->pushed_ns + PUSH_NS;
    for (client = c->control.clients; client != NULL; client = client->next)
        push(m, client);
    control_flush(&c->control);
    c->news = false;
    c->pushed_ns = now_ns;
    return INT64_MAX;
}
