/* SPDX-License-Identifier: MIT */
#include "replay/replay.h"

#include "core/buf.h"
#include "core/err.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "dispatcher/tuning.h"
#include "log/log.h"
#include "log/snapshot.h"
#include "replay/difference.h"
#include "replay/replay_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* DESIGN
 *
 * A first walk over the log collects the skipped records, because they stand
 * behind the commands they speak of.  The second walk handles each inbound
 * record at once, on both sides; what the handlers emit waits in `pending`
 * until the log's outbound records of that cause and sender come by. */

static int
differ(const struct replay *r, const struct emission *recorded,
       const struct emission *derived, struct err *err)
{
    return difference_tell(log_path_now(r->file), log_offset(r->file), recorded,
                           derived, err);
}

/* ---- collecting ---- */

static void
collect(void *ctx, const struct emission *e)
{
    struct replay *r = ctx;
    struct emission *early = pending_take(&r->early, e->cause, e->sender);

    if (r->setup->derived != NULL)
        r->setup->derived(r->setup->ctx, e);
    if (early == NULL)
        pending_add(&r->pending, e);
    else if (!difference_same(early, e))
        differ(r, early, e, &r->difference);
    free(early);
}

struct emitter
replay_emitter(struct replay *r)
{
    return (struct emitter){collect, r};
}

static int
bar(struct replay *r, struct err *err)
{
    for (size_t i = 0; i < r->setup->n_bars; i++) {
        const struct replay_bar *b = &r->setup->bars[i];

        if (skips_bar(&r->skips, b->arrival, b->side, err) != 0)
            return -1;
        replay_bar(r, b->arrival, b->side, UINT64_MAX);
    }
    return 0;
}

static int
collect_skip(struct replay *r, const struct record *record, struct err *err)
{
    const struct skip *half;

    if (skips_add(&r->skips, record, err) != 0)
        return -1;
    half = skips_find(&r->skips, record->number)->half;
    for (int side = 0; side < 2; side++)
        if (half[side].barred)
            replay_bar(r, record->number, (enum sender)side,
                       log_segment(r->file));
    return 0;
}

static int
first_walk(struct replay *r, struct err *err)
{
    struct record record;
    enum log_status status;

    while ((status = log_next(r->file, &record, err)) == LOG_RECORD) {
        if (record.kind == RECORD_SKIPPED && collect_skip(r, &record, err) != 0)
            return -1;
        r->report->ended = record.kind == RECORD_END ||
                           (r->report->ended && record.kind == RECORD_SYNC);
    }
    if (status == LOG_DAMAGED)
        return -1;
    if (status == LOG_TORN)
        r->report->torn_bytes = log_torn(r->file);
    log_rewind(r->file);
    return 0;
}

/* ---- comparing ---- */

/* Before the calls of this command were barred it may have said anything.
 * What it gave out then are trials that the tuner does not know. */
static void
take_barred(struct replay *r, const struct emission *e)
{
    const struct emission *d = pending_peek(&r->pending, e->cause, e->sender);

    if (d != NULL && difference_same(d, e)) {
        free(pending_take(&r->pending, e->cause, e->sender));
        return;
    }
    if (e->code == CMD_NEW_TRIAL && r->session->tuning != NULL)
        tuning_adopt(r->session->tuning, e->payload, e->len);
}

/* Frames of this cause and sender cannot be derived, or not yet. */
static bool
is_uncompared(struct replay *r, const struct emission *e)
{
    const struct skip *s;

    if (e->sender == SENDER_ROUTER || replay_has(r, e->cause, e->sender))
        return true;
    s = replay_skip(r, e->cause, e->sender);
    if (s == NULL)
        return false;
    if (s->left > 0)
        pending_add(&r->early, e);
    else if (s->barred)
        take_barred(r, e);
    return s->left > 0 || s->barred || s->dropped;
}

static int
compare(struct replay *r, const struct emission *recorded, struct err *err)
{
    struct emission *d;
    int rc = 0;

    router_written(r->session->router, recorded);
    if (is_uncompared(r, recorded)) {
        r->report->uncompared++;
        return 0;
    }
    d = pending_take(&r->pending, recorded->cause, recorded->sender);
    if (d == NULL || !difference_same(recorded, d)) {
        rc = differ(r, recorded, d, err);
    } else {
        r->report->frames++;
        r->report->causes += recorded->cause != r->last_cause[recorded->sender];
        r->last_cause[recorded->sender] = recorded->cause;
    }
    free(d);
    return rc;
}

static int
take_outbound(struct replay *r, const struct record *record, struct err *err)
{
    struct emission e;

    if (emission_of_record(record, &e, &r->text) != 0)
        return r->text.failed
                   ? err_set(err, ERR_MEMORY, "replay: out of memory")
                   : err_set(err, ERR_LOG,
                             "%s: offset %" PRIu64
                             ": expected a command's code",
                             log_path_now(r->file), log_offset(r->file));
    return compare(r, &e, err);
}

/* ---- the second walk ---- */

