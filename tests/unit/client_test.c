/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "client/remote.h"
#include "client/value.h"
#include "control/server.h"
#include "core/buf.h"
#include "core/err.h"
#include "tunepipe/study.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

NOT_UNDER_TSAN;

#define TELL "{\"command\": \"tell\", \"trial\": 3}"
#define LOOK "{\"command\": \"look\", \"trial\": 3}"
#define WAIT "{\"command\": \"report\", \"trial\": 3}"

/* ---- a server in this process ---- */

static struct buf taken; /* the requests, a line each */

static void
note(const struct control_request *request)
{
    jval_write(request->object, &taken);
    buf_add_char(&taken, '\n');
}

static int
answer_trial(void *ctx, const struct control_request *request,
             struct buf *reply, struct err *err)
{
    (void)ctx, (void)err;
    note(request);
    buf_add_text(
        reply,
        "{\"trial\": 3, \"parameters\": {\"lr\": 0.5, \"n\": 4, "
        "\"whole\": 2.0, \"act\": \"relu\", \"a/b\": 7, "
        "\"opt\": {\"_name\": \"sgd\", \"m\": {\"k\": 0.25}}}, "
        "\"folder\": \"/f\", \"attempt\": 2, \"budget\": 9, \"step\": 3, "
        "\"restore_dir\": \"/r\"}");
    return 0;
}

static int
answer_nothing(void *ctx, const struct control_request *request,
               struct buf *reply, struct err *err)
{
    (void)ctx, (void)err;
    note(request);
    buf_add_text(reply, "{}");
    return 0;
}

static int
answer_stop(void *ctx, const struct control_request *request, struct buf *reply,
            struct err *err)
{
    (void)ctx, (void)err;
    note(request);
    buf_add_text(reply, "{\"stop\": \"finish\"}");
    return 0;
}

static int
refuse(void *ctx, const struct control_request *request, struct buf *reply,
       struct err *err)
{
    (void)ctx, (void)reply;
    note(request);
    return err_set(err, ERR_INPUT, "not so");
}

static int
answer_gone(void *ctx, const struct control_request *request, struct buf *reply,
            struct err *err)
{
    refuse(ctx, request, reply, err);
    return CONTROL_GONE;
}

/* Never. */
static int
answer_later(void *ctx, const struct control_request *request,
             struct buf *reply, struct err *err)
{
    (void)ctx, (void)reply;
    note(request);
    return control_subscribe(request->from, 1, err) == NULL ? -1 : 0;
}

static void
cancel(void *ctx, uint64_t source)
{
    (void)ctx, (void)source;
}

static void
open_server(struct control_server *server)
{
    static const struct control_command commands[] = {
        {"ask", {"client"}, answer_trial},
        {"tell",
         {"trial", "attempt", "value", "failed", "again"},
         answer_nothing},
        {"report", {"trial", "attempt", "value", "sequence"}, answer_later},
        {"look", {"trial", "attempt"}, answer_stop},
        {"add", {"parameters", "tag", "again"}, refuse},
        {"why", {"trial"}, answer_gone},
        {"release", {"client", "but"}, answer_nothing},
        {"leave", {"client"}, answer_nothing},
    };
    static const struct control_service service = {
        .commands = {commands, sizeof commands / sizeof *commands, NULL},
        .clients_max = CONTROL_CLIENTS_MAX,
        .cancel = cancel};

    buf_init(&taken, 1 << 20);
    CHECK(control_server_open(server, ".", &service, NULL) == 0);
}

/* ---- a remote beside it ---- */

struct heard {
    unsigned n;
    uint64_t last;
    char text[ERR_TEXT_MAX]; /* an answer, or an error */
    enum err_code code;
    bool gone;
};

static void
hear(void *ctx, struct remote_answer *answer)
{
    struct heard *h = ctx;
    char *value;

    h->n++;
    h->last = answer->id;
    h->code = answer->err != NULL ? answer->err->code : ERR_NONE;
    h->gone = answer->gone;
    value = answer->err == NULL ? jval_copy_text(answer->value) : NULL;
    snprintf(h->text, sizeof h->text, "%s",
             value != NULL ? value : answer->err->text);
    free(value);
}

