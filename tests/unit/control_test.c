/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "control/client.h"
#include "control/server.h"
#include "core/buf.h"
#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A request whose TEXT comes back, and what comes back. */
#define ECHO(text) "{\"command\": \"echo\", \"text\": \"" text "\"}\n"
#define ECHOED(text) "{\"answer\": \"" text "\"}\n"
/* One that is answered with so many bytes in all, the LF included. */
#define BIG "{\"command\": \"big\"}\n"
#define BIG_LEN 4000000

static size_t taken, cancelled;
static struct control_subscription *subscription;

static int
echo(void *ctx, const struct control_request *request, struct buf *reply,
     struct err *err)
{
    (void)ctx, (void)err;
    taken++;
    json_write_text(reply, jval_text_of(request->object, "text"));
    return 0;
}

static int
big(void *ctx, const struct control_request *request, struct buf *reply,
    struct err *err)
{
    size_t len = BIG_LEN - strlen(ECHOED(""));

    (void)ctx, (void)request, (void)err;
    taken++;
    buf_add_char(reply, '"');
    while (len-- > 0)
        buf_add_char(reply, 'x');
    buf_add_char(reply, '"');
    return 0;
}

/* Twice, by and by. */
static int
later(void *ctx, const struct control_request *request, struct buf *reply,
      struct err *err)
{
    (void)ctx, (void)reply;
    subscription = control_subscribe(request->from, 2, err);
    CHECK(subscription != NULL);
    subscription->source = 7;
    return 0;
}

static void
cancel(void *ctx, uint64_t source)
{
    (void)ctx;
    CHECK_EQ(source, 7);
    cancelled++;
}

static void
open_in(struct control_server *c, const char *folder)
{
    static const struct control_command commands[] = {{"echo", {"text"}, echo},
                                                      {"big", {NULL}, big},
                                                      {"later", {NULL}, later}};
    const struct control_service service = {.commands = {commands, 3, NULL},
                                            .clients_max = CONTROL_CLIENTS_MAX,
                                            .cancel = cancel};
    struct err err = {0};

    CHECK(control_server_open(c, folder, &service, &err) == 0);
}

static void
open_here(struct control_server *c)
{
    open_in(c, ".");
}

static int
join(void)
{
    struct control_address a;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    CHECK(control_address_open(&a, ".", NULL) == 0);
    CHECK(connect(fd, (struct sockaddr *)&a.un, sizeof a.un) == 0);
    control_address_close(&a);
    return fd;
}

/* Until nothing is to be done any more. */
static void
serve(struct control_server *c)
{
    struct pollfd p = {.fd = c->epoll_fd, .events = POLLIN};

    while (poll(&p, 1, 0) > 0)
        control_server_serve(c);
}

