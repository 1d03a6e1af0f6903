/* SPDX-License-Identifier: MIT */
#include "replay/replay.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/map.h"
#include "dispatcher/assessing.h"
#include "dispatcher/logfile.h"
#include "dispatcher/proxy.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "dispatcher/tuning.h"
#include "frame.h"
#include "replay/pending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DESIGN
 *
 * A first walk over the log collects the skipped records, because they stand
 * behind the commands they speak of.  The second walk handles each inbound
 * record at once, on both sides; what the handlers emit waits in `pending`
 * until the log's outbound records of that cause and sender come by. */

struct skips {
    bool tuner, assessor; /* this half was not (wholly) handled */
    bool closes;          /* requests are dropped from this command on */
};

struct replay {
    const struct replay_setup *setup;
    struct replay_report *report;
    struct logfile *file;
    struct json *head;
    struct session *session;
    struct pending pending;
    struct map skips;       /* arrival -> struct skips */
    uint64_t last_cause[3]; /* by sender */
    bool tuner_failed, assessor_failed;
};

/* ---- collecting ---- */

static void
collect(void *ctx, const struct emission *e)
{
    struct replay *r = ctx;

    if (r->setup->derived != NULL)
        r->setup->derived(r->setup->ctx, e);
    pending_add(&r->pending, e);
}

static int
add_skip(struct replay *r, const struct record *record, struct err *err)
{
    uint64_t arrival = record->number;
    struct skips *s = map_get(&r->skips, &arrival, sizeof arrival);

    if (s == NULL) {
        s = calloc(1, sizeof *s);
        if (s == NULL || map_put(&r->skips, &arrival, sizeof arrival, s) != 0) {
            free(s);
            return err_set(err, ERR_MEMORY, "replay: out of memory");
        }
    }
    for (size_t i = 0; i < record->len && record->payload[i] != ' '; i++) {
        s->tuner = s->tuner || record->payload[i] == 't';
        s->assessor = s->assessor || record->payload[i] == 'a';
        s->closes = s->closes || record->payload[i] == 'o';
    }
    return 0;
}

