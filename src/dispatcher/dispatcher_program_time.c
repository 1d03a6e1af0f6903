/* SPDX-License-Identifier: MIT */
#include "dispatcher/dispatcher_state.h"

#include "dispatcher/proxy.h"
#include "dispatcher/proxy_setup.h"
#include "log/writer.h"

#include <inttypes.h>
#include <stdio.h>

#define MS 1000000 /* nanoseconds */

/* One that reads nothing while so much waits for it that the manager is held
 * would keep the other side waiting, too. */
static void
look_at_reading(struct companion *c, int64_t now)
{
    struct program *p = &c->program;
    int64_t deadline = proxy_setup(c->proxy)->deadline_ms;

    if (p->closed ||
        channel_pending(&p->channel) <= c->dispatcher->setup->max_queued / 4) {
        c->stuck_at_ns = 0;
    } else if (c->stuck_at_ns == 0 || c->written != p->written) {
        c->stuck_at_ns = now + deadline * MS;
        c->written = p->written;
    } else if (now >= c->stuck_at_ns) {
        c->stuck_at_ns = 0;
        snprintf(c->why, sizeof c->why, "has read nothing for %" PRId64 " ms",
                 deadline);
        companion_hasten(c);
    }
}

/* It did not end behind its last byte. */
static void
end_closed(struct companion *c)
{
    c->kill_at_ns = 0;
    if (c->why[0] == '\0')
        snprintf(c->why, sizeof c->why,
                 "it closed its output and went on, expected its end");
    companion_hasten(c);
}

static void
take_silence(struct companion *c)
{
    size_t pending = frame_pending(&c->program.decoder);
    char due[128], how[256];

    proxy_name_due(c->proxy, due, sizeof due);
    if (pending > 0)
        snprintf(how, sizeof how,
                 "silent for %" PRId64 " ms, %zu bytes into a frame, expected "
                 "%s (is the frame's length right, is all of it flushed?)",
                 proxy_setup(c->proxy)->deadline_ms, pending, due);
    else
        snprintf(how, sizeof how,
                 "silent for %" PRId64 " ms, expected %s (does it flush its "
                 "output? is classArgs.deadline long enough?)",
                 proxy_setup(c->proxy)->deadline_ms, due);
    companion_event(c, SIDE_LATE, how);
}

void
companion_look(struct companion *c, int64_t now)
{
    const struct proxy_setup *setup = proxy_setup(c->proxy);

    look_at_reading(c, now);
    if (c->kill_at_ns != 0 && now >= c->kill_at_ns)
        end_closed(c);
    if (!side_waits(c->side)) {
        c->late_at_ns = 0;
    } else if (c->late_at_ns == 0 || c->heard ||
               dispatcher_holds_programs(c->dispatcher)) {
        c->late_at_ns = now + setup->deadline_ms * MS;
    } else if (now >= c->late_at_ns) {
        c->late_at_ns = 0;
        take_silence(c);
    }
    c->heard = false;
}

int64_t
dispatcher_program_time(const struct dispatcher *d)
{
    int64_t first = 0;

    for (int i = 0; i < 2 && !logwriter_held(d->commandlog); i++) {
        const struct companion *c = &d->companions[i];
        const int64_t times[] = {c->late_at_ns, c->kill_at_ns, c->stuck_at_ns};

        for (int k = 0; k < 3; k++)
            if (times[k] != 0 && (first == 0 || times[k] < first))
                first = times[k];
    }
    return first;
}
