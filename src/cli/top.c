/* SPDX-License-Identifier: MIT */
/* tunepipe top - a screen that is painted when the manager tells of something
 * new, when the terminal changes, and each second for the clock's sake. */
#include "cli/account_view.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/verb.h"

#include "control/client.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/stop_signals.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)16 << 20)
#define ROWS_LEAST 8
/* lines that are no trials: the head, blank ones, the table's heading, keys */
#define LINES_AROUND 9
#define SECOND_NS 1000000000

static const char help[] =
    "usage: tunepipe top [DIR]\n"
    "\n"
    "A live screen of an experiment: its state, counts, the best result, and\n"
    "each trial that runs with its last value, where its values go, and its\n"
    "time.  It ends with the experiment; q or Ctrl-C leaves it before.  Where\n"
    "standard output is no terminal: a line whenever the counts change.  DIR\n"
    "is the folder that `tunepipe run` printed; without it the newest in\n"
    "./tunepipe-experiments.\n"
    "\n"
    "Exit status: 0; 1 nobody runs it; 2 usage; 3 DIR is no experiment's\n"
    "folder.\n"
    "\n"
    "Example: tunepipe top\n";

struct top {
    struct control_client manager;
    struct terminal terminal;
    int signal_fd;
    bool screen; /* else lines */
    struct json *account;
    struct jval now; /* the newest account; lies in the document */
    int64_t came_ns;
    size_t rows, columns;
    char *told;   /* the last line that was printed */
    bool stopped; /* the manager is stopped (SIGSTOP) */
    bool done;    /* the user has left */
};

static int
ask(struct top *t, struct err *err)
{
    size_t rows = t->rows > LINES_AROUND ? t->rows - LINES_AROUND : 1;
    struct json_writer w;
    struct buf request;
    int rc;

    buf_init(&request, TEXT_MAX);
    w = json_begin_object(&request);
    json_add_text(&w, "command", "watch");
    json_add_unsigned(&w, "rows", t->screen ? rows : 0);
    json_close(&w);
    rc = control_client_send(&t->manager, buf_text(&request), err);
    buf_fini(&request);
    return rc;
}

static struct account_view
view_of(const struct top *t)
{
    return (struct account_view){
        .account = t->now,
        .since_s = (double)(clock_monotonic_ns() - t->came_ns) / 1e9,
        .blocks = terminal_has_utf8()};
}

static void
paint(const struct top *t)
{
    struct account_view v = view_of(t);
    struct buf text, frame;

    buf_init(&text, TEXT_MAX);
    buf_init(&frame, 2 * TEXT_MAX);
    account_view_head(&v, &text);
    account_view_trials(&v, &text);
    if (t->stopped)
        buf_printf(&text, "\nthe manager is stopped: kill -CONT %ld\n",
                   t->manager.pid);
    buf_add_text(&text, "\nq: leave\n");
    terminal_frame(buf_text(&text), t->rows, t->columns, 1, &frame);
    file_write_all(STDOUT_FILENO, frame.data, frame.len, NULL);
    buf_fini(&frame);
    buf_fini(&text);
}

/* Prints an account as a line, unless it says the same as the one before. */
static int
tell(struct top *t, struct err *err)
{
    struct account_view v = view_of(t);
    struct buf text;
    int rc = 0;

    buf_init(&text, TEXT_MAX);
    account_view_line(&v, false, &text);
    if (t->told == NULL || strcmp(t->told, buf_text(&text)) != 0) {
        free(t->told);
        t->told = strdup(buf_text(&text));
        puts(buf_text(&text));
        if (fflush(stdout) != 0)
            rc = err_errno(err, ERR_SYSTEM, "cannot write to stdout");
    }
    buf_fini(&text);
    return rc;
}

static int
show(struct top *t, struct err *err)
{
    if (t->account == NULL)
        return 0;
    if (!t->screen)
        return tell(t, err);
    paint(t);
    return 0;
}

