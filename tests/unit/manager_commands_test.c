/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "config/experiment.h"
#include "control/client.h"
#include "core/err.h"
#include "manager/commands.h"
#include "manager/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A manager that has begun no trial. */
static struct manager *
begin(struct control_client *l)
{
    static const struct experiment x = {.concurrency = 2};
    static const struct manager_options options;
    static struct manager_outcome outcome;
    struct manager *m = malloc(sizeof *m);
    struct err err = {0};

    CHECK(m != NULL);
    manager_init(m, &x, &options, &outcome);
    m->sources.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    m->folder.path = strdup(".");
    m->folder.id = "here";
    m->dispatcher.phase = PHASE_RUNNING;
    progress_open(&m->progress, STDOUT_FILENO, STDERR_FILENO, false, 0, false);
    commands_open(m, NULL);
    CHECK(control_client_open(l, ".", &err) == 0);
    return m;
}

static void
end(struct manager *m, struct control_client *l)
{
    control_client_close(l);
    events_close(&m->publish.events);
    control_server_close(&m->control);
    close(m->sources.epoll_fd);
    free(m->folder.path);
    free(m);
}

/* The line that comes back, without its LF; the next call overwrites it. */
static const char *
hear(struct control_client *l)
{
    static char text[8192];
    struct err err = {0};
    size_t len;

    CHECK(control_client_fill(l, &err) == 1);
    len = (size_t)((char *)memchr(l->in.data, '\n', l->in.len) - l->in.data);
    CHECK(len < sizeof text);
    memcpy(text, l->in.data, len);
    text[len] = '\0';
    buf_consume(&l->in, len + 1);
    return text;
}

static const char *
ask(struct manager *m, struct control_client *l, const char *request)
{
    struct err err = {0};

    CHECK(control_client_send(l, request, &err) == 0);
    commands_serve(m); /* lets it in, the first time */
    commands_serve(m);
    return hear(l);
}

TEST(commands_refuse_what_they_cannot_read)
{
    struct control_client l;
    struct manager *m = begin(&l);

    CHECK_HAS(ask(m, &l, ""), "{\"error\": \"byte 0: ");
    CHECK_HAS(ask(m, &l, "{\"command\": \"status\""), "{\"error\": \"byte ");
    CHECK_HAS(ask(m, &l, "{'command': 'status'}"), "{\"error\": \"byte ");
    CHECK_HAS(ask(m, &l, "{\"command\": \"stop\", \"command\": \"stop\"}"),
              "{\"error\": ");
    CHECK_STR(ask(m, &l, "[1]"),
              "{\"error\": \"expected an object, not an array\"}");
    CHECK_STR(ask(m, &l, "{\"command\": 1}"),
              "{\"error\": \"command: expected a text\"}");
    CHECK_STR(ask(m, &l, "{\"command\": \"status\\u0000\"}"),
              "{\"error\": \"command: expected a text\"}");
    CHECK_STR(ask(m, &l, "{\"command\": \"statsu\"}"),
              "{\"error\": \"no command 'statsu' (did you mean 'status'?)\"}");
    CHECK_STR(
        ask(m, &l, "{\"command\": \"status\", \"row\": 1}"),
        "{\"error\": \"status: no member 'row' (did you mean 'rows'?)\"}");
    CHECK_STR(ask(m, &l, "{\"command\": \"status\", \"rows\": -1}"),
              "{\"error\": \"rows: expected an integer from 0\"}");
    CHECK_HAS(ask(m, &l, "{\"command\": \"update\", \"concurrency\": 1.5}"),
              "concurrency: expected an integer from 1 to 2147483647, not 1.5");
    CHECK_HAS(ask(m, &l, "{\"command\": \"update\"}"),
              "expected concurrency, max_trials or max_duration_ms");
    CHECK_HAS(ask(m, &l, "{\"command\": \"kill\", \"trials\": []}"),
              "trials: expected an array of their numbers");
    CHECK_HAS(ask(m, &l, "{\"command\": \"kill\", \"trials\": [\"1\"]}"),
              "trials: expected numbers, not a string");
    CHECK_EQ(m->scheduler.concurrency, 2);
    CHECK_EQ(m->interrupts, 0);
    end(m, &l);
}

