/* SPDX-License-Identifier: MIT */
#include "manager/commands.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/nearest.h"
#include "manager/status.h"
#include "manager/again.h"
#include "manager/coordinator.h"
#include "manager/happened.h"
#include "manager/imports.h"
#include "manager/live.h"
#include "manager/placing.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/* 10,000 days, as in the configuration. */
#define DURATION_MAX_MS 864000000000u

struct changes {
    uint64_t concurrency, max_trials, max_ms; /* 0: as it is */
};

static int
refuse(const char *key, uint64_t most, struct jval v, struct err *err)
{
    struct buf shown;

    buf_init(&shown, CONTROL_LINE_MAX);
    jval_write(v, &shown);
    err_set(err, ERR_INPUT,
            "%s: expected an integer from 1 to %llu, not %.100s", key,
            (unsigned long long)most, buf_text(&shown));
    buf_fini(&shown);
    return -1;
}

static int
read_change(struct jval request, const char *key, uint64_t most, uint64_t *out,
            struct err *err)
{
    struct jval v;

    if (!jval_get(request, key, &v))
        return 0;
    if (!jval_uint(v, out) || *out == 0 || *out > most)
        return refuse(key, most, v, err);
    return 0;
}

static int
read_changes(struct jval request, struct changes *c, struct err *err)
{
    if (read_change(request, "concurrency", INT32_MAX, &c->concurrency, err) !=
            0 ||
        read_change(request, "max_trials", INT64_MAX, &c->max_trials, err) !=
            0 ||
        read_change(request, "max_duration_ms", DURATION_MAX_MS, &c->max_ms,
                    err) != 0)
        return -1;
    if (c->concurrency == 0 && c->max_trials == 0 && c->max_ms == 0)
        return err_set(err, ERR_INPUT,
                       "expected concurrency, max_trials or max_duration_ms");
    return 0;
}

static void
say(struct manager *m, const struct changes *c)
{
    struct buf line;

    buf_init(&line, 400);
    if (c->concurrency > 0)
        buf_printf(&line, " concurrency %llu",
                   (unsigned long long)c->concurrency);
    if (c->max_trials > 0)
        buf_printf(&line, " max-trials %llu",
                   (unsigned long long)c->max_trials);
    if (c->max_ms > 0)
        buf_printf(&line, " max-duration %g s", (double)c->max_ms / 1e3);
    progress_say(&m->progress, "tunepipe: updated:%s", buf_text(&line));
    buf_fini(&line);
}

static int
commands_update(struct manager *m, struct jval request, struct buf *reply,
                struct err *err)
{
    struct changes c = {0};

    if (read_changes(request, &c, err) != 0 ||
        (c.concurrency > 0 && coordinator_resize(m, c.concurrency, err) != 0) ||
        coordinator_limit(m, c.max_trials, (int64_t)c.max_ms, err) != 0)
        return -1;
    say(m, &c);
    buf_add_text(reply, "{}");
    return 0;
}

static int
commands_pause(struct manager *m, struct jval request, struct buf *reply,
               struct err *err)
{
    bool before = m->scheduler.paused;

    (void)request;
    if (coordinator_pause(m, err) != 0)
        return -1;
    if (!before)
        progress_say(&m->progress, "tunepipe: paused: no trial is started");
    buf_printf(reply, "{\"running\": %llu}", (unsigned long long)m->n_running);
    return 0;
}

static int
commands_continue(struct manager *m, struct jval request, struct buf *reply,
                  struct err *err)
{
    bool before = m->scheduler.paused;

    (void)request;
    if (coordinator_continue(m, err) != 0)
        return -1;
    if (before)
        progress_say(&m->progress, "tunepipe: goes on");
    buf_add_text(reply, "{}");
    return 0;
}

/* As Ctrl-C, and twice for "now"; said again it changes nothing more. */
static int
commands_stop(struct manager *m, struct jval request, struct buf *reply,
              struct err *err)
{
    bool now = false;
    struct jval v;

    if (jval_get(request, "now", &v) && !jval_bool(v, &now))
        return err_set(err, ERR_INPUT, "now: expected true or false, not %s",
                       jval_type_name(v));
    if (m->interrupts == 0)
        manager_interrupt(m);
    if (now && m->interrupts == 1)
        manager_interrupt(m);
    buf_printf(reply, "{\"running\": %llu}", (unsigned long long)m->n_running);
    return 0;
}

static int
commands_import(struct manager *m, struct jval request, struct buf *reply,
                struct err *err)
{
    uint64_t n;

