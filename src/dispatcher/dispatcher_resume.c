/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * Start-up is recovery: what the log lacks is logged and written as if it had
 * been said just now.  A manager with extensions hears first how much of what
 * it sent is on record, and again what it may not have read.  One of NNI's is
 * a new one, which hears nothing of what another one was to be told. */

#include "core/buf.h"
#include "core/err.h"
#include "dispatcher/dispatcher_state.h"
#include "dispatcher/outbox.h"
#include "dispatcher/resend.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "log/writer.h"

#include <string.h>

static int
say_what_is_there(struct dispatcher *d, const struct dispatcher_resume *r)
{
    struct emission e = {
        .sender = SENDER_ROUTER, .cause = r->arrivals, .code = CMD_INITIALIZED};
    const struct resumed told = {.frames = r->frames,
                                 .owed = r->owed,
                                 .trials = r->trials,
                                 .derived = r->n_missing,
                                 .spaceless = r->spaceless};
    struct buf payload;
    int rc;

    buf_init(&payload, 256);
    command_write_resumed(&payload, &told);
    e.payload = payload.data;
    e.len = payload.len;
    if (!payload.failed)
        outbox_add(d->outbox, &e);
    dispatcher_take_outbox(d);
    for (const struct emission *again =
             router_unread(d->session->router)->first;
         again != NULL; again = again->next)
        frame_encode(&d->channel.text, d->digits,
                     command_info(again->code)->code, again->payload,
                     again->len);
    rc = buf_check(&payload, "recovery", d->err);
    buf_fini(&payload);
    return rc;
}

int
dispatcher_resume(struct dispatcher *d)
{
    const struct dispatcher_resume *r = d->setup->resume;

    d->session = r->session;
    d->commandlog = r->log;
    d->arrivals = r->arrivals;
    d->snapping.head_sum = r->head_sum;
    memcpy(d->snapping.unsavable, r->unsavable, sizeof r->unsavable);
    session_redirect(d->session, outbox_emitter(d->outbox));
    if (dispatcher_start_programs(d) != 0 || dispatcher_follow_log(d) != 0)
        return -1;
    logwriter_text(d->commandlog, RECORD_RESUMED, r->arrivals, r->words);
    for (size_t i = 0; i < r->n_skips; i++)
        logwriter_add(d->commandlog, RECORD_SKIPPED, r->skips[i].arrival,
                      r->skips[i].text, strlen(r->skips[i].text));
    if (logwriter_flush(d->commandlog, d->err) == LOGWRITER_FAILED)
        return -1;
    if (d->session->policy.extensions && say_what_is_there(d, r) != 0)
        return -1;
    d->unasked = d->session->policy.nni;
    for (size_t i = 0; i < r->n_missing; i++)
        outbox_add(d->outbox, r->missing[i]);
    dispatcher_take_outbox(d);
    dispatcher_leave_programs(d);
    dispatcher_take_outbox(d);
    d->unasked = false;
    return 0;
}