/* Takes the last of the accounts that have come. */
static int
take_accounts(struct top *t, struct err *err)
{
    struct json *doc;
    struct jval now;
    int rc;

    if (control_client_fill(&t->manager, err) < 0)
        return -1;
    while ((rc = control_client_take(&t->manager, &doc, &now, err)) > 0) {
        json_free(t->account);
        t->account = doc;
        t->now = now;
        t->came_ns = clock_monotonic_ns();
        if (!t->screen && tell(t, err) != 0)
            return -1;
    }
    return rc;
}

static void
take_keys(struct top *t)
{
    char keys[64];
    ssize_t n = read(STDIN_FILENO, keys, sizeof keys);

    t->done = n <= 0 || memchr(keys, 'q', (size_t)n) != NULL;
}

static int
take_signal(struct top *t, struct err *err)
{
    struct signalfd_siginfo info;

    if (read(t->signal_fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    if (info.ssi_signo != SIGWINCH) {
        t->done = true;
        return 0;
    }
    terminal_size(&t->terminal, &t->rows, &t->columns);
    return ask(t, err);
}

/* Milliseconds until the clock shows another second. */
static int
until_tick(const struct top *t)
{
    int64_t since = clock_monotonic_ns() - t->came_ns;

    return t->screen ? (int)((SECOND_NS - since % SECOND_NS) / 1000000) + 1
                     : CONTROL_LOOK_MS;
}

static void
look(struct top *t)
{
    if (t->screen)
        t->stopped = control_client_is_stopped(&t->manager);
    else
        control_client_note_stopped(&t->manager, "top", &t->stopped);
}

static int
loop(struct top *t, struct err *err)
{
    struct pollfd p[] = {
        {.fd = t->manager.fd, .events = POLLIN},
        {.fd = t->signal_fd, .events = POLLIN},
        {.fd = t->screen ? STDIN_FILENO : -1, .events = POLLIN}};

    while (!t->done) {
        look(t);
        if (poll(p, sizeof p / sizeof *p, until_tick(t)) == 0 && !t->screen)
            continue;
        if ((p[0].revents != 0 && take_accounts(t, err) != 0) ||
            (p[1].revents != 0 && take_signal(t, err) != 0) ||
            show(t, err) != 0)
            return -1;
        if (p[2].revents != 0)
            take_keys(t);
    }
    return 0;
}

static int
open_signals(struct err *err)
{
    int fd = stop_signals_open(err);
    sigset_t set;

    if (fd < 0)
        return -1;
    stop_signals(&set);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(fd, &set, 0) == fd
               ? fd
               : err_errno(err, ERR_SYSTEM, "cannot wait for signals");
}

/* Watches the experiment until its manager ends, or the user leaves. */
static int
watch(struct top *t, const char *folder, struct err *err)
{
    int rc;

    signal(SIGPIPE, SIG_IGN);
    t->signal_fd = open_signals(err);
    if (t->signal_fd < 0 ||
        (t->screen &&
         terminal_open(&t->terminal, STDIN_FILENO, STDOUT_FILENO, err) != 0))
        return -1;
    if (t->screen)
        terminal_size(&t->terminal, &t->rows, &t->columns);
    rc = ask(t, err);
    if (rc == 0)
        rc = loop(t, err);
    terminal_close(&t->terminal);
    return rc != 0 && t->account != NULL && t->manager.ended
               ? target_print_end(folder, err)
               : rc;
}

static int
top(const char *folder, const void *words, struct err *err)
{
    struct top t = {.signal_fd = -1};
    int rc;

    (void)words;
    if (target_connect(&t.manager, folder, err) != 0)
        return -1;
    t.screen = terminal_can(STDIN_FILENO, STDOUT_FILENO);
    rc = watch(&t, folder, err);
    control_client_close(&t.manager);
    if (t.signal_fd >= 0)
        close(t.signal_fd);
    json_free(t.account);
    free(t.told);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct err err = {0};

    if (options_parse(NULL, 0, NULL, &argc, argv, &err) != 0)
        return verb_fail("top", &err);
    return target_run("top", argc, argv, top, NULL);
}

const struct verb verb_top = {
    .name = "top",
    .summary = "a live screen of a running experiment",
    .help = help,
    .run = run,
    .operand = "FOLDER",
};
