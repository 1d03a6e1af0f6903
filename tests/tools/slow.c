/* SPDX-License-Identifier: MIT */
/* slow MODE: more peers that do not behave, see flood.h.  Modes:
 *
 *   bytes        writes and reads one byte at a time
 *   million      a million commands at once, a quarter of them answered, while
 *                it reads: all comes, in order, and memory is bounded
 *   term_start   SIGTERM before anything was written
 *   term_ready   SIGTERM when the search space is set
 *   term_half    SIGTERM inside a frame
 *   term_busy    SIGTERM in the midst of a million commands: what comes until
 *                the end of the stream is whole and in order
 *   term_closing SIGTERM while unread answers wait for the grace to pass
 *
 * Each SIGTERM: status 143, whatever else. */
#include "flood.h"

static void
bytes(struct flood *f)
{
    put_reports(f, 50, 1);
    while (f->at < f->out.len || f->answers < 50) {
        struct pollfd p[2] = {
            {.fd = f->at < f->out.len ? f->to : -1, .events = POLLOUT},
            {.fd = f->from, .events = POLLIN},
        };

        if (poll(p, 2, -1) < 0)
            die(f, "poll: %m");
        if (p[0].revents != 0 && write(f->to, f->out.data + f->at, 1) == 1)
            f->at++;
        if (p[1].revents != 0 && !read_at_most(f, 1))
            die(f, "the answers end after %" PRIu64, f->answers);
    }
    close(f->to);
    while (read_at_most(f, 1))
        continue;
    if (f->others != 2)
        die(f, "%" PRIu64 " other frames, expected ID and TR", f->others);
    expect_status(f, 0);
}

/* Three pings for each report; fewer where each takes ten times as long. */
static uint64_t
put_million(struct flood *f)
{
    int reports = is_plain() ? 250000 : 25000;

    put_reports(f, reports, 3);
    return (uint64_t)reports;
}

static void
million(struct flood *f)
{
    read_answers(f, put_million(f));
    check_memory(f);
    write_everything(f);
    close(f->to);
    while (read_some(f))
        continue;
    expect_status(f, 0);
}

static void
terminate(struct flood *f)
{
    kill(f->child, SIGTERM);
    expect_status(f, 143);
}

static void
term_ready(struct flood *f)
{
    put_reports(f, 0, 0);
    write_everything(f);
    while (f->others < 2 && read_some(f))
        continue;
    terminate(f);
}

static void
term_half(struct flood *f)
{
    put_reports(f, 1, 0);
    f->out.len -= 5;
    write_everything(f);
    while (f->others < 2 && read_some(f))
        continue;
    terminate(f);
}

static void
term_busy(struct flood *f)
{
    put_million(f);
    read_answers(f, 1000);
    kill(f->child, SIGTERM);
    while (read_some(f))
        continue;
    if (frame_pending(&f->in) > 0)
        die(f, "%zu bytes of a frame that was cut off", frame_pending(&f->in));
    expect_status(f, 143);
}

static void
term_closing(struct flood *f)
{
    put_reports(f, 3000, 1); /* more than a pipe takes */
    write_everything(f);
    close(f->to);
    terminate(f);
}

int
main(int argc, char **argv)
{
    static const struct flood_mode modes[] = {
        {"bytes", bytes, false},
        {"million", million, true},
        {"term_start", terminate, true},
        {"term_ready", term_ready, false},
        {"term_half", term_half, false},
        {"term_busy", term_busy, false},
        {"term_closing", term_closing, false},
        {NULL, NULL, false}};

    return flood_main(modes, argc, argv);
}