static int
first_walk(struct replay *r, struct err *err)
{
    struct record record;
    enum logfile_status status;

    while ((status = logfile_next(r->file, &record, err)) == LOGFILE_RECORD) {
        if (record.kind == RECORD_SKIPPED && add_skip(r, &record, err) != 0)
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

static const char *
sender_name(enum sender sender)
{
    switch (sender) {
    case SENDER_DEFAULT:
        return "tuner";
    case SENDER_ASSESSOR:
        return "assessor";
    case SENDER_ROUTER:
        break;
    }
    return "router";
}

#define SHOWN 300 /* bytes of a frame in an error */
#define BEFORE 60 /* of them, in front of the first difference */

/* Where the payloads begin to differ, less some bytes to recognise it by; 0
 * when all of both can be shown, or there is only one. */
static size_t
show_from(const struct emission *a, const struct emission *b)
{
    size_t i = 0;

    if (a == NULL || b == NULL || (a->len < SHOWN && b->len < SHOWN))
        return 0;
    while (i < a->len && i < b->len && a->payload[i] == b->payload[i])
        i++;
    return i < SHOWN - BEFORE ? 0 : i - BEFORE;
}

static void
show(const struct emission *e, size_t from, char text[SHOWN + 16])
{
    size_t len;

    if (e == NULL) {
        memcpy(text, "nothing", sizeof "nothing");
        return;
    }
    len = e->len - from < SHOWN ? e->len - from : SHOWN;
    snprintf(text, SHOWN + 16, "%s%s%.*s", command_info(e->code)->code,
             from > 0 ? "..." : "", (int)len, len > 0 ? e->payload + from : "");
}

static int
differ(const struct replay *r, const struct emission *recorded,
       const struct emission *derived, struct err *err)
{
    const struct emission *e = recorded != NULL ? recorded : derived;
    size_t from = show_from(recorded, derived);
    char was[SHOWN + 16], is[SHOWN + 16];

    show(recorded, from, was);
    show(derived, from, is);
    return err_set(err, ERR_INPUT,
                   "%s: offset %" PRIu64 ", command %" PRIu64
                   ", %s: recorded %s, replay gives %s",
                   r->setup->path, logfile_offset(r->file), e->cause,
                   sender_name(e->sender), was, is);
}

static bool
same(const struct emission *a, const struct emission *b)
{
    return a->code == b->code && a->len == b->len &&
           (a->len == 0 || memcmp(a->payload, b->payload, a->len) == 0);
}

/* Frames of this cause and sender cannot be derived. */
static bool
is_uncompared(const struct replay *r, const struct emission *e)
{
    const struct skips *s = map_get(&r->skips, &e->cause, sizeof e->cause);

    if (e->sender == SENDER_ROUTER)
        return true;
    if (s == NULL)
        return false;
    return e->sender == SENDER_DEFAULT ? s->tuner : s->assessor;
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
    if (d == NULL || !same(recorded, &d->emission)) {
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

/* A failure that ended the recorded session ends this side here, too. */
static void
handle_default(struct replay *r, const struct command *cmd,
               const struct skips *s)
{
    if (s != NULL && s->closes && r->session->tuning != NULL)
        tuning_close(r->session->tuning);
    if ((s != NULL && s->tuner) || r->tuner_failed)
        return;
    if (r->session->tuning == NULL)
        proxy_command(r->session->proxies[SENDER_DEFAULT], cmd, NULL);
    else if (tuning_handle(r->session->tuning, cmd, NULL) != 0)
        r->tuner_failed = true;
}

static void
handle_assessor(struct replay *r, const struct command *cmd,
                const struct skips *s)
{
    struct err err;

    if ((s != NULL && s->assessor) || r->assessor_failed)
        return;
    if (r->session->assessing == NULL)
        proxy_command(r->session->proxies[SENDER_ASSESSOR], cmd, &err);
    else if (assessing_handle(r->session->assessing, cmd, &err) != 0)
        r->assessor_failed = true;
}

static void
handle_chain(struct replay *r, struct chain *chain, const struct skips *s,
             void (*handle)(struct replay *, const struct command *,
                            const struct skips *))
{
    struct command *next;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        handle(r, cmd, s);
        command_free(cmd);
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
    static const char gone[] = "gone ", late[] = "late ";
    const size_t word = sizeof gone - 1;
    struct proxy *proxy = proxy_of(r, side, err);
    bool is_gone, is_late;
    char how[ERR_TEXT_MAX];

    if (proxy == NULL)
        return -1;
    is_gone = record->len >= word && memcmp(record->payload, gone, word) == 0;
    is_late = record->len >= word && memcmp(record->payload, late, word) == 0;
    if (!is_gone && !is_late)
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64 ": expected 'late' or 'gone'",
                       r->setup->path, logfile_offset(r->file));
    snprintf(how, sizeof how, "%.*s",
             (int)(record->len - word < sizeof how ? record->len - word
                                                   : sizeof how - 1),
             record->payload + word);
    proxy_event(proxy, record->number, is_gone ? PROXY_GONE : PROXY_LATE, how,
                NULL);
    return 0;
}

static int
take_inbound(struct replay *r, const struct record *record, struct err *err)
{
    struct routed routed = {0};
    const struct skips *s;
    struct frame frame;

    if (read_frame(r, record, &frame, err) != 0)
        return -1;
    r->report->commands++;
    router_frame(r->session->router, &frame, record->number, &routed);
    s = map_get(&r->skips, &record->number, sizeof record->number);
    handle_chain(r, &routed.by_default, s, handle_default);
    handle_chain(r, &routed.assessor, s, handle_assessor);
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
    case RECORD_HEAD:
    case RECORD_SKIPPED:
    case RECORD_SYNC:
    case RECORD_END:
        break;
    }
    return 0;
}

static int
second_walk(struct replay *r, struct err *err)
{
    struct record record;
    enum logfile_status status;

    while ((status = logfile_next(r->file, &record, err)) == LOGFILE_RECORD)
        if (take(r, &record, err) != 0)
            return -1;
    if (status == LOGFILE_DAMAGED)
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
    r->session = session_new(&setup, emitter, r->setup->log, err);
    if (r->session == NULL ||
        session_check_versions(r->session, json_root(r->head), err) != 0)
        return err_place(err, "%s", r->setup->path);
    session_listen(r->session, r->setup->explainer);
    return 0;
}

static void
end(struct replay *r)
{
    struct skips *s;
    size_t at = 0;

    while ((s = map_next(&r->skips, &at)) != NULL)
        free(s);
    map_fini(&r->skips);
    pending_fini(&r->pending);
    session_free(r->session);
    json_free(r->head);
    logfile_close(r->file);
}

int
replay_run(const struct replay_setup *setup, struct replay_report *report,
           struct err *err)
{
    struct replay r = {.setup = setup, .report = report};
    int rc = -1;

    *report = (struct replay_report){0};
    if (begin(&r, err) == 0 && first_walk(&r, err) == 0)
        rc = second_walk(&r, err);
    end(&r);
    return rc;
}