    (void)request;
    if (m->phase != PHASE_RUNNING || m->end_known)
        return err_set(err, ERR_INPUT,
                       "the experiment asks for no more trials");
    if (imports_accept(&m->exchange, m->folder.path, &n, err) != 0)
        return -1;
    buf_printf(reply, "{\"trials\": %llu}", (unsigned long long)n);
    return 0;
}

/* ---- of one trial ---- */

/* What is done to single trials.  All that are named are looked at before the
 * first is touched. */

/* "trials": how many; each is checked by `check`. */
static int
read_trials(const struct manager *m, struct jval request, struct jval *list,
            int (*check)(const struct manager *, uint64_t, struct err *),
            struct err *err)
{
    if (!jval_get(request, "trials", list) || jval_type(*list) != JSON_ARRAY ||
        jval_count(*list) == 0)
        return err_set(err, ERR_INPUT,
                       "trials: expected an array of their numbers");
    for (size_t i = 0; i < jval_count(*list); i++) {
        uint64_t number;

        if (!jval_uint(jval_at(*list, i), &number))
            return err_set(err, ERR_INPUT, "trials: expected numbers, not %s",
                           jval_type_name(jval_at(*list, i)));
        if (check(m, number, err) != 0)
            return -1;
    }
    return 0;
}

static int
check_begun(const struct manager *m, uint64_t number, struct err *err)
{
    if (number < m->n_trials)
        return 0;
    return err_set(err, ERR_INPUT,
                   "trial %05llu: there is none, expected one of %llu trials "
                   "from 00000",
                   (unsigned long long)number, (unsigned long long)m->n_trials);
}

static int
check_live(const struct manager *m, uint64_t number, struct err *err)
{
    if (check_begun(m, number, err) != 0)
        return -1;
    if (live_by_number(m, number) != NULL)
        return 0;
    return err_set(err, ERR_INPUT, "trial %05llu has ended",
                   (unsigned long long)number);
}

static int
commands_kill(struct manager *m, struct jval request, struct buf *reply,
              struct err *err)
{
    struct jval list;

    if (read_trials(m, request, &list, check_live, err) != 0)
        return -1;
    for (size_t i = 0; i < jval_count(list); i++) {
        uint64_t number = 0;
        struct trial *t;

        jval_uint(jval_at(list, i), &number);
        t = live_by_number(m, number);
        if (t != NULL) /* else it was named twice */
            running_stop(m, t, STOP_CANCEL);
    }
    buf_add_text(reply, "{}");
    return 0;
}

/* {"trials": [N, ...]}, or "failed": all that failed. */
static int
commands_retry(struct manager *m, struct jval request, struct buf *reply,
               struct err *err)
{
    const char *word = "";
    struct jval list;
    size_t n;
    int rc;

    if (m->phase != PHASE_RUNNING)
        return err_set(err, ERR_INPUT, "the experiment takes no more trials");
    buf_add_text(reply, "{\"trials\": [");
    if (jval_get(request, "trials", &list) && jval_string(list, &word, NULL) &&
        strcmp(word, "failed") == 0) {
        rc = again_failed(m, reply, &n, err);
    } else {
        rc = read_trials(m, request, &list, check_begun, err);
        if (rc == 0)
            rc = again_named(m, list, reply, err);
    }
    buf_add_text(reply, "]}");
    if (rc == 0)
        running_start_waiting(m);
    return rc;
}

/* ---- who waits for an event ---- */

/* Who waits for an event: a listener on the bus that answers. */

struct waiter {
    struct manager *m;
    struct waiter *next, *previous; /* of m->commands.waiters */
    uint64_t asker, listener;
    uint64_t left; /* events it has not heard */
    bool answers;  /* at this moment, during which it may be found gone */
    bool gone;
};

static void
forget(struct waiter *w)
{
    if (w->next != NULL)
        w->next->previous = w->previous;
    *(w->previous != NULL ? &w->previous->next : &w->m->commands.waiters) =
        w->next;
    free(w);
}

static int
hear(void *ctx, const struct event *event, struct err *err)
{
    struct waiter *w = ctx;
    bool last = --w->left == 0;

    (void)err;
    w->answers = true;
    commands_answer(w->m, w->asker, event->json);
    w->answers = false;
    if (w->gone && !last)
        events_off(&w->m->events, w->listener);
    if (w->gone || last)
        forget(w);
    return 0;
}

static void
over(void *ctx, enum events_over why)
{
    struct waiter *w = ctx;

    w->answers = true;
    commands_answer(w->m, w->asker,
                    why == EVENTS_TIMEOUT ? "{\"over\": \"timeout\"}"
                                          : "{\"over\": \"ended\"}");
    forget(w);
}

