/* SPDX-License-Identifier: MIT */
#include "manager/commands.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "manager/status.h"
#include "manager/imports.h"
#include "manager/machine.h"
#include "manager/state.h"
#include "manager/trial.h"
#include "runner/runner.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

/* The whole answer: one number. */
static void
answer_count(struct buf *reply, const char *key, uint64_t n)
{
    struct json_writer w = json_begin_object(reply);

    json_add_unsigned(&w, key, n);
    json_close(&w);
}

static int
commands_update(void *ctx, const struct control_request *request,
                struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    struct changes c = {0};

    if (read_changes(request->object, &c, err) != 0 ||
        (c.concurrency > 0 &&
         coordinator_resize(&m->coordinator, c.concurrency, err) != 0) ||
        coordinator_limit(&m->coordinator, c.max_trials, (int64_t)c.max_ms,
                          err) != 0)
        return -1;
    say(m, &c);
    buf_add_text(reply, "{}");
    return 0;
}

static int
commands_pause(void *ctx, const struct control_request *request,
               struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    bool before = m->scheduler.paused;

    (void)request;
    if (coordinator_pause(&m->coordinator, err) != 0)
        return -1;
    if (!before)
        progress_say(&m->progress, "tunepipe: paused: no trial is started");
    answer_count(reply, "running", m->live.running);
    return 0;
}

static int
commands_continue(void *ctx, const struct control_request *request,
                  struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    bool before = m->scheduler.paused;

    (void)request;
    if (coordinator_continue(&m->coordinator, err) != 0)
        return -1;
    if (before)
        progress_say(&m->progress, "tunepipe: goes on");
    buf_add_text(reply, "{}");
    return 0;
}

/* As Ctrl-C, and twice for "now"; said again it changes nothing more. */
static int
commands_stop(void *ctx, const struct control_request *request,
              struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    bool now = false;
    struct jval v;

    if (jval_get(request->object, "now", &v) && !jval_bool(v, &now))
        return err_set(err, ERR_INPUT, "now: expected true or false, not %s",
                       jval_type_name(v));
    study_stop(&m->study, request->from);
    m->end.told = true;
    if (m->interrupts == 0)
        manager_interrupt(m);
    if (now && m->interrupts == 1)
        manager_interrupt(m);
    answer_count(reply, "running", m->live.running);
    return 0;
}

static int
commands_import(void *ctx, const struct control_request *request,
                struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    uint64_t n;

    (void)request;
    if (m->dispatcher.phase != PHASE_RUNNING || m->end.known)
        return err_set(err, ERR_INPUT,
                       "the experiment asks for no more trials");
    if (imports_accept(&m->exchange, m->folder.path, &n, err) != 0)
        return -1;
    answer_count(reply, "trials", n);
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
    if (number < m->live.n_numbers)
        return 0;
    return err_set(err, ERR_INPUT,
                   "trial %05llu: there is none, expected one of %llu trials "
                   "from 00000",
                   (unsigned long long)number,
                   (unsigned long long)m->live.n_numbers);
}

static int
check_live(const struct manager *m, uint64_t number, struct err *err)
{
    if (check_begun(m, number, err) != 0)
        return -1;
    if (live_by_number(&m->live, number) != NULL)
        return 0;
    return err_set(err, ERR_INPUT, "trial %05llu has ended",
                   (unsigned long long)number);
}

static int
commands_kill(void *ctx, const struct control_request *request,
              struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    struct jval list;

    if (read_trials(m, request->object, &list, check_live, err) != 0)
        return -1;
    for (size_t i = 0; i < jval_count(list); i++) {
        uint64_t number = 0;
        struct trial *t;

        jval_uint(jval_at(list, i), &number);
        t = live_by_number(&m->live, number);
        if (t != NULL) /* else it was named twice */
            running_stop(&m->running, t, STOP_CANCEL);
    }
    buf_add_text(reply, "{}");
    return 0;
}