static bool
is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

/* Until neither has anything to do. */
static void
go_on(struct remote *r, struct control_server *server)
{
    do {
        CHECK(remote_turn(r, false, NULL) == 0);
        while (is_readable(server->epoll_fd))
            control_server_serve(server);
    } while (is_readable(r->epoll_fd));
}

static void
program_is(const char *text)
{
    FILE *file = fopen("program", "w");

    fprintf(file, "#!/bin/sh\n%s\n", text);
    fchmod(fileno(file), 0700);
    fclose(file);
    setenv("TUNEPIPE_PROGRAM", "./program", 1);
}

/* Turns until so many answers were heard. */
static void
hear_all(struct remote *r, const struct heard *heard, unsigned n)
{
    struct pollfd p = {.fd = r->epoll_fd, .events = POLLIN};

    CHECK(remote_turn(r, false, NULL) == 0);
    while (heard->n < n) {
        CHECK(poll(&p, 1, -1) == 1);
        CHECK(remote_turn(r, false, NULL) == 0);
    }
}

/* What starts a server is seen to its end. */
static void
await_start(struct remote *r)
{
    struct pollfd p = {.fd = r->start.pidfd, .events = POLLIN};

    if (p.fd >= 0)
        CHECK(poll(&p, 1, -1) == 1);
}

TEST(client_hears_answers_by_their_ids)
{
    struct control_server server;
    struct heard heard = {0};
    struct remote r;
    uint64_t waits, look, add;

    open_server(&server);
    CHECK(remote_open(&r, ".", NULL, hear, &heard, NULL) == 0);
    CHECK(remote_send(&r, WAIT, &waits, NULL) == 0);
    CHECK(remote_send(&r, LOOK, &look, NULL) == 0);
    go_on(&r, &server);
    CHECK_EQ(heard.n, 1);
    CHECK_EQ(heard.last, look);
    CHECK_STR(heard.text, "{\"stop\": \"finish\"}");
    CHECK(remote_send(&r, "{\"command\": \"add\"}", &add, NULL) == 0);
    go_on(&r, &server);
    CHECK_EQ(heard.n, 2);
    CHECK_EQ(heard.last, add);
    CHECK_EQ(heard.code, ERR_INPUT);
    CHECK_STR(heard.text, "not so");
    remote_close(&r, false);
    control_server_close(&server);
    buf_fini(&taken);
}

TEST(client_says_again_what_a_server_left_unanswered)
{
    struct control_server server;
    struct heard heard = {0};
    struct remote r;
    uint64_t id;

    program_is("exit 0");
    open_server(&server);
    CHECK(remote_open(&r, ".", NULL, hear, &heard, NULL) == 0);
    CHECK(remote_send(&r, LOOK, &id, NULL) == 0);
    go_on(&r, &server);
    CHECK_EQ(heard.n, 1);
    CHECK(remote_send(&r, WAIT, &id, NULL) == 0);
    CHECK(remote_send(&r, TELL, &id, NULL) == 0);
    CHECK(remote_turn(&r, false, NULL) == 0);
    control_server_close(&server);
    buf_fini(&taken);
    open_server(&server); /* which the program would have started */
    CHECK(remote_turn(&r, false, NULL) == 0);
    await_start(&r);
    go_on(&r, &server);
    CHECK_EQ(heard.n, 2);
    CHECK_EQ(heard.last, id);
    CHECK_STR(buf_text(&taken),
              "{\"command\": \"report\", \"trial\": 3, \"id\": 2}\n"
              "{\"command\": \"tell\", \"trial\": 3, \"id\": 3, \"again\": "
              "true}\n");
    remote_close(&r, false);
    control_server_close(&server);
    buf_fini(&taken);
}

/* Trials that it was given and has not heard of are given back, what is said of
 * the others names their attempt. */