static void
commands_wait_left(void *manager, uint64_t asker)
{
    struct manager *m = manager;
    struct waiter *w = m->commands.waiters, *next;

    for (; w != NULL; w = next) {
        next = w->next;
        if (w->asker != asker)
            continue;
        w->gone = true;
        if (w->answers)
            continue;
        events_off(&m->events, w->listener);
        forget(w);
    }
}

static int
read_count(struct jval request, const char *key, uint64_t *out, struct err *err)
{
    struct jval v;

    if (!jval_get(request, key, &v))
        return 0;
    if (!jval_uint(v, out) || *out < 1 || *out > INT64_MAX / 1000000)
        return err_set(err, ERR_INPUT, "%s: expected an integer above 0", key);
    return 0;
}

static int
listen_for(struct manager *m, const char *glob, uint64_t count,
           uint64_t timeout_ms, struct err *err)
{
    struct waiter *w = malloc(sizeof *w);
    const struct events_listener l = {
        .glob = glob,
        .who = "wait",
        .hear = hear,
        .over = over,
        .ctx = w,
        .times = count,
        .deadline_ns = timeout_ms == 0 ? 0
                                       : clock_monotonic_ns() +
                                             (int64_t)timeout_ms * 1000000,
    };

    if (w == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    *w = (struct waiter){.m = m, .asker = m->commands.asker, .left = count};
    w->listener = events_listen(&m->events, &l, err);
    if (w->listener == 0) {
        free(w);
        return -1;
    }
    w->next = m->commands.waiters;
    if (w->next != NULL)
        w->next->previous = w;
    m->commands.waiters = w;
    return 0;
}

static int
commands_wait(struct manager *m, struct jval request, struct buf *reply,
              struct err *err)
{
    uint64_t count = 1, timeout_ms = 0;
    uint32_t wanted;
    const char *glob;
    struct jval v;

    if (!jval_get(request, "event", &v) || !jval_string(v, &glob, NULL))
        return err_set(err, ERR_INPUT, "event: expected a text");
    if (read_count(request, "count", &count, err) != 0 ||
        read_count(request, "timeout_ms", &timeout_ms, err) != 0)
        return -1;
    wanted = event_names_like(glob, err);
    if (wanted == 0)
        return -1;
    if (!m->events.closed)
        return listen_for(m, glob, count, timeout_ms, err);
    if ((wanted >> EVENT_EXPERIMENT_ENDED & 1) != 0 && count == 1)
        happened_over(m, reply);
    else
        buf_add_text(reply, "{\"over\": \"ended\"}");
    return 0;
}

/* ---- why a trial is where it is ---- */

/* {"command": "why", "trial": N}: {"trial": ID, "status": WORD, "waits": TEXT},
 * of one that has its parameters and has not ended. */

#define TEXT_MAX 8192

/* One that waits for nothing of ours does so for its own end. */
static void
explain(struct manager *m, const struct trial *t, struct buf *out)
{
    if (trial_waits(t))
        placing_explain(m, t, out);
    else if (trial_exited(t))
        buf_add_text(out, "the dispatcher is to take what it reported");
    else
        buf_add_text(out, "it waits for nothing");
}

static int
commands_why(struct manager *m, struct jval request, struct buf *reply,
             struct err *err)
{
    const struct trial *t;
    uint64_t number = 0;
    struct buf text;
    struct jval v;

    if (!jval_get(request, "trial", &v) || !jval_uint(v, &number))
        return err_set(err, ERR_INPUT, "trial: expected its number");
    t = live_by_number(m, number);
    if (t == NULL && number < m->n_trials)
        return err_set(err, ERR_INPUT, "trial %05llu has ended",
                       (unsigned long long)number);
    if (t == NULL)
        return err_set(err, ERR_INPUT,
                       "trial %05llu: there is none, %llu have come so far",
                       (unsigned long long)number,
                       (unsigned long long)m->n_trials);
    buf_init(&text, TEXT_MAX);
    explain(m, t, &text);
    buf_printf(reply,
               "{\"trial\": \"%s\", \"status\": \"%s\", \"waits\": ", t->id,
               trial_state_name(t->state));
    json_write_text(reply, buf_text(&text));
    buf_add_char(reply, '}');
    buf_fini(&text);
    return 0;
}

/* ---- who asks ---- */

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
    status_write(m, n, reply);
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
    status_write(m, n, reply);
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
    status_write(m, client->watch_rows - 1, &text);
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