static int
check_takes_trials(const struct manager *m, struct err *err)
{
    if (m->dispatcher.phase == PHASE_RUNNING)
        return 0;
    return err_set(err, ERR_INPUT,
                   m->dispatcher.phase == PHASE_STARTING && !m->end.known
                       ? "the experiment is still starting: its tuner has not "
                         "taken the search space yet"
                       : "the experiment takes no more trials");
}

/* {"parameters": [{...}, ...]}: a new trial for each set; with a "tag" and
 * "again", for each that was not added under that. */
static int
commands_add(void *ctx, const struct control_request *request,
             struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    struct json_writer w;
    const char *tag = NULL;
    bool again = false;
    struct jval list, v;
    int rc;

    if (!jval_get(request->object, "parameters", &list) ||
        jval_type(list) != JSON_ARRAY || jval_count(list) == 0)
        return err_set(err, ERR_INPUT,
                       "parameters: expected an array of sets of parameters");
    if (jval_get(request->object, "tag", &v) && !jval_string(v, &tag, NULL))
        return err_set(err, ERR_INPUT, "tag: expected a text");
    if (jval_get(request->object, "again", &v) && !jval_bool(v, &again))
        return err_set(err, ERR_INPUT, "again: expected true or false");
    if (check_takes_trials(m, err) != 0)
        return -1;
    w = json_begin_object(reply);
    json_open_array(&w, "trials");
    rc = custom_trials(&m->custom, list, tag, again, &w, err);
    json_end(&w);
    return rc;
}

/* {"trials": [N, ...]}, or "failed": all that failed. */
static int
commands_retry(void *ctx, const struct control_request *request,
               struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    const char *word = "";
    struct json_writer w;
    struct jval list;
    size_t n;
    int rc;

    if (check_takes_trials(m, err) != 0)
        return -1;
    w = json_begin_object(reply);
    json_open_array(&w, "trials");
    if (jval_get(request->object, "trials", &list) &&
        jval_string(list, &word, NULL) && strcmp(word, "failed") == 0) {
        rc = repeat_failed(&m->repeat, &w, &n, err);
    } else {
        rc = read_trials(m, request->object, &list, check_begun, err);
        if (rc == 0)
            rc = repeat_named(&m->repeat, list, &w, err);
    }
    json_end(&w);
    return rc;
}

/* {"machine": NAME}: it is not left out any more. */
static int
commands_retry_machine(void *ctx, const struct control_request *request,
                       struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    const char *name;
    struct jval v;

    if (!jval_get(request->object, "machine", &v) ||
        !jval_string(v, &name, NULL))
        return err_set(err, ERR_INPUT, "machine: expected a name");
    if (blame_retry(&m->blame, name, err) != 0)
        return -1;
    buf_add_text(reply, "{}");
    return 0;
}

/* ---- who waits for an event ---- */

/* Who waits for an event is a listener on the bus that answers. */

static int
hear(void *subscription, const struct event *event, struct err *err)
{
    (void)err;
    control_subscription_answer(subscription, event->json);
    return 0;
}

static void
write_over(struct buf *out, const char *why)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "over", why);
    json_close(&w);
}

static void
over(void *subscription, enum events_over why)
{
    struct buf text;

    buf_init(&text, 100);
    write_over(&text, why == EVENTS_TIMEOUT ? "timeout" : "ended");
    control_subscription_end(subscription, buf_text(&text));
    buf_fini(&text);
}