TEST(client_gives_back_what_it_was_not_told_of)
{
    struct control_server server;
    struct heard heard = {0};
    struct remote r;
    uint64_t id;
    char text[400];

    program_is("exit 0");
    open_server(&server);
    CHECK(remote_open(&r, ".", NULL, hear, &heard, NULL) == 0);
    CHECK(remote_send(&r, "{\"command\": \"ask\"}", &id, NULL) == 0);
    go_on(&r, &server);
    CHECK(remote_send(&r, "{\"command\": \"why\", \"trial\": 3}", &id, NULL) ==
          0);
    go_on(&r, &server);
    CHECK(heard.gone);
    CHECK(remote_send(&r, LOOK, &id, NULL) == 0);
    go_on(&r, &server);
    CHECK(!heard.gone);
    CHECK(remote_send(&r, WAIT, &id, NULL) == 0);
    CHECK(remote_send(&r, "{\"command\": \"add\"}", &id, NULL) == 0);
    CHECK(remote_turn(&r, false, NULL) == 0);
    snprintf(text, sizeof text,
             "{\"command\": \"ask\", \"id\": 1, \"client\": %llu}\n"
             "{\"command\": \"why\", \"trial\": 3, \"id\": 2}\n"
             "{\"command\": \"look\", \"trial\": 3, \"id\": 3, "
             "\"attempt\": 2}\n",
             (unsigned long long)(uintptr_t)&r);
    CHECK_STR(buf_text(&taken), text);
    control_server_close(&server);
    buf_fini(&taken);
    open_server(&server);
    CHECK(remote_turn(&r, false, NULL) == 0);
    await_start(&r);
    go_on(&r, &server);
    CHECK(remote_send(&r, TELL, &id, NULL) == 0);
    go_on(&r, &server);
    CHECK(remote_send(&r, TELL, &id, NULL) == 0);
    go_on(&r, &server);
    snprintf(text, sizeof text,
             "{\"command\": \"release\", \"id\": 0, \"client\": %llu, "
             "\"but\": [3]}\n"
             "{\"command\": \"report\", \"trial\": 3, \"id\": 4, "
             "\"attempt\": 2}\n"
             "{\"command\": \"add\", \"id\": 5, \"tag\": \"",
             (unsigned long long)(uintptr_t)&r);
    CHECK_HAS(buf_text(&taken), text);
    CHECK_HAS(buf_text(&taken),
              "\", \"again\": true}\n"
              "{\"command\": \"tell\", \"trial\": 3, \"id\": 6, "
              "\"attempt\": 2}\n"
              "{\"command\": \"tell\", \"trial\": 3, \"id\": 7}\n");
    remote_close(&r, false);
    control_server_close(&server);
    buf_fini(&taken);
}

TEST(client_is_told_why_there_is_no_server)
{
    struct control_server server;
    struct heard heard = {0};
    struct remote r;
    struct err err = {0};
    uint64_t id;

    program_is("echo 'tunepipe study: error: no luck' >&2; exit 3");
    CHECK(remote_open(&r, ".", NULL, hear, &heard, &err) == -1);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_STR(err.text, "no luck");
    open_server(&server);
    CHECK(remote_open(&r, ".", NULL, hear, &heard, NULL) == 0);
    control_server_close(&server);
    buf_fini(&taken);
    CHECK(remote_send(&r, WAIT, &id, NULL) == 0);
    CHECK(remote_send(&r, TELL, &id, NULL) == 0);
    hear_all(&r, &heard, 2);
    CHECK_EQ(heard.code, ERR_CONFIG);
    CHECK_STR(heard.text, "no luck");
    /* The next one tries again. */
    program_is("kill -9 $$");
    CHECK(remote_send(&r, TELL, &id, NULL) == 0);
    hear_all(&r, &heard, 3);
    CHECK_HAS(heard.text, "signal 9");
    remote_close(&r, false);
}

