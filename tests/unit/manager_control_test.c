/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "manager/control.h"
#include "manager/control_address.h"
#include "manager/control_client.h"

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

static size_t taken;

/* "big N": so many bytes; else the line itself comes back. */
static void
echo(void *ctx, struct control_client *client, const char *line, size_t len)
{
    size_t n = len > 4 && memcmp(line, "big ", 4) == 0
                   ? (size_t)strtoul(line + 4, NULL, 10)
                   : 0;
    char *text = calloc(1, n + 1);

    (void)ctx;
    taken++;
    memset(text, 'x', n);
    control_send(client, n > 0 ? text : line, n > 0 ? n : len);
    free(text);
}

static void
open_here(struct control *c)
{
    struct err err = {0};

    CHECK(control_open(c, ".", echo, NULL, &err) == 0);
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
serve(struct control *c)
{
    struct pollfd p = {.fd = c->epoll_fd, .events = POLLIN};

    while (poll(&p, 1, 0) > 0)
        control_serve(c);
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
    struct control c;
    int a, b;

    open_here(&c);
    a = join();
    b = join();
    say(a, "on");
    say(b, "other\n");
    serve(&c);
    CHECK_EQ(taken, 1);
    hears(b, "other\n");
    CHECK(state(a) < 0);
    say(a, "e\ntwo\nthr");
    serve(&c);
    hears(a, "one\ntwo\n");
    say(a, "ee\n");
    CHECK(shutdown(a, SHUT_WR) == 0);
    serve(&c);
    hears(a, "three\n");
    CHECK_EQ(state(a), 0);
    CHECK_EQ(c.n_clients, 1);
    control_close(&c);
    CHECK_EQ(state(b), 0);
}

TEST(control_forgets_who_leaves_in_the_middle_of_a_line)
{
    struct control c;
    int a;

    open_here(&c);
    a = join();
    say(a, "half");
    serve(&c);
    close(a);
    serve(&c);
    CHECK_EQ(c.n_clients, 0);
    CHECK_EQ(taken, 0);
    control_close(&c);
}

TEST(control_drops_a_line_that_is_too_long)
{
    char *text = malloc(CONTROL_LINE_MAX + 2);
    struct control c;
    int a, b;

    open_here(&c);
    a = join();
    memset(text, 'x', CONTROL_LINE_MAX);
    text[CONTROL_LINE_MAX - 1] = '\n'; /* as long as may be */
    text[CONTROL_LINE_MAX] = '\0';
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
    control_close(&c);
    free(text);
}

TEST(control_waits_for_one_who_does_not_read)
{
    struct control c;
    char text[65536];
    size_t got = 0;
    ssize_t n;
    int a, b;

    open_here(&c);
    a = join();
    b = join();
    say(a, "big 4000000\nsecond\n");
    serve(&c);
    CHECK_EQ(taken, 1); /* the other one waits until the first is read */
    say(b, "meanwhile\n");
    serve(&c);
    hears(b, "meanwhile\n");
    while (got < 4000001 + 7) {
        n = recv(a, text, sizeof text, 0);
        if (n < 0)
            serve(&c);
        else
            got += (size_t)n;
    }
    CHECK_EQ(got, 4000001 + 7);
    CHECK_EQ(taken, 3);
    say(a, "big 4000000\n");
    serve(&c);
    close(a);
    serve(&c);
    CHECK_EQ(c.n_clients, 1);
    control_close(&c);
}

TEST(control_drops_the_most_silent_of_too_many)
{
    int fds[CONTROL_CLIENTS_MAX + 1];
    struct control c;

    open_here(&c);
    for (int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        fds[i] = join();
        serve(&c);
    }
    say(fds[0], "here\n");
    serve(&c);
    fds[CONTROL_CLIENTS_MAX] = join();
    serve(&c);
    CHECK_EQ(c.n_clients, CONTROL_CLIENTS_MAX);
    hears(fds[0], "here\n");
    CHECK(state(fds[0]) < 0);
    CHECK_EQ(state(fds[1]), 0); /* it was the one */
    CHECK(state(fds[2]) < 0);
    control_close(&c);
}

/* What it waited for may be written in passing. */
TEST(control_goes_on_with_a_request_that_waited)
{
    struct control c;
    char text[65536];
    size_t got = 0;
    ssize_t n;
    int a;

    open_here(&c);
    a = join();
    say(a, "big 4000000\nsecond\n");
    serve(&c);
    CHECK_EQ(taken, 1);
    while (got < 4000001) {
        n = recv(a, text, sizeof text, 0);
        if (n < 0)
            control_flush(&c);
        else
            got += (size_t)n;
    }
    serve(&c);
    CHECK_EQ(taken, 2);
    hears(a, "second\n");
    control_close(&c);
}

/* Whose descriptors are used up is not woken for ever by one at the door. */
TEST(control_turns_away_whom_it_has_no_descriptor_for)
{
    struct control c;
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
    say(a, "again\n");
    serve(&c);
    hears(a, "again\n");
    control_close(&c);
}

TEST(control_replaces_the_socket_of_a_dead_manager)
{
    struct control c;
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
        struct control_link l;
        struct err err = {0};

        CHECK(control_link_open(&l, ".", &err) != 0);
        CHECK_HAS(err.text, "no manager lives here");
    }
    open_here(&c);
    CHECK(stat("control", &st) == 0);
    CHECK_EQ(st.st_mode & 07777, 0600);
    a = join();
    say(a, "alive\n");
    serve(&c);
    hears(a, "alive\n");
    control_close(&c);
    CHECK(stat("control", &st) != 0);
}

