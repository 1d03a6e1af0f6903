/* SPDX-License-Identifier: MIT */
#include "dispatcher/dispatcher_state.h"

#include "core/err.h"
#include "core/log.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queue.h"
#include "dispatcher/router.h"
#include "log/writer.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- inbound ---- */

static void
warn_length(struct dispatcher *d, struct drain *side, size_t length)
{
    if (length < side->warn_at)
        return;
    side->warn_at = length * 2;
    log_warning(d->log, "%s queue length: %zu", queue_name(side->queue),
                length);
}

static void
push(struct dispatcher *d, struct drain *side, struct chain *chain)
{
    enum sender sender =
        side == &d->by_default ? SENDER_DEFAULT : SENDER_ASSESSOR;
    size_t length, fresh;

    if (chain->first == NULL)
        return;
    if (dispatcher_has_program(d, sender)) {
        dispatcher_tell_program(d, sender, chain);
        return;
    }
    fresh = chain->count;
    queue_push(side->queue, chain, &length);
    warn_length(d, side, length - fresh); /* a burst alone is no lag */
}

void
dispatcher_take_inbound(struct dispatcher *d)
{
    struct inbound *in = &d->inbound;

    in->waits = false;
    gauge_add(&d->gauge, in->routed.bytes);
    push(d, &d->by_default, &in->routed.by_default);
    push(d, &d->assessor, &in->routed.assessor);
    in->routed = (struct routed){0};
    if (in->word == ROUTER_TERMINATE) {
        dispatcher_stop(d, TERMINATING, DISPATCHER_TERMINATED);
    } else if (in->word == ROUTER_MEMORY) {
        err_set(d->err, ERR_MEMORY, "command %" PRIu64 ": out of memory",
                d->arrivals);
        dispatcher_fail(d, TERMINATING);
    } else if (in->status == FRAME_BROKEN) {
        *d->err = in->broken;
        dispatcher_fail(d, DRAINING);
    }
}

/* Logs and routes every whole frame there is, then lets them take effect:
 * one read, one append, one push to each queue. */
void
dispatcher_take_frames(struct dispatcher *d)
{
    struct inbound *in = &d->inbound;
    struct frame frame;

    in->word = ROUTER_ON;
    in->count = 0;
    while (in->word == ROUTER_ON &&
           (in->status = frame_next(&d->decoder, &frame, &in->broken)) ==
               FRAME_READY) {
        logwriter_frame(d->commandlog, RECORD_IN, ++d->arrivals, &frame);
        in->count++;
        in->word =
            router_frame(d->session->router, &frame, d->arrivals, &in->routed);
    }
    if (dispatcher_log(d))
        dispatcher_take_inbound(d);
    else
        in->waits = logwriter_held(d->commandlog);
}

void
dispatcher_read(struct dispatcher *d)
{
    switch (channel_read(&d->channel, &d->decoder, d->err)) {
    case CHANNEL_WAIT:
        return;
    case CHANNEL_OK:
        dispatcher_take_frames(d);
        return;
    case CHANNEL_ERROR:
        dispatcher_fail(d, DRAINING);
        return;
    case CHANNEL_EOF:
        break;
    }
    if (frame_pending(&d->decoder) == 0) {
        dispatcher_stop(d, DRAINING, DISPATCHER_END_OF_FILE);
        return;
    }
    frame_refuse_end(&d->decoder, d->err);
    dispatcher_fail(d, DRAINING);
}

/* ---- outbound ---- */

static void
take_emission(struct dispatcher *d, const struct emission *e)
{
    switch (e->kind) {
    case EMISSION_PART:
        dispatcher_take_part(d, e);
        return;
    case EMISSION_SKIPPED:
        logwriter_add(d->commandlog, RECORD_SKIPPED, e->cause, e->payload,
                      e->len);
        return;
    case EMISSION_FRAME:
        break;
    }
    emission_record(e, d->commandlog);
    router_written(d->session->router, e);
    if (d->phase != TERMINATING && !d->channel.out_gone && !d->unasked)
        frame_encode(&d->channel.text, d->digits, command_info(e->code)->code,
                     e->payload, e->len);
}

/* Everything in the outbox goes into the log, then out. */
void
dispatcher_take_outbox(struct dispatcher *d)
{
    struct emission *next;

    for (struct emission *e = outbox_take_all(d->outbox); e != NULL; e = next) {
        next = e->next;
        take_emission(d, e);
        free(e);
    }
    dispatcher_log(d);
}

void
dispatcher_write(struct dispatcher *d)
{
    struct err err;

    if (logwriter_held(d->commandlog))
        return; /* what waits to be written may not be in it */
    if (channel_write(&d->channel, &err) != CHANNEL_ERROR)
        return;
    if (d->phase == TERMINATING || d->end == DISPATCHER_FAILED) {
        log_warning(d->log, "%s", err.text);
        return;
    }
    *d->err = err; /* behind an end of file, too: answers were lost */
    dispatcher_fail(d, DRAINING);
}
