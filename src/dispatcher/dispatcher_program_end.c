/* SPDX-License-Identifier: MIT */
/* The stop's side of programs, and when they are held. */
#include "core/log.h"
#include "dispatcher/dispatcher_state.h"
#include "dispatcher/outbox.h"
#include "dispatcher/proxy.h"
#include "dispatcher/proxy_setup.h"

#include <inttypes.h>

bool
dispatcher_holds_programs(const struct dispatcher *d)
{
    return outbox_bytes(d->outbox) + channel_pending(&d->channel) >
           d->setup->max_queued;
}

static bool
is_at_work(const struct companion *c)
{
    return c->proxy != NULL && c->program.pid != 0 && !c->program.leaving &&
           c->dispatcher->phase == DRAINING && side_waits(c->side) &&
           !dispatcher_holds_programs(c->dispatcher);
}

bool
dispatcher_end_programs(struct dispatcher *d)
{
    bool ended = true;

    for (int i = 0; i < 2; i++) {
        struct companion *c = &d->companions[i];

        if (c->proxy == NULL || c->program.pid == 0)
            continue;
        ended = false;
        if (c->program.leaving || is_at_work(c))
            continue;
        program_send(&c->program, CMD_TERMINATE, NULL, 0);
        program_hang_up(&c->program);
    }
    return ended;
}

bool
dispatcher_kill_programs(struct dispatcher *d)
{
    bool at_work = false;

    for (int i = 0; i < 2; i++) {
        struct companion *c = &d->companions[i];

        if (c->proxy == NULL || c->program.pid == 0)
            continue;
        if (is_at_work(c))
            at_work = true;
        log_warning(d->log, "%s: %s within the grace of %" PRId64 " ms: killed",
                    proxy_setup(c->proxy)->title,
                    is_at_work(c) ? "did not answer" : "did not end",
                    d->setup->grace_ms);
    }
    dispatcher_free_programs(d);
    return at_work;
}

void
dispatcher_free_programs(struct dispatcher *d)
{
    char how[64];

    for (int i = 0; i < 2; i++) {
        struct program *p = &d->companions[i].program;

        if (p->pid == 0)
            continue;
        program_kill(p);
        program_reap(p, how, sizeof how);
    }
}