TEST(commands_tell_how_things_stand)
{
    struct control_client l;
    struct manager *m = begin(&l);
    const char *text;

    text = ask(m, &l, "{\"command\": \"status\"}");
    CHECK_HAS(text, "{\"answer\": {\"experiment\": \"here\", ");
    CHECK_HAS(text, "\"state\": \"running\", \"concurrency\": 2, "
                    "\"max_trials\": null, \"max_duration_s\": null, ");
    CHECK_HAS(text, "\"best\": null, \"trials\": []}}");
    m->progress.has_best = true;
    m->progress.best = 0.5;
    snprintf(m->progress.best_trial, sizeof m->progress.best_trial, "00003");
    m->scheduler.paused = true;
    text = ask(m, &l, "{\"command\": \"status\"}");
    CHECK_HAS(text, "\"state\": \"paused\"");
    CHECK_HAS(text, "\"best\": {\"trial\": \"00003\", \"value\": 0.5}, ");
    end(m, &l);
}

/* After something has happened, and not at every moment. */
TEST(commands_tell_watchers_of_changes)
{
    const int64_t start = 1000000000000;
    struct control_client l;
    struct manager *m = begin(&l);
    struct control_server *c = &m->control;

    c->changed = true;
    CHECK(control_server_settle(c, start) == INT64_MAX); /* nobody watches */
    CHECK_HAS(ask(m, &l, "{\"command\": \"watch\", \"rows\": 3}"),
              "\"state\": \"running\"");
    m->end.known = true;
    CHECK(control_server_settle(c, start) == INT64_MAX);
    CHECK_HAS(hear(&l), "\"state\": \"stopping\"");
    CHECK(control_server_settle(c, start + 1) ==
          INT64_MAX); /* nothing is new */
    c->changed = true;
    CHECK(control_server_settle(c, start + 1) == start + 100000000);
    CHECK_EQ(l.in.len, 0);
    m->dispatcher.phase = PHASE_CLOSING;
    CHECK(control_server_settle(c, start + 100000000) == INT64_MAX);
    CHECK_HAS(hear(&l), "\"state\": \"ending\"");
    end(m, &l);
}

/* Whoever waits is answered by what happens, as long as they are there. */
TEST(commands_answer_later)
{
    struct control_client l;
    struct manager *m = begin(&l);
    const char *ended = "{\"command\": \"wait\", \"event\": \"trial.ended\"}";
    const struct event_field fields[] = {EVENT_TEXT("trial", "00001"),
                                         EVENT_FIELDS_END};
    struct err err = {0};

    CHECK(control_client_send(&l, ended, &err) == 0);
    ask(m, &l, "{\"command\": \"status\"}");
    CHECK(events_wanted(&m->publish.events, EVENT_TRIAL_ENDED));
    events_emit(&m->publish.events, EVENT_TRIAL_ENDED, fields);
    CHECK_HAS(hear(&l), "{\"answer\": {\"event\": \"trial.ended\", ");
    CHECK(!events_wanted(&m->publish.events, EVENT_TRIAL_ENDED));
    CHECK(control_client_send(&l, ended, &err) == 0);
    commands_serve(m);
    CHECK(events_wanted(&m->publish.events, EVENT_TRIAL_ENDED));
    control_client_close(&l);
    commands_serve(m);
    CHECK(!events_wanted(&m->publish.events, EVENT_TRIAL_ENDED));
    end(m, &l);
}

/* Nothing more will happen. */
TEST(commands_tell_who_waits_that_it_is_over)
{
    struct control_client l;
    struct manager *m = begin(&l);
    struct err err = {0};

    CHECK(control_client_send(
              &l, "{\"command\": \"wait\", \"event\": \"best\"}", &err) == 0);
    ask(m, &l, "{\"command\": \"status\"}");
    events_close(&m->publish.events);
    CHECK_STR(hear(&l), "{\"answer\": {\"over\": \"ended\"}}");
    end(m, &l);
}
