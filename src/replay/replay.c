/* SPDX-License-Identifier: MIT */
#include "replay/replay.h"

#include "core/buf.h"
#include "core/err.h"
#include "dispatcher/assessing.h"
#include "dispatcher/logfile.h"
#include "dispatcher/proxy.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "dispatcher/tuning.h"
#include "frame.h"
#include "plugin/assessor.h"
#include "plugin/tuner.h"
#include "replay/difference.h"
#include "replay/pending.h"
#include "replay/skips.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DESIGN
 *
 * A first walk over the log collects the skipped records, because they stand
 * behind the commands they speak of.  The second walk handles each inbound
 * record at once, on both sides; what the handlers emit waits in `pending`
 * until the log's outbound records of that cause and sender come by. */

struct replay {
    const struct replay_setup *setup;
    struct replay_report *report;
    struct logfile *file;
    struct json *head;
    struct session *session;
    struct pending pending;
    struct pending early; /* recorded, of commands that are not handled yet */
    struct skips skips;
    struct chain left[2];   /* by sender: commands an end left */
    uint64_t last_cause[3]; /* by sender */
    bool failed[2];         /* by sender: that side ended */
    bool reached;          /* the end, or the first input behind setup->until */
    struct err difference; /* from what was recorded early; or none */
};

static int
differ(const struct replay *r, const struct emission *recorded,
       const struct emission *derived, struct err *err)
{
    return difference_tell(r->setup->path, logfile_offset(r->file), recorded,
                           derived, err);
}

/* ---- collecting ---- */

static void
collect(void *ctx, const struct emission *e)
{
    struct replay *r = ctx;
    struct derived *early = pending_take(&r->early, e->cause, e->sender);

    if (r->setup->derived != NULL)
        r->setup->derived(r->setup->ctx, e);
    if (early == NULL)
        pending_add(&r->pending, e);
    else if (!difference_same(&early->emission, e))
        differ(r, &early->emission, e, &r->difference);
    free(early);
}

static int
bar(struct replay *r, struct err *err)
{
    for (size_t i = 0; i < r->setup->n_bars; i++)
        if (skips_bar(&r->skips, r->setup->bars[i].arrival,
                      r->setup->bars[i].side, err) != 0)
            return -1;
    return 0;
}

static int
first_walk(struct replay *r, struct err *err)
{
    struct record record;
    enum logfile_status status;

    while ((status = logfile_next(r->file, &record, err)) == LOGFILE_RECORD) {
        if (record.kind == RECORD_SKIPPED &&
            skips_add(&r->skips, &record, err) != 0)
            return -1;
        r->report->ended = record.kind == RECORD_END ||
                           (r->report->ended && record.kind == RECORD_SYNC);
    }
    if (status == LOGFILE_DAMAGED)
        return -1;
    if (status == LOGFILE_TORN)
        r->report->torn_bytes = logfile_torn(r->file);
    logfile_rewind(r->file);
    return 0;
}

/* ---- comparing ---- */

/* What the log says of that half of the cause; NULL: nothing. */
static struct skip *
skip_of(const struct replay *r, uint64_t cause, enum sender sender)
{
    struct skips_of *of = skips_find(&r->skips, cause);

    return of == NULL ? NULL : &of->half[sender];
}

/* Before the calls of this command were barred it may have said anything.
 * What it gave out then are trials that the tuner does not know. */