static int
take(struct replay *r, const struct record *record, struct err *err)
{
    switch (record->kind) {
    case RECORD_IN:
        return replay_command(r, record, err);
    case RECORD_TUNER:
    case RECORD_ASSESSOR:
    case RECORD_ROUTER:
        return take_outbound(r, record, err);
    case RECORD_TUNER_FRAME:
        return replay_program(r, record, SENDER_DEFAULT, err);
    case RECORD_ASSESSOR_FRAME:
        return replay_program(r, record, SENDER_ASSESSOR, err);
    case RECORD_TUNER_EVENT:
        return replay_event(r, record, SENDER_DEFAULT, err);
    case RECORD_ASSESSOR_EVENT:
        return replay_event(r, record, SENDER_ASSESSOR, err);
    case RECORD_RESUMED:
        replay_resumed(r);
        return 0;
    case RECORD_END:
        replay_ended(r, record);
        return 0;
    case RECORD_HEAD:
    case RECORD_SKIPPED:
    case RECORD_SYNC:
    case RECORD_SEGMENT:
        break;
    }
    return 0;
}

/* All inputs that are to be handled are. */
static int
reach(struct replay *r, struct err *err)
{
    bool first = !r->reached;

    r->reached = true;
    if (!first || r->setup->reached == NULL)
        return 0;
    return r->setup->reached(r->setup->ctx, r->session, err);
}

/* Passes over what lies behind `until`: what comes then is only compared. */
static int
step(struct replay *r, const struct record *record, struct err *err)
{
    uint64_t until = r->setup->until;

    if (until > 0 && record->number > until)
        return record_is_input(record->kind) ? reach(r, err) : 0;
    if (record_is_input(record->kind))
        r->report->last = record->number;
    if (r->setup->next != NULL &&
        r->setup->next(r->setup->ctx, record, err) != 0)
        return -1;
    return take(r, record, err);
}

static int
second_walk(struct replay *r, struct err *err)
{
    struct record record;
    enum log_status status;

    while ((status = log_next(r->file, &record, err)) == LOG_RECORD)
        if (step(r, &record, err) != 0)
            return -1;
    if (status == LOG_DAMAGED)
        return -1;
    if (r->difference.code != ERR_NONE) {
        *err = r->difference;
        return -1;
    }
    if (!r->reached && r->report->last < r->setup->until)
        return err_set(err, ERR_USAGE,
                       "%s: ends at command %" PRIu64 ", expected %" PRIu64
                       " or more",
                       r->setup->path, r->report->last, r->setup->until);
    if (reach(r, err) != 0)
        return -1;
    r->report->unsent = r->pending.frames;
    if (r->report->ended && r->pending.frames > 0)
        return differ(r, NULL, pending_first(&r->pending), err);
    return 0;
}

/* ---- start and end ---- */

static int
begin(struct replay *r, struct err *err)
{
    struct session_setup *setup = &r->session_setup;
    struct record head;

    r->file = log_open(r->setup->path, 0, err);
    if (r->file == NULL)
        return -1;
    setup->paths = r->setup->paths;
    r->head = session_load_head(r->file, &head, setup, err);
    if (r->head == NULL)
        return -1;
    r->head_sum = snapshot_head(head.payload, head.len);
    if (r->setup->rest != NULL) {
        r->setup->rest->digits = setup->digits;
        r->setup->rest->max_payload = setup->max_payload;
    }
    if (replay_restore(r, err) != 0 ||
        session_check_versions(r->session, json_root(r->head), err) != 0)
        return err_place(err, "%s", r->setup->path);
    session_listen(r->session, r->setup->explainer);
    return 0;
}

static void
end(struct replay *r)
{
    for (int side = 0; side < 2; side++)
        for (struct command *cmd = r->left[side].first, *next; cmd != NULL;
             cmd = next) {
            next = cmd->next;
            command_free(cmd);
        }
    skips_fini(&r->skips);
    pending_fini(&r->pending);
    pending_fini(&r->early);
    session_free(r->session);
    buf_fini(&r->text);
    json_free(r->head);
    log_close(r->file);
}

/* 1: that was from a snapshot that is outdated. */
static int
prepare(struct replay *r, struct err *err)
{
    *r->report = (struct replay_report){0};
    buf_init(&r->text, SIZE_MAX / 2);
    if (begin(r, err) != 0 || bar(r, err) != 0 || first_walk(r, err) != 0)
        return -1;
    return r->outdated;
}

/* For who goes on with it: it does from here. */
static void
hand_over(struct replay *r, struct replay_rest *rest)
{
    replay_resumed(r);
    rest->session = r->session;
    rest->head_sum = r->head_sum;
    rest->pending = r->pending;
    r->session = NULL;
    r->pending = (struct pending){0};
}

int
replay_run(const struct replay_setup *setup, struct replay_report *report,
           struct err *err)
{
    struct replay r = {.setup = setup, .report = report};
    int rc;

    while ((rc = prepare(&r, err)) > 0) {
        uint64_t passed = r.passed;

        end(&r);
        r = (struct replay){.setup = setup, .report = report, .passed = passed};
    }
    if (rc == 0)
        rc = second_walk(&r, err);
    if (rc == 0 && setup->rest != NULL)
        hand_over(&r, setup->rest);
    end(&r);
    return rc;
}