TEST(control_works_behind_a_long_path)
{
    char folder[1200] = "", name[101];
    struct control_link l;
    struct control c;
    struct err err = {0};

    memset(name, 'n', sizeof name - 1);
    name[100] = '\0';
    for (int i = 0; i < 8; i++) {
        snprintf(folder + strlen(folder), sizeof folder - strlen(folder),
                 "%s%s", i > 0 ? "/" : "", name);
        CHECK(mkdir(folder, 0700) == 0);
    }
    CHECK(control_open(&c, folder, echo, NULL, &err) == 0);
    CHECK(control_link_open(&l, folder, &err) == 0);
    CHECK(control_link_send(&l, "hello", &err) == 0);
    serve(&c);
    CHECK(control_link_fill(&l, &err) == 1);
    CHECK_EQ(l.in.len, 6);
    control_link_close(&l);
    control_close(&c);
}

/* Answers that come later, to one who may be gone. */
TEST(control_finds_who_asked)
{
    struct control c;
    uint64_t number;
    int a;

    open_here(&c);
    a = join();
    serve(&c);
    number = c.clients->number;
    control_send(control_find(&c, number), "later", 5);
    control_flush(&c);
    hears(a, "later\n");
    close(a);
    serve(&c);
    CHECK(control_find(&c, number) == NULL);
    control_close(&c);
}

/* One that has been let in and hears nothing, and one that waits for that. */
TEST(control_client_waits_only_so_long)
{
    struct control_link l;
    struct jval answer;
    struct json *doc;
    struct control c;
    struct err err = {0};
    char pid[32];

    open_here(&c);
    snprintf(pid, sizeof pid, "process %ld, ", (long)getpid());
    CHECK_EQ(control_link_open(&l, ".", &err), 0);
    CHECK_EQ(l.pid, getpid());
    l.patience_ms = 1;
    CHECK_EQ(control_link_ask(&l, "{}", &doc, &answer, &err), -1);
    CHECK_EQ(err.number, ETIMEDOUT);
    CHECK(doc == NULL);
    CHECK_HAS(err.text, pid);
    CHECK_HAS(err.text, "has not answered for");
    CHECK_HAS(err.text, "kill -KILL");
    CHECK_HAS(err.text, "tunepipe resume .");
    control_link_close(&l);
    control_close(&c);
}