static void
take_barred(struct replay *r, const struct emission *e)
{
    const struct derived *d = pending_peek(&r->pending, e->cause, e->sender);

    if (d != NULL && difference_same(&d->emission, e)) {
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

    if (e->sender == SENDER_ROUTER)
        return true;
    s = skip_of(r, e->cause, e->sender);
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
    struct derived *d;
    int rc = 0;

    router_written(r->session->router, recorded->code, recorded->payload,
                   recorded->len);
    if (is_uncompared(r, recorded)) {
        r->report->uncompared++;
        return 0;
    }
    d = pending_take(&r->pending, recorded->cause, recorded->sender);
    if (d == NULL || !difference_same(recorded, &d->emission)) {
        rc = differ(r, recorded, d == NULL ? NULL : &d->emission, err);
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
    struct emission e = {.cause = record->number,
                         .sender = record->kind == RECORD_TUNER ? SENDER_DEFAULT
                                   : record->kind == RECORD_ASSESSOR
                                       ? SENDER_ASSESSOR
                                       : SENDER_ROUTER};

    if (record->len < 2 || command_find(record->payload, &e.code) == NULL)
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64 ": expected a command's code",
                       r->setup->path, logfile_offset(r->file));
    e.payload = record->payload + 2;
    e.len = record->len - 2;
    return compare(r, &e, err);
}

/* ---- handling ---- */

static int
call_default(struct replay *r, const struct command *cmd, bool barred)
{
    struct session *s = r->session;
    int rc;

    if (s->tuning == NULL)
        return proxy_command(s->proxies[SENDER_DEFAULT], cmd, NULL);
    tuner_bar(s->tuner, barred);
    rc = tuning_handle(s->tuning, cmd, NULL);
    tuner_bar(s->tuner, false);
    return rc;
}

static int
call_assessor(struct replay *r, const struct command *cmd, bool barred)
{
    struct session *s = r->session;
    struct err err;
    int rc;

    if (s->assessing == NULL)
        return proxy_command(s->proxies[SENDER_ASSESSOR], cmd, &err);
    if (s->assessor != NULL)
        assessor_bar(s->assessor, barred);
    rc = assessing_handle(s->assessing, cmd, &err);
    if (s->assessor != NULL)
        assessor_bar(s->assessor, false);
    return rc;
}

/* A failure that ended the recorded session ends this side here, too. */
static void
handle(struct replay *r, enum sender side, const struct command *cmd)
{
    const struct skip *s = skip_of(r, cmd->arrival, side);
    bool barred = s != NULL && s->barred;
    int rc;

    if ((s != NULL && s->dropped) || r->failed[side])
        return;
    if (r->setup->slots != NULL)
        atomic_store(r->setup->slots[side], cmd->arrival);
    rc = side == SENDER_DEFAULT ? call_default(r, cmd, barred)
                                : call_assessor(r, cmd, barred);
    if (r->setup->slots != NULL)
        atomic_store(r->setup->slots[side], 0);
    r->failed[side] = rc != 0;
}

/* Handles and frees, or keeps what an end left. */
static void
handle_chain(struct replay *r, enum sender side, struct chain *chain)
{
    struct command *next;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        const struct skip *s = skip_of(r, cmd->arrival, side);

        next = cmd->next;
        if (s != NULL && s->left > 0) {
            chain_add(&r->left[side], cmd);
            continue;
        }
        handle(r, side, cmd);
        command_free(cmd);
    }
}

/* Some ends make what is owed void. */
static void
take_end(struct replay *r, const struct record *record)
{
    static const char *const voids[] = {"terminated", "signalled"};

    for (size_t i = 0; i < sizeof voids / sizeof *voids; i++)
        if (strlen(voids[i]) == record->len &&
            memcmp(voids[i], record->payload, record->len) == 0 &&
            r->session->tuning != NULL)
            tuning_close(r->session->tuning);
}

/* The session goes on: first with what its end left. */
static void
take_resumed(struct replay *r)
{
    session_reopen(r->session);
    for (int side = 0; side < 2; side++) {
        struct chain left = r->left[side];

        r->failed[side] = false;
        r->left[side] = (struct chain){0};
        for (struct command *cmd = left.first; cmd != NULL; cmd = cmd->next)
            skip_of(r, cmd->arrival, side)->left--;
        handle_chain(r, side, &left);
    }
}

static int
read_frame(const struct replay *r, const struct record *record,
           struct frame *frame, struct err *err)
{
    *frame = (struct frame){.offset = logfile_offset(r->file)};
    if (record->len < 2)
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64 ": expected a command's code",
                       r->setup->path, logfile_offset(r->file));
    memcpy(frame->code, record->payload, 2);
    frame->payload = record->payload + 2;
    frame->len = record->len - 2;
    return 0;
}

/* The proxy of the program that the record is of. */
static struct proxy *
proxy_of(const struct replay *r, enum sender side, struct err *err)
{
    if (r->session->proxies[side] == NULL)
        err_set(err, ERR_LOG,
                "%s: offset %" PRIu64 ": a record of a program, but the head "
                "record names none",
                r->setup->path, logfile_offset(r->file));
    return r->session->proxies[side];
}

/* What ends its side is remembered by the proxy. */
static int
take_program(struct replay *r, const struct record *record, enum sender side,
             struct err *err)
{
    struct proxy *proxy = proxy_of(r, side, err);
    struct frame frame;

    if (proxy == NULL || read_frame(r, record, &frame, err) != 0)
        return -1;
    proxy_frame(proxy, record->number, &frame, NULL);
    return 0;
}

static int
take_event(struct replay *r, const struct record *record, enum sender side,
           struct err *err)
{
    const char *space = memchr(record->payload, ' ', record->len);
    size_t word = space == NULL ? 0 : (size_t)(space - record->payload);
    struct proxy *proxy = proxy_of(r, side, err);
    enum proxy_event event;
    char how[ERR_TEXT_MAX];