TEST(client_gives_up_on_servers_that_do_not_last)
{
    struct remote r;
    struct control_server server;
    struct heard heard = {0};
    uint64_t id;

    program_is("exit 0"); /* and nobody listens */
    open_server(&server);
    CHECK(remote_open(&r, ".", NULL, hear, &heard, NULL) == 0);
    control_server_close(&server);
    buf_fini(&taken);
    CHECK(remote_send(&r, TELL, &id, NULL) == 0);
    hear_all(&r, &heard, 1);
    CHECK_EQ(heard.code, ERR_SYSTEM);
    CHECK_HAS(heard.text, "without an answer");
    remote_close(&r, false);
    setenv("TUNEPIPE_PROGRAM", "./absent", 1);
    CHECK(remote_open(&r, ".", NULL, hear, &heard, NULL) == -1);
}

TEST(client_refuses_a_request_that_is_too_long)
{
    static char text[CONTROL_LINE_MAX];
    struct control_server server;
    struct heard heard = {0};
    struct err err = {0};
    struct remote r;
    uint64_t id;

    open_server(&server);
    CHECK(remote_open(&r, ".", NULL, hear, &heard, NULL) == 0);
    memset(text, ' ', sizeof text - 1);
    CHECK(remote_send(&r, text, &id, &err) == -1);
    CHECK_EQ(err.code, ERR_INPUT);
    remote_close(&r, false);
    control_server_close(&server);
    buf_fini(&taken);
}

/* ---- values ---- */

static const char *
spelt(struct buf *b, double number, const char *text, struct err *err)
{
    struct json_writer w = json_begin(b);

    if (text == NULL)
        value_add(&w, NULL, number);
    else
        CHECK((value_add_text(&w, NULL, text, err) == 0) == (b->len > 0));
    return buf_text(b);
}

TEST(client_spells_values)
{
    static const char *const texts[][2] = {
        {"0.5", "0.5"},
        {" 1e3 ", "1000.0"},
        {"NaN", "\"NaN\""},
        {"-Infinity", "\"-Infinity\""},
        {"abc", ""},
        {"", ""},
        {"0x1p3", ""},
        {"1 2", ""},
        {"{\"default\": 1}", "{\"default\": 1}"},
        {"{\"default\": NaN}", ""},
    };
    struct err err = {0};
    struct buf b;

    buf_init(&b, 1000);
    CHECK_STR(spelt(&b, 0.1, NULL, &err), "0.1");
    buf_clear(&b);
    CHECK_STR(spelt(&b, -(double)INFINITY, NULL, &err), "\"-Infinity\"");
    buf_clear(&b);
    CHECK_STR(spelt(&b, (double)NAN, NULL, &err), "\"NaN\"");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf_clear(&b);
        CHECK_STR(spelt(&b, 0, texts[i][0], &err), texts[i][1]);
    }
    CHECK_EQ(err.code, ERR_INPUT);
    buf_fini(&b);
}

/* ---- the library, with a server in a process of its own ---- */

static pid_t
fork_server(void)
{
    struct control_server server;
    pid_t pid;

    open_server(&server);
    pid = fork();
    if (pid == 0) {
        struct pollfd p = {.fd = server.epoll_fd, .events = POLLIN};

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            if (poll(&p, 1, -1) > 0)
                control_server_serve(&server);
    }
    close(server.epoll_fd);
    close(server.listen_fd);
    close(server.spare_fd);
    free(server.folder);
    return pid;
}