static void
cancel(void *manager, uint64_t listener)
{
    struct manager *m = manager;

    if (listener & STUDY_SOURCE)
        study_cancel(&m->study, listener);
    else
        events_off(&m->publish.events, listener);
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
listen_for(struct manager *m, struct control_connection *client,
           const char *glob, uint64_t count, uint64_t timeout_ms,
           struct err *err)
{
    struct control_subscription *sub = control_subscribe(client, count, err);
    const struct events_listener l = {
        .glob = glob,
        .who = "wait",
        .hear = hear,
        .over = over,
        .ctx = sub,
        .times = count,
        .deadline_ns = timeout_ms == 0 ? 0
                                       : clock_monotonic_ns() +
                                             (int64_t)timeout_ms * 1000000,
    };

    if (sub == NULL)
        return -1;
    sub->source = events_listen(&m->publish.events, &l, err);
    if (sub->source != 0)
        return 0;
    control_subscription_end(sub, NULL);
    return -1;
}

static int
commands_wait(void *ctx, const struct control_request *request,
              struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    uint64_t count = 1, timeout_ms = 0;
    uint32_t wanted;
    const char *glob;
    struct jval v;

    control_look(request->from);
    if (!jval_get(request->object, "event", &v) || !jval_string(v, &glob, NULL))
        return err_set(err, ERR_INPUT, "event: expected a text");
    if (read_count(request->object, "count", &count, err) != 0 ||
        read_count(request->object, "timeout_ms", &timeout_ms, err) != 0)
        return -1;
    wanted = event_names_like(glob, err);
    if (wanted == 0)
        return -1;
    if (!m->publish.events.closed)
        return listen_for(m, request->from, glob, count, timeout_ms, err);
    if ((wanted >> EVENT_EXPERIMENT_ENDED & 1) != 0 && count == 1)
        publish_ended(&m->publish, reply);
    else
        write_over(reply, "ended");
    return 0;
}

/* ---- why a trial is where it is ---- */

/* {"command": "why", "trial": N}: {"trial": ID, "status": WORD, "waits": TEXT},
 * of one that has its parameters and has not ended. */

#define TEXT_MAX 8192

/* Adds which keys will end a trial that runs, and when, where they do: what is
 * due of one that was told to end is that no more. */
static void
explain_limits(const struct manager *m, const struct trial *t, struct buf *out)
{
    const struct experiment *x = m->x;
    const struct deadline *idle = &t->due[TRIAL_DUE_IDLE],
                          *limit = &t->due[TRIAL_DUE_LIMIT];
    int64_t now = clock_monotonic_ns(),
            idle_end = t->reported_ns + x->max_idle_ms * 1000000;

    if (idle->place != 0 && !reading_waits(&m->reading, t))
        buf_printf(out,
                   "; trialIdleTimeout ends it in %.0f s, unless it reports "
                   "a metric before",
                   fmax(0, (double)(idle_end - now) / 1e9));
    if (limit->place != 0)
        buf_printf(out, "; %s ends it in %.0f s",
                   t->state == TRIAL_PREPARING && x->max_prepare_ms > 0
                       ? "maxPrepareDuration"
                       : "maxTrialDuration",
                   fmax(0, (double)(limit->at_ns - now) / 1e9));
}

/* One that waits for nothing of ours does so for its own end. */
static void
explain(struct manager *m, const struct trial *t, struct buf *out)
{
    struct buf place;

    if (trial_waits(t)) {
        placing_explain(&m->placing, t, out);
    } else if (trial_exited(t)) {
        buf_add_text(out, "the dispatcher is to take what it reported");
    } else if (!launch_has_programs(&m->launch)) {
        study_explain(t, out);
        explain_limits(m, t, out);
    } else {
        buf_add_text(out, t->run != NULL && t->run->queued
                              ? "it waits for a machine"
                              : "it waits for nothing");
        explain_limits(m, t, out);
        buf_init(&place, TEXT_MAX);
        run_describe(t->run, &place);
        if (place.len > 0)
            buf_printf(out, "; %s", buf_text(&place));
        buf_fini(&place);
    }
}

static int
commands_why(void *ctx, const struct control_request *request,
             struct buf *reply, struct err *err)
{
    struct manager *m = ctx;
    const struct trial *t;
    uint64_t number = 0;
    struct json_writer w;
    struct buf text;
    struct jval v;

    if (!jval_get(request->object, "trial", &v) || !jval_uint(v, &number))
        return err_set(err, ERR_INPUT, "trial: expected its number");
    t = live_by_number(&m->live, number);
    if (t == NULL && number < m->live.n_numbers)
        return err_set(err, ERR_INPUT, "trial %05llu has ended",
                       (unsigned long long)number);
    if (t == NULL)
        return err_set(err, ERR_INPUT,
                       "trial %05llu: there is none, %llu have come so far",
                       (unsigned long long)number,
                       (unsigned long long)m->live.n_numbers);
    buf_init(&text, TEXT_MAX);
    explain(m, t, &text);
    w = json_begin_object(reply);
    json_add_text(&w, "trial", t->id);
    json_add_text(&w, "status", trial_state_name(t->state));
    json_add_text(&w, "waits", buf_text(&text));
    json_close(&w);
    buf_fini(&text);
    return 0;
}

/* ---- how things stand ---- */

#define ROWS_SOME 50

static int
read_rows(struct jval request, uint64_t *out, struct err *err)
{
    struct jval v;

    *out = ROWS_SOME;
    if (jval_get(request, "rows", &v) && !jval_uint(v, out))
        return err_set(err, ERR_INPUT, "rows: expected an integer from 0");
    return 0;
}

static void
describe(void *manager, uint64_t rows, struct buf *out)
{
    status_write(manager, rows, out);
}

static int
commands_status(void *ctx, const struct control_request *request,
                struct buf *reply, struct err *err)
{
    uint64_t rows;

    control_look(request->from);
    if (read_rows(request->object, &rows, err) != 0)
        return -1;
    status_write(ctx, rows, reply);
    return 0;
}

static int
commands_watch(void *ctx, const struct control_request *request,
               struct buf *reply, struct err *err)
{
    uint64_t rows;

    control_look(request->from);
    if (read_rows(request->object, &rows, err) != 0)
        return -1;
    control_watch(request->from, rows);
    status_write(ctx, rows, reply);
    return 0;
}

/* ---- the table ---- */

static const struct control_command table[] = {
    {"status", {"rows"}, commands_status},
    {"watch", {"rows"}, commands_watch}, /* now, and after each change */
    {"update",
     {"concurrency", "max_trials", "max_duration_ms"},
     commands_update},
    {"kill", {"trials"}, commands_kill},
    {"retry", {"trials"}, commands_retry},
    {"retry_machine", {"machine"}, commands_retry_machine},
    {"add", {"parameters", "tag", "again"}, commands_add},
    {"why", {"trial"}, commands_why},
    {"import", {NULL}, commands_import}, /* what lies in FOLDER_IMPORT_NEW */
    {"pause", {NULL}, commands_pause},
    {"continue", {NULL}, commands_continue},
    {"stop", {"now"}, commands_stop},
    {"wait", {"event", "count", "timeout_ms"}, commands_wait},
};

int
commands_open(struct manager *m, struct err *err)
{
    const struct control_service service = {
        .commands = {table, sizeof table / sizeof *table, m},
        .more = study_commands(&m->study),
        .clients_max = m->study.serves
                           ? machine_allow_clients(STUDY_CLIENTS_MAX)
                           : CONTROL_CLIENTS_MAX,
        .describe = describe,
        .cancel = cancel,
        .ctx = m,
    };
    struct control_server *s = &m->control;
    struct err why = {0};

    if (control_server_open(s, m->folder.path, &service, &why) == 0 &&
        sources_watch(&m->sources, s->epoll_fd, EPOLLIN, SOURCE_CONTROL) != 0) {
        err_errno(&why, ERR_SYSTEM, "cannot watch the socket");
        control_server_close(s);
    }
    if (why.code == ERR_NONE)
        return 0;
    if (m->study.serves)
        return err_set(err, why.code, "%s", why.text);
    progress_warn(&m->progress,
                  "tunepipe: warning: this experiment cannot be "
                  "controlled while it runs: %s",
                  why.text);
    return 0;
}

void
commands_serve(struct manager *m)
{
    control_server_serve(&m->control);
}