static void
say(int fd, const char *text)
{
    CHECK_EQ(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void
hears(int fd, const char *want)
{
    char text[4096];
    ssize_t n = recv(fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    CHECK_STR(text, want);
}

/* 0: the other side has closed it; -1: nothing is there. */
static ssize_t
state(int fd)
{
    char c;

    return recv(fd, &c, 1, MSG_PEEK);
}

TEST(control_takes_lines_however_they_come)
{
    struct control_server c;
    int a, b;

    open_here(&c);
    a = join();
    b = join();
    say(a, "{\"command\": \"echo\", \"te");
    say(b, ECHO("other"));
    serve(&c);
    CHECK_EQ(taken, 1);
    hears(b, ECHOED("other"));
    CHECK(state(a) < 0);
    say(a, "xt\": \"one\"}\n" ECHO("two") "{\"command\": \"echo\", ");
    serve(&c);
    hears(a, ECHOED("one") ECHOED("two"));
    say(a, "\"text\": \"three\"}\n");
    CHECK(shutdown(a, SHUT_WR) == 0);
    serve(&c);
    hears(a, ECHOED("three"));
    CHECK_EQ(state(a), 0);
    CHECK_EQ(c.n_clients, 1);
    control_server_close(&c);
    CHECK_EQ(state(b), 0);
}

TEST(control_forgets_who_leaves_in_the_middle_of_a_line)
{
    struct control_server c;
    int a;

    open_here(&c);
    a = join();
    say(a, "half");
    serve(&c);
    close(a);
    serve(&c);
    CHECK_EQ(c.n_clients, 0);
    CHECK_EQ(taken, 0);
    control_server_close(&c);
}

TEST(control_drops_a_line_that_is_too_long)
{
    char *text = malloc(CONTROL_LINE_MAX + 2);
    struct control_server c;
    int a, b;

    open_here(&c);
    a = join();
    memset(text, ' ', CONTROL_LINE_MAX); /* as long as may be */
    memcpy(text + CONTROL_LINE_MAX - strlen(ECHO("")), ECHO(""),
           sizeof ECHO(""));
    say(a, text);
    serve(&c);
    CHECK_EQ(taken, 1);
    b = join();
    text[CONTROL_LINE_MAX - 1] = 'x';
    say(b, text);
    serve(&c);
    CHECK_EQ(taken, 1);
    hears(b, "{\"error\": \"a request of more than 65536 bytes: expected one "
             "line\"}\n");
    CHECK_EQ(state(b), 0);
    CHECK_EQ(c.n_clients, 1);
    control_server_close(&c);
    free(text);
}

TEST(control_waits_for_one_who_does_not_read)
{
    struct control_server c;
    char text[65536];
    size_t got = 0;
    ssize_t n;
    int a, b;

    open_here(&c);
    a = join();
    b = join();
    say(a, BIG ECHO("second"));
    serve(&c);
    CHECK_EQ(taken, 1); /* the other one waits until the first is read */
    say(b, ECHO("meanwhile"));
    serve(&c);
    hears(b, ECHOED("meanwhile"));
    while (got < BIG_LEN + strlen(ECHOED("second"))) {
        n = recv(a, text, sizeof text, 0);
        if (n < 0)
            serve(&c);
        else
            got += (size_t)n;
    }
    CHECK_EQ(got, BIG_LEN + strlen(ECHOED("second")));
    CHECK_EQ(taken, 3);
    say(a, BIG);
    serve(&c);
    close(a);
    serve(&c);
    CHECK_EQ(c.n_clients, 1);
    control_server_close(&c);
}

TEST(control_drops_the_most_silent_of_too_many)
{
    int fds[CONTROL_CLIENTS_MAX + 1];
    struct control_server c;

    open_here(&c);
    for (int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        fds[i] = join();
        serve(&c);
    }
    say(fds[0], ECHO("here"));
    serve(&c);
    fds[CONTROL_CLIENTS_MAX] = join();
    serve(&c);
    CHECK_EQ(c.n_clients, CONTROL_CLIENTS_MAX);
    hears(fds[0], ECHOED("here"));
    CHECK(state(fds[0]) < 0);
    CHECK_EQ(state(fds[1]), 0); /* it was the one */
    CHECK(state(fds[2]) < 0);
    control_server_close(&c);
}

/* Who waits for answers is not dropped for one who comes. */
TEST(control_keeps_those_who_wait)
{
    int fds[CONTROL_CLIENTS_MAX + 1], last;
    struct control_server c;

    open_here(&c);
    for (int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        fds[i] = join();
        if (i != 5)
            say(fds[i], "{\"command\": \"later\"}\n");
        serve(&c);
    }
    fds[CONTROL_CLIENTS_MAX] = join();
    say(fds[CONTROL_CLIENTS_MAX], "{\"command\": \"later\"}\n");
    serve(&c);
    CHECK_EQ(state(fds[5]), 0);
    CHECK_EQ(cancelled, 0);
    last = join();
    serve(&c);
    hears(last, "{\"error\": \"64 clients wait for answers already: no more "
                "are let in\"}\n");
    CHECK_EQ(state(last), 0);
    CHECK_EQ(c.n_clients, CONTROL_CLIENTS_MAX);
    CHECK_EQ(cancelled, 0);
    control_server_close(&c);
}

/* What it waited for may be written in passing. */
TEST(control_goes_on_with_a_request_that_waited)
{
    struct control_server c;
    char text[65536];
    size_t got = 0;
    ssize_t n;
    int a;

    open_here(&c);
    a = join();
    say(a, BIG ECHO("second"));
    serve(&c);
    CHECK_EQ(taken, 1);
    while (got < BIG_LEN) {
        n = recv(a, text, sizeof text, 0);
        if (n < 0)
            control_server_settle(&c, 0);
        else
            got += (size_t)n;
    }
    serve(&c);
    CHECK_EQ(taken, 2);
    hears(a, ECHOED("second"));
    control_server_close(&c);
}

/* Whose descriptors are used up is not woken for ever by one at the door. */
TEST(control_turns_away_whom_it_has_no_descriptor_for)
{
    struct control_server c;
    int a, fds[64];
    size_t n = 0;

    CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}) == 0);
    open_here(&c);
    a = join();
    while (n < 64 && (fds[n] = open("/dev/null", O_RDONLY)) >= 0)
        n++;
    CHECK(n < 64);
    serve(&c);
    CHECK_EQ(state(a), 0);
    while (n > 0)
        close(fds[--n]);
    a = join();
    say(a, ECHO("again"));
    serve(&c);
    hears(a, ECHOED("again"));
    control_server_close(&c);
}