    if (proxy == NULL)
        return -1;
    if (!proxy_event_find(record->payload, word, &event))
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64
                       ": expected 'late', 'gone' or 'left'",
                       r->setup->path, logfile_offset(r->file));
    snprintf(how, sizeof how, "%.*s", (int)(record->len - word - 1), space + 1);
    proxy_event(proxy, record->number, event, how, NULL);
    return 0;
}

static int
take_inbound(struct replay *r, const struct record *record, struct err *err)
{
    struct routed routed = {0};
    const struct skips_of *of;
    struct frame frame;

    if (read_frame(r, record, &frame, err) != 0)
        return -1;
    r->report->commands++;
    router_frame(r->session->router, &frame, record->number, &routed);
    of = skips_find(&r->skips, record->number);
    if (of != NULL && of->closes && r->session->tuning != NULL)
        tuning_close(r->session->tuning);
    handle_chain(r, SENDER_DEFAULT, &routed.by_default);
    handle_chain(r, SENDER_ASSESSOR, &routed.assessor);
    if (r->pending.failed)
        return err_set(err, ERR_MEMORY, "replay: out of memory");
    return 0;
}

static int
take(struct replay *r, const struct record *record, struct err *err)
{
    switch (record->kind) {
    case RECORD_IN:
        return take_inbound(r, record, err);
    case RECORD_TUNER:
    case RECORD_ASSESSOR:
    case RECORD_ROUTER:
        return take_outbound(r, record, err);
    case RECORD_TUNER_FRAME:
        return take_program(r, record, SENDER_DEFAULT, err);
    case RECORD_ASSESSOR_FRAME:
        return take_program(r, record, SENDER_ASSESSOR, err);
    case RECORD_TUNER_EVENT:
        return take_event(r, record, SENDER_DEFAULT, err);
    case RECORD_ASSESSOR_EVENT:
        return take_event(r, record, SENDER_ASSESSOR, err);
    case RECORD_RESUMED:
        take_resumed(r);
        return 0;
    case RECORD_END:
        take_end(r, record);
        return 0;
    case RECORD_HEAD:
    case RECORD_SKIPPED:
    case RECORD_SYNC:
        break;
    }
    return 0;
}

static bool
is_input(enum record_kind kind)
{
    return kind == RECORD_IN || kind == RECORD_TUNER_FRAME ||
           kind == RECORD_ASSESSOR_FRAME || kind == RECORD_TUNER_EVENT ||
           kind == RECORD_ASSESSOR_EVENT;
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
        return is_input(record->kind) ? reach(r, err) : 0;
    if (is_input(record->kind))
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
    enum logfile_status status;

    while ((status = logfile_next(r->file, &record, err)) == LOGFILE_RECORD)
        if (step(r, &record, err) != 0)
            return -1;
    if (status == LOGFILE_DAMAGED)
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
        return differ(r, NULL, &pending_first(&r->pending)->emission, err);
    return 0;
}

/* ---- start and end ---- */

static int
begin(struct replay *r, struct err *err)
{
    struct session_setup setup = {.paths = r->setup->paths};
    struct emitter emitter = {collect, r};
    struct record record;

    r->file = logfile_open(r->setup->path, err);
    if (r->file == NULL)
        return -1;
    if (logfile_next(r->file, &record, err) != LOGFILE_RECORD ||
        record.kind != RECORD_HEAD)
        return err_set(err, ERR_LOG, "%s: expected a head record first",
                       r->setup->path);
    r->head = json_parse(record.payload, record.len, JSON_STRICT, err);
    if (r->head == NULL ||
        session_read_head(json_root(r->head), &setup, err) != 0)
        return err_place(err, "%s", r->setup->path);
    if (r->setup->rest != NULL) {
        r->setup->rest->digits = setup.digits;
        r->setup->rest->max_payload = setup.max_payload;
    }
    r->session = session_new(&setup, emitter, r->setup->log, err);
    if (r->session == NULL ||
        session_check_versions(r->session, json_root(r->head), err) != 0)
        return err_place(err, "%s", r->setup->path);
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
    json_free(r->head);
    logfile_close(r->file);
}

/* For who goes on with it: it does from here. */
static void
hand_over(struct replay *r, struct replay_rest *rest)
{
    take_resumed(r);
    rest->session = r->session;
    rest->pending = r->pending;
    r->session = NULL;
    r->pending = (struct pending){0};
}

int
replay_run(const struct replay_setup *setup, struct replay_report *report,
           struct err *err)
{
    struct replay r = {.setup = setup, .report = report};
    int rc = -1;

    *report = (struct replay_report){0};
    if (begin(&r, err) == 0 && bar(&r, err) == 0 && first_walk(&r, err) == 0)
        rc = second_walk(&r, err);
    if (rc == 0 && setup->rest != NULL)
        hand_over(&r, setup->rest);
    end(&r);
    return rc;
}
