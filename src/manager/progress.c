/* SPDX-License-Identifier: MIT */
#include "manager/progress.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/visible.h"
#include "manager/display.h"
#include "manager/goals.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAINT_NS 100000000
#define LINE_BYTES_MAX 4000 /* less than PIPE_BUF: see has_room() */
#define WIPE "\r\033[K"

void
progress_open(struct progress *p, int fd, int err_fd, bool minimize,
              uint64_t max_trials, bool debug)
{
    const char *term = getenv("TERM");

    *p = (struct progress){.fd = fd,
                           .err_fd = err_fd,
                           .minimize = minimize,
                           .max_trials = max_trials,
                           .debug = debug,
                           .started_ns = clock_monotonic_ns()};
    p->terminal = isatty(fd) && term != NULL && strcmp(term, "dumb") != 0;
}

/* Whether a line can be written without waiting: a pager that nobody scrolls,
 * or a terminal that was stopped, must not hold up the trials.  A pipe that is
 * writable takes PIPE_BUF bytes at once. */
static bool
has_room(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    return poll(&p, 1, 0) != 0;
}

static void
write_line(struct progress *p, int fd, const char *fmt, va_list ap)
{
    char text[LINE_BYTES_MAX];
    struct buf line;

    if (!has_room(fd)) {
        p->unread++;
        return;
    }
    vsnprintf(text, sizeof text, fmt, ap);
    visible_line(text);
    if (p->painted) {
        file_write_all(p->fd, WIPE, sizeof WIPE - 1, NULL);
        p->stale = true;
    }
    p->painted = false;
    buf_init(&line, LINE_BYTES_MAX + 100);
    if (p->unread > 0)
        buf_printf(&line, "(%llu lines are left out: nobody read them)\n",
                   (unsigned long long)p->unread);
    p->unread = 0;
    buf_printf(&line, "%s\n", text);
    file_write_all(fd, line.data, line.len, NULL);
    buf_fini(&line);
}

void
progress_say(struct progress *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    write_line(p, p->fd, fmt, ap);
    va_end(ap);
}

void
progress_warn(struct progress *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    write_line(p, p->err_fd, fmt, ap);
    va_end(ap);
}

bool
progress_is_seen(const struct progress *p)
{
    return isatty(p->fd) || isatty(p->err_fd);
}

void
progress_touch(struct progress *p)
{
    p->stale = true;
}

static void
write_front(const struct goals *g, struct buf *out)
{
    buf_printf(out, " | front %zu", g->front.n);
    if (g->front.grew > 0 && pareto_has_references(g->of) &&
        !isnan(g->hypervolume))
        buf_printf(out, ", hypervolume %.6g (trial %s)", g->hypervolume,
                   g->front.grew_by);
}

static void
write_counts(const struct progress *p, struct buf *out, int64_t now_ns)
{
    long long seconds = (now_ns - p->started_ns) / 1000000000;

    buf_printf(out, "%llu", (unsigned long long)p->done);
    if (p->max_trials > 0)
        buf_printf(out, "/%llu", (unsigned long long)p->max_trials);
    buf_printf(out, " done, %llu running", (unsigned long long)p->running);
    if (p->preparing > 0)
        buf_printf(out, ", %llu preparing", (unsigned long long)p->preparing);
    if (p->failed > 0)
        buf_printf(out, ", %llu failed", (unsigned long long)p->failed);
    if (p->stopped > 0)
        buf_printf(out, ", %llu stopped", (unsigned long long)p->stopped);
    if (p->timed_out > 0)
        buf_printf(out, ", %llu timed out", (unsigned long long)p->timed_out);
    if (p->cancelled > 0)
        buf_printf(out, ", %llu cancelled", (unsigned long long)p->cancelled);
    if (p->interrupted > 0)
        buf_printf(out, ", %llu interrupted",
                   (unsigned long long)p->interrupted);
    if (p->set_aside > 0)
        buf_printf(out, ", %llu paused", (unsigned long long)p->set_aside);
    if (p->paused)
        buf_add_text(out, " | paused");
    if (p->goals != NULL && p->goals->front.n > 0)
        write_front(p->goals, out);
    else if (p->has_best && p->goals == NULL)
        buf_printf(out, " | best %.6g (trial %s)", p->best, p->best_trial);
    if (seconds >= 3600)
        buf_printf(out, " | %lld:%02lld:%02lld", seconds / 3600,
                   seconds / 60 % 60, seconds % 60);
    else
        buf_printf(out, " | %02lld:%02lld", seconds / 60, seconds % 60);
}

int64_t
progress_paint(struct progress *p, int64_t now_ns)
{
    struct buf line, text;
    int room;

    if (!p->terminal || !p->stale || !has_room(p->fd))
        return INT64_MAX;
    if (p->painted_ns > 0 && now_ns - p->painted_ns < PAINT_NS)
        return p->painted_ns + PAINT_NS;
    room = display_columns(p->fd) - 1;
    buf_init(&text, LINE_BYTES_MAX);
    buf_init(&line, LINE_BYTES_MAX);
    write_counts(p, &text, now_ns);
    buf_printf(&line, WIPE "%.*s", room, buf_text(&text));
    file_write_all(p->fd, line.data, line.len, NULL);
    buf_fini(&line);
    buf_fini(&text);
    p->painted = true;
    p->stale = false;
    p->painted_ns = now_ns;
    return INT64_MAX;
}

void
progress_close(struct progress *p)
{
    if (p->painted)
        file_write_all(p->fd, WIPE, sizeof WIPE - 1, NULL);
    p->painted = p->terminal = false;
}
