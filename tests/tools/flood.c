/* SPDX-License-Identifier: MIT */
/* flood MODE: holds a dispatcher against peers that do not behave.  Needs
 * TP_BUILD; a folder "log" is made in the current one.  Modes:
 *
 *   answers  writes 200,000 synchronous reports and pings and reads nothing
 *            until the dispatcher stops reading; then reads: every answer
 *            comes, in order, and memory has stayed within bounds
 *   sigterm  the same, then SIGTERM instead of reading: status 143
 *   deaf     the same, then closes its reading end: status 4
 *   unread   writes some, closes its writing end and never reads: after the
 *            grace status 4
 *   socket   one socket is the child's descriptor 0 and 1
 *   shell    descriptors 3 and 4 are sockets; the parent is a shell that keeps
 *            copies of both
 *
 * That the dispatcher has stopped reading shows in nothing but that it does
 * not go on; waiting for that too briefly makes the test weaker, not wrong. */
#include "flood.h"

#define REPORTS 200000
#define QUIET_MS 500

/* ---- the modes ---- */

/* Writes until the dispatcher does not read on. */
static void
write_until_held(struct flood *f)
{
    struct pollfd p = {.fd = f->to, .events = POLLOUT};

    put_reports(f, REPORTS, 1);
    while (poll(&p, 1, QUIET_MS) == 1)
        if (write_some(f))
            die(f, "all was taken while nothing was read");
}

static void
answers(struct flood *f)
{
    write_until_held(f);
    read_answers(f, REPORTS);
    check_memory(f);
    close(f->to);
    while (read_some(f))
        continue;
    if (f->others != 2)
        die(f, "%" PRIu64 " other frames, expected ID and TR", f->others);
    expect_status(f, 0);
}

static void
sigterm(struct flood *f)
{
    write_until_held(f);
    kill(f->child, SIGTERM);
    expect_status(f, 143);
}

static void
deaf(struct flood *f)
{
    write_until_held(f);
    close(f->from);
    expect_status(f, 4);
}

static void
unread(struct flood *f)
{
    put_reports(f, 3000, 1); /* more than a pipe takes, less than it holds at */
    write_everything(f);
    close(f->to);
    expect_status(f, 4);
}

static void
converse(struct flood *f)
{
    put_reports(f, 10, 1);
    write_everything(f);
    shutdown(f->to, SHUT_WR);
    while (read_some(f))
        continue;
    if (f->answers != 10 || f->others != 2)
        die(f, "%" PRIu64 " answers and %" PRIu64 " others", f->answers,
            f->others);
    expect_status(f, 0);
}

int
main(int argc, char **argv)
{
    static const struct flood_mode modes[] = {
        {"answers", answers, false}, {"sigterm", sigterm, false},
        {"deaf", deaf, false},       {"unread", unread, false},
        {"socket", converse, false}, {"shell", converse, false},
        {NULL, NULL, false}};

    return flood_main(modes, argc, argv);
}