TEST(control_replaces_the_socket_of_a_dead_manager)
{
    struct control_server c;
    struct stat st;
    pid_t pid = fork();
    int a;

    if (pid == 0) {
        open_here(&c);
        _exit(0);
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
    CHECK(stat("control", &st) == 0);
    {
        struct control_client l;
        struct err err = {0};

        CHECK(control_client_open(&l, ".", &err) != 0);
        CHECK_HAS(err.text, "no manager lives here");
    }
    open_here(&c);
    CHECK(stat("control", &st) == 0);
    CHECK_EQ(st.st_mode & 07777, 0600);
    a = join();
    say(a, ECHO("alive"));
    serve(&c);
    hears(a, ECHOED("alive"));
    control_server_close(&c);
    CHECK(stat("control", &st) != 0);
}

TEST(control_works_behind_a_long_path)
{
    char folder[1200] = "", name[101];
    struct control_client l;
    struct control_server c;
    struct err err = {0};

    memset(name, 'n', sizeof name - 1);
    name[100] = '\0';
    for (int i = 0; i < 8; i++) {
        snprintf(folder + strlen(folder), sizeof folder - strlen(folder),
                 "%s%s", i > 0 ? "/" : "", name);
        CHECK(mkdir(folder, 0700) == 0);
    }
    open_in(&c, folder);
    CHECK(control_client_open(&l, folder, &err) == 0);
    CHECK(control_client_send(&l, "{\"command\": \"echo\"}", &err) == 0);
    serve(&c);
    CHECK(control_client_fill(&l, &err) == 1);
    CHECK_EQ(l.in.len, strlen(ECHOED("")));
    control_client_close(&l);
    control_server_close(&c);
}

/* Answers that come later, to one who may be gone. */
TEST(control_finds_who_asked)
{
    struct control_server c;
    int a;

    open_here(&c);
    a = join();
    say(a, "{\"command\": \"later\"}\n" ECHO("next"));
    serve(&c);
    hears(a, ECHOED("next")); /* what waits keeps nothing else from it */
    control_subscription_answer(subscription, "1");
    hears(a, "{\"answer\": 1}\n");
    control_subscription_answer(subscription, "2"); /* the last one */
    hears(a, "{\"answer\": 2}\n");
    say(a, "{\"command\": \"later\"}\n{\"command\": \"later\"}\n");
    serve(&c);
    control_subscription_end(subscription, "null");
    hears(a, "{\"answer\": null}\n");
    CHECK_EQ(cancelled, 0);
    close(a);
    serve(&c);
    CHECK_EQ(cancelled, 1);
    CHECK_EQ(c.n_clients, 0);
    control_server_close(&c);
}

/* An answer finds a client gone that was not known to be: it is dropped with
 * the rest of the round, never while it is answered. */
TEST(control_drops_who_has_gone_when_the_round_ends)
{
    struct control_server c;
    int a;

    open_here(&c);
    a = join();
    say(a, "{\"command\": \"later\"}\n");
    serve(&c);
    close(a);
    control_subscription_answer(subscription, "1");
    CHECK_EQ(cancelled, 0);
    CHECK_EQ(control_server_settle(&c, 0), INT64_MAX);
    CHECK_EQ(cancelled, 1);
    CHECK_EQ(c.n_clients, 0);
    control_server_close(&c);
}

/* One that has been let in and hears nothing, and one that waits for that. */
TEST(control_client_waits_only_so_long)
{
    struct control_client l;
    struct jval answer;
    struct json *doc;
    struct control_server c;
    struct err err = {0};
    char pid[32];

    open_here(&c);
    snprintf(pid, sizeof pid, "process %ld, ", (long)getpid());
    CHECK_EQ(control_client_open(&l, ".", &err), 0);
    CHECK_EQ(l.pid, getpid());
    l.patience_ms = 1;
    CHECK_EQ(control_client_ask(&l, "{}", &doc, &answer, &err), -1);
    CHECK_EQ(err.number, ETIMEDOUT);
    CHECK(doc == NULL);
    CHECK_HAS(err.text, pid);
    CHECK_HAS(err.text, "has not answered for");
    CHECK_HAS(err.text, "kill -KILL");
    CHECK_HAS(err.text, "tunepipe resume .");
    control_client_close(&l);
    control_server_close(&c);
}

/* One that is answered by and by takes an answer at a time, and none when the
 * time is over. */
TEST(control_client_takes_the_next_answer)
{
    struct control_client l;
    struct control_server c;
    struct jval answer;
    struct json *doc;
    struct err err = {0};
    uint64_t n;

    open_here(&c);
    CHECK_EQ(control_client_open(&l, ".", &err), 0);
    CHECK_EQ(control_client_send(&l, "{\"command\": \"later\"}", &err), 0);
    serve(&c);
    CHECK_EQ(control_client_next(&l, 1, "wait", &doc, &answer, &err), 0);
    CHECK(doc == NULL);
    control_subscription_answer(subscription, "1");
    control_subscription_answer(subscription, "2");
    for (uint64_t want = 1; want <= 2; want++) {
        CHECK_EQ(control_client_next(&l, 0, "wait", &doc, &answer, &err), 1);
        CHECK(jval_uint(answer, &n) && n == want);
        json_free(doc);
    }
    CHECK_EQ(control_client_send(&l, "{\"command\": \"nothing\"}", &err), 0);
    serve(&c);
    CHECK_EQ(control_client_next(&l, 0, "wait", &doc, &answer, &err), -1);
    CHECK(doc == NULL);
    CHECK_EQ(err.code, ERR_INPUT);
    CHECK_HAS(err.text, "no command 'nothing'");
    control_server_close(&c);
    CHECK_EQ(control_client_next(&l, 0, "wait", &doc, &answer, &err), -1);
    CHECK_EQ(err.code, ERR_SYSTEM);
    CHECK(l.ended);
    control_client_close(&l);
}