TEST(client_library_reads_a_trial)
{
    pid_t pid = fork_server();
    struct tp_study *study;
    struct tp_trial *trial;
    char text[40] = "as it was", why[100];
    double number = 0;
    long whole = 0;

    CHECK_EQ(tp_study_open(&study, ".", NULL, why, sizeof why), 0);
    CHECK_EQ(tp_study_ask(study, &trial), 0);
    CHECK_EQ(tp_trial_number(trial), 3);
    CHECK(tp_trial_double(trial, "lr", &number) == 0 && number == 0.5);
    CHECK(tp_trial_double(trial, "n", &number) == 0 && number == 4);
    CHECK(tp_trial_double(trial, "opt/m/k", &number) == 0 && number == 0.25);
    CHECK(tp_trial_long(trial, "n", &whole) == 0 && whole == 4);
    CHECK(tp_trial_long(trial, "whole", &whole) == 0 && whole == 2);
    CHECK(tp_trial_long(trial, "a/b", &whole) == 0 && whole == 7);
    CHECK_EQ(tp_trial_text(trial, "act", text, 4), TP_STUDY_USAGE);
    CHECK_STR(text, "as it was");
    CHECK_EQ(tp_trial_text(trial, "act", text, 5), 0);
    CHECK_STR(text, "relu");
    CHECK_EQ(tp_trial_text(trial, "opt/_name", text, sizeof text), 0);
    CHECK_STR(text, "sgd");
    CHECK_EQ(tp_trial_text(trial, "opt/m", text, sizeof text), 0);
    CHECK_STR(text, "{\"k\": 0.25}");
    CHECK_EQ(tp_trial_double(trial, "lt", &number), TP_STUDY_USAGE);
    CHECK_STR(tp_study_why(study),
              "trial 00003 has no parameter 'lt' (did you mean 'lr'?)");
    CHECK_EQ(tp_trial_double(trial, "opt/m/x", &number), TP_STUDY_USAGE);
    CHECK_EQ(tp_trial_long(trial, "lr", &whole), TP_STUDY_USAGE);
    CHECK_STR(tp_study_why(study),
              "trial 00003: parameter 'lr' is '0.5': expected a whole number");
    CHECK_HAS(tp_trial_parameters(trial), "\"whole\": 2.0, ");
    CHECK_STR(tp_trial_folder(trial), "/f");
    CHECK_STR(tp_trial_restore_dir(trial), "/r");
    CHECK(tp_trial_checkpoint_dir(trial) == NULL);
    CHECK(tp_trial_budget(trial) == 9);
    CHECK_EQ(tp_trial_step(trial), 3);
    CHECK_EQ(tp_trial_should_stop(trial), TP_STUDY_FINISH);
    CHECK_EQ(tp_study_enqueue(study, "{\"lr\": 1}", NULL), TP_STUDY_REFUSED);
    CHECK_STR(tp_study_why(study), "not so");
    CHECK_EQ(tp_study_enqueue(study, "{lr}", NULL), TP_STUDY_REFUSED);
    CHECK_EQ(tp_study_tell_json(study, 3, "x"), TP_STUDY_REFUSED);
    CHECK_EQ(tp_study_tell(study, 3, (double)NAN), 0);
    tp_trial_free(trial);
    tp_study_close(study);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    buf_fini(&taken);
}

TEST(client_library_asks_in_an_event_loop)
{
    pid_t pid = fork_server(), copy;
    struct tp_study *study;
    struct tp_trial *trial;
    struct pollfd p = {.events = POLLIN};
    int rc, status;

    CHECK_EQ(tp_study_open(&study, ".", NULL, NULL, 0), 0);
    p.fd = tp_study_fd(study);
    CHECK_EQ(tp_study_ask_ready(study, &trial), TP_STUDY_USAGE);
    CHECK(!is_readable(p.fd));
    CHECK_EQ(tp_study_ask_begin(study), 0);
    CHECK_EQ(tp_study_ask_begin(study), 0); /* the same */
    while ((rc = tp_study_ask_ready(study, &trial)) == 0)
        CHECK(poll(&p, 1, -1) == 1);
    CHECK_EQ(rc, 1);
    tp_trial_free(trial);
    CHECK(!is_readable(p.fd));
    /* Other calls take the answer, which is readable still. */
    CHECK_EQ(tp_study_ask_begin(study), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(tp_study_end(study, 3), 0);
    CHECK(is_readable(p.fd));
    CHECK_EQ(tp_study_ask_ready(study, &trial), 1);
    CHECK(!is_readable(p.fd));
    copy = fork();
    if (copy == 0) {
        rc = tp_trial_should_stop(trial);
        tp_trial_free(trial);
        tp_study_close(study);
        _exit(rc == TP_STUDY_USAGE ? 0 : 1);
    }
    CHECK(waitpid(copy, &status, 0) == copy && status == 0);
    CHECK_EQ(tp_trial_should_stop(trial), TP_STUDY_FINISH);
    tp_trial_free(trial);
    tp_study_close(study);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    buf_fini(&taken);
}
