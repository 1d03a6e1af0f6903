/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * What cannot be logged does not happen, yet.  While the log is held up (no
 * space, an input/output error) nothing more is read, what was read waits, and
 * nothing is written: nobody has seen an effect of what is not in the log.
 * Nothing on this wire can be refused, so nothing is.  A stop meanwhile takes
 * back what waits, as if it had never been read. */

#include "dispatcher/dispatcher_state.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "log/writer.h"

#include <inttypes.h>

int
dispatcher_follow_log(struct dispatcher *d)
{
    logwriter_set_segments(d->commandlog, d->setup->segments.size);
    return logwriter_follow(d->commandlog, d->setup->sync, &d->wake,
                            d->setup->log_retry_ms, d->err);
}

void
dispatcher_fail_log(struct dispatcher *d)
{
    channel_drop(&d->channel); /* nothing unlogged is written */
    dispatcher_fail(d, TERMINATING);
}

bool
dispatcher_log(struct dispatcher *d)
{
    switch (logwriter_flush(d->commandlog, d->err)) {
    case LOGWRITER_OK:
        return true;
    case LOGWRITER_HELD:
        return false;
    case LOGWRITER_FAILED:
        break;
    }
    dispatcher_fail_log(d);
    return false;
}

/* One line when it begins, one when it is over. */
static void
tell(struct dispatcher *d)
{
    char text[160];
    const char *trouble = logwriter_trouble(d->commandlog, text, sizeof text);
    int64_t now;

    if ((trouble != NULL) == (d->log_held_ns != 0))
        return;
    now = clock_monotonic_ns();
    if (trouble != NULL) {
        log_warning(d->log,
                    LOG_NAME ": %s; nothing is read until it goes on "
                             "(tried every %" PRId64 " ms)",
                    trouble, d->setup->log_retry_ms);
        d->log_held_ns = now;
    } else {
        log_warning(d->log, LOG_NAME ": goes on after %" PRId64 " ms",
                    (now - d->log_held_ns) / 1000000);
        d->log_held_ns = 0;
    }
}

void
dispatcher_tend_log(struct dispatcher *d)
{
    if (logwriter_tend(d->commandlog, d->err) != 0)
        dispatcher_fail_log(d);
    tell(d);
    if (logwriter_held(d->commandlog))
        return;
    if (d->inbound.waits)
        dispatcher_take_inbound(d);
    dispatcher_go_on_programs(d);
}

bool
dispatcher_log_holds(const struct dispatcher *d)
{
    return d->log_held_ns != 0;
}

static void
drop(struct chain *chain)
{
    struct command *next;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        command_free(cmd);
    }
    *chain = (struct chain){0};
}

void
dispatcher_take_back(struct dispatcher *d)
{
    struct inbound *in = &d->inbound;

    dispatcher_forget_programs(d);
    drop(&in->routed.by_default);
    drop(&in->routed.assessor);
    if (!in->waits)
        return;
    in->waits = false;
    d->arrivals -= in->count;
    logwriter_take_back(d->commandlog);
}

void
dispatcher_close_log(struct dispatcher *d, const char *how)
{
    bool failed = d->end == DISPATCHER_FAILED;

    logwriter_text(d->commandlog, RECORD_END, d->arrivals, how);
    if (logwriter_finish(d->commandlog, failed ? NULL : d->err) != 0)
        d->end = DISPATCHER_FAILED;
    else if (d->log_held_ns != 0)
        tell(d);
}
