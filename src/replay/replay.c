/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A first walk over the log collects the skipped records, because they stand
 * behind the commands they speak of.  The second walk handles each inbound
 * record at once, on both sides; what the handlers emit waits in `pending`
 * until the log's outbound records of that cause and sender come by.
 *
 * A snapshot with all of its parts stands for every segment before it: the
 * walk begins behind it.  One that lacks a side, whose plugin cannot be saved,
 * spares the other side its calls: the walk begins at the front, and the side
 * that was restored passes over what it had handled.  One that is damaged, or
 * whose plugin does not take it, is none. */
#include "replay/replay.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/log.h"
#include "core/pack.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/queue.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "dispatcher/side.h"
#include "frame.h"
#include "log/lock.h"
#include "log/log.h"
#include "log/snapshot.h"
#include "replay/difference.h"
#include "replay/skips.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay {
    const struct replay_setup *setup;
    struct replay_report *report;
    struct log_reader *file;
    struct json *head;
    uint32_t head_sum; /* snapshot_head() of the log's head */
    struct session *session;
    struct pending pending;
    /* Recorded frames of commands that are not handled yet. */
    struct pending early;
    struct buf text; /* scratch: of the recorded frame in hand */
    struct skips skips;
    struct session_setup session_setup;
    uint64_t have[3]; /* by sender: the input behind which a snapshot had the
                         side's state; 0: none had */
    uint64_t upto[3]; /* by sender: the segment up to which a snapshot had it */
    uint64_t passed; /* segment of an outdated snapshot that was passed over; 0:
                        none was */
    bool outdated;   /* the snapshot in use turned out to be outdated */
    /* By sender: commands that the log's end leaves unhandled. */
    struct chain left[2];
    /* By sender: commands behind a failure that ended the side, which no record
     * says to be left. */
    struct chain lost[2];
    uint64_t last_cause[3]; /* by sender */
    bool failed[2];         /* by sender: a failure has ended that side */
    bool reached;           /* the last input that is to be handled was */
    struct err difference; /* of a frame recorded early from the derived one; or
                              none */
};

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

/* ---- the session, new or as a snapshot has it ---- */

static const enum sender sides[] = {SENDER_ROUTER, SENDER_DEFAULT,
                                    SENDER_ASSESSOR};

#define SIDES (sizeof sides / sizeof *sides)

static const struct log *
listener(const struct replay *r)
{
    return r->setup->say != NULL ? r->setup->say : r->setup->log;
}

/* Whether the snapshot in use already has the effect of this input on that
 * side. */
static bool
stands_for(const struct replay *r, uint64_t arrival, enum sender side)
{
    return arrival <= r->have[side];
}

/* Notes that a record in that segment bars the calls of this input: a snapshot
 * that was taken before it has their effect all the same, and is outdated. */
static void
note_barred(struct replay *r, uint64_t arrival, enum sender side,
            uint64_t segment)
{
    if (r->outdated || !stands_for(r, arrival, side) ||
        segment <= r->upto[side])
        return;
    log_warning(listener(r),
                "the snapshot behind segment %" PRIu64
                " is not used: command %" PRIu64
                ", which lies before it, is skipped since",
                r->upto[side], arrival);
    r->outdated = true;
    r->passed = r->upto[side];
}

static int
new_session(struct replay *r, struct err *err)
{
    session_free(r->session);
    memset(r->have, 0, sizeof r->have);
    memset(r->upto, 0, sizeof r->upto);
    r->session = session_new(&r->session_setup, (struct emitter){collect, r},
                             r->setup->log, err);
    return r->session == NULL ? -1 : 0;
}

static int
load_side(struct replay *r, const struct snapshot *s, enum sender side,
          struct err *err)
{
    struct unpack in = unpack_from(s->parts[side].data, s->parts[side].len);
    bool has_slot = r->setup->slots != NULL && side != SENDER_ROUTER;
    int rc;

    if (has_slot)
        lockslot_set(r->setup->slots[side], LOCKFILE_LOADING);
    rc = session_load(r->session, side, &in, err);
    if (has_slot)
        lockslot_set(r->setup->slots[side], 0);
    if (rc != 0)
        return -1;
    r->have[side] = s->arrival;
    r->upto[side] = s->segment;
    return 0;
}

/* Loads the parts of a snapshot.  Where one of the sides lacks a part and has
 * to be replayed, the router begins at the front, too. */
static int
load_snapshot(struct replay *r, const struct snapshot *s, struct err *err)
{
    bool whole = snapshot_is_whole(s);

    for (size_t i = 0; i < SIDES; i++) {
        if (!s->has[sides[i]] || (sides[i] == SENDER_ROUTER && !whole))
            continue;
        if (load_side(r, s, sides[i], err) != 0)
            return -1;
    }
    if (!whole)
        return 0;
    if (log_start_at(r->file, s->segment + 1, err) != 0)
        return -1;
    r->report->restored = r->report->last = s->arrival;
    r->report->commands = router_frames(r->session->router);
    return 0;
}

/* Tries to use a snapshot that is whole, or is not.  1: it is in use; 0: it is
 * of no use, and the session is new; -1: err tells. */
static int
try_snapshot(struct replay *r, const char *folder, uint64_t segment, bool whole,
             struct err *err)
{
    uint64_t first = log_first_segment(r->file);
    bool is_told = !whole; /* of what none is, when whole ones were tried */
    struct snapshot s;
    struct err why;
    int rc = 1;

    snapshot_init(&s);
    if (snapshot_read(&s, folder, segment, &why) != 0) {
        rc = 0;
    } else if (s.head != r->head_sum) {
        rc = 0;
        err_set(&why, ERR_LOG, "it is of another log");
    } else if (snapshot_is_whole(&s) != whole) {
        rc = 0;
        is_told = true;
    } else if (!whole && first > 1) {
        rc = 0;
        is_told = false;
        err_set(&why, ERR_LOG, "it has not all sides");
    } else if (load_snapshot(r, &s, &why) != 0) {
        rc = new_session(r, err);
        is_told = false;
    }
    if (rc == 0 && !is_told)
        log_warning(listener(r),
                    "the snapshot behind segment %" PRIu64 " is not used: %s",
                    segment, why.text);
    snapshot_fini(&s);
    return rc;
}

/* Whether that snapshot is older than those that were tried. */
static bool
is_next(const struct replay *r, uint64_t segment)
{
    if (r->passed == 0)
        return true;
    return r->setup->from_snapshot ? segment < r->passed : segment > r->passed;
}

/* Whole ones first: a later one that lacks a side has that replayed from the
 * front. */
static int
try_all(struct replay *r, const char *folder, bool whole, struct err *err)
{
    uint64_t first = log_first_segment(r->file);
    uint64_t *there;
    size_t n;
    int rc = 0;

    if (snapshot_list(folder, &there, &n, err) != 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        uint64_t segment = there[r->setup->from_snapshot ? n - 1 - i : i];

        if (segment + 1 >= first && is_next(r, segment) &&
            segment < log_last_segment(r->file))
            rc = try_snapshot(r, folder, segment, whole, err);
    }
    free(there);
    return rc;
}

/* Refuses an `until` in front of the first input that is on record. */
static int
check_until(const struct replay *r, struct err *err)
{
    uint64_t until = r->setup->until, restored = r->report->restored;

    if (until == 0 || until >= restored)
        return 0;
    return err_set(err, ERR_USAGE,
                   "commands 1 to %" PRIu64 " are not on record any more, "
                   "only the state behind them: expected %" PRIu64
                   " or later, not %" PRIu64,
                   restored, restored, until);
}

/* Makes the session, with the state of a snapshot where one is to be used. -1:
 * err tells. */
static int
restore(struct replay *r, struct err *err)
{
    uint64_t first = log_first_segment(r->file);
    char *folder;
    int rc;

    if (new_session(r, err) != 0)
        return -1;
    if (first == 1 && !r->setup->from_snapshot)
        return 0;
    folder = file_folder(r->setup->path);
    if (folder == NULL)
        return err_set(err, ERR_MEMORY, "replay: out of memory");
    rc = try_all(r, folder, true, err);
    if (rc == 0)
        rc = try_all(r, folder, false, err);
    free(folder);
    if (rc < 0)
        return -1;
    if (rc == 0 && log_lacks(r->file, err))
        return err_place(err, "no snapshot stands for what is missing");
    return check_until(r, err);
}

/* ---- what a record does to the session ---- */

/* What skipped records say of that half of the command; NULL: nothing. */
static struct skip *
skip_of(const struct replay *r, uint64_t cause, enum sender sender)
{
    struct skips_of *of = skips_find(&r->skips, cause);

    return of == NULL ? NULL : &of->half[sender];
}

static int
call(struct replay *r, enum sender sender, const struct command *cmd,
     bool barred)
{
    struct side *side = r->session->sides[sender];
    struct err err;
    int rc;

    side_bar(side, barred);
    rc = side_command(side, cmd, &err);
    side_bar(side, false);
    return rc;
}

/* Handles a command.  A failure that ended the recorded session ends this side
 * here, too. */
static void
handle_command(struct replay *r, enum sender side, const struct command *cmd)
{
    const struct skip *s = skip_of(r, cmd->arrival, side);
    bool barred = s != NULL && s->barred;
    int rc;

    if ((s != NULL && s->dropped) || r->failed[side] ||
        stands_for(r, cmd->arrival, side))
        return;
    if (r->setup->slots != NULL)
        lockslot_set(r->setup->slots[side], cmd->arrival);
    rc = call(r, side, cmd, barred);
    if (r->setup->slots != NULL)
        lockslot_set(r->setup->slots[side], 0);
    r->failed[side] = rc != 0;
}

/* Whether no record says what became of that half of the command. */
static bool
is_unskipped(const struct skip *s)
{
    return s == NULL || (!s->dropped && !s->barred && s->left == 0);
}

/* Handles the commands and frees them, or keeps those that the log's end leaves
 * or that the dispatcher's death lost. */
static void
handle_chain(struct replay *r, enum sender side, struct chain *chain)
{
    struct command *cmd;

    while ((cmd = chain_take(chain)) != NULL) {
        const struct skip *s = skip_of(r, cmd->arrival, side);

        if (s != NULL && s->left > 0 && !stands_for(r, cmd->arrival, side)) {
            chain_add(&r->left[side], cmd);
            continue;
        }
        if (r->failed[side] && is_unskipped(s) &&
            !stands_for(r, cmd->arrival, side)) {
            chain_add(&r->lost[side], cmd);
            continue;
        }
        handle_command(r, side, cmd);
        command_free(cmd);
    }
}

static void
close_requests(struct replay *r, uint64_t arrival)
{
    if (!stands_for(r, arrival, SENDER_DEFAULT))
        side_close(r->session->sides[SENDER_DEFAULT]);
}

/* Takes a record of the session's end, which may void what is owed; it may
 * stand right behind a snapshot, with no input in between. */
static void
take_end(struct replay *r, const struct record *record)
{
    static const char *const voids[] = {"terminated", "signalled"};

    for (size_t i = 0; i < sizeof voids / sizeof *voids; i++)
        if (strlen(voids[i]) == record->len &&
            memcmp(voids[i], record->payload, record->len) == 0 &&
            log_segment(r->file) > r->upto[SENDER_DEFAULT])
            side_close(r->session->sides[SENDER_DEFAULT]);
}

/* Takes a record of a resumption: handles first the commands that the end left,
 * up to one that fails; then what arrives is handled, whatever failed. */
static void
take_resumed(struct replay *r)
{
    session_undo_end(r->session);
    for (int side = 0; side < 2; side++) {
        struct chain left = r->left[side];

        r->failed[side] = false;
        r->left[side] = (struct chain){0};
        for (struct command *cmd = left.first; cmd != NULL; cmd = cmd->next)
            skip_of(r, cmd->arrival, side)->left--;
        handle_chain(r, side, &left);
        r->failed[side] = false;
        chain_clear(&r->lost[side]); /* nobody handled them */
    }
}

static int
read_frame(const struct replay *r, const struct record *record,
           struct frame *frame, struct err *err)
{
    *frame = (struct frame){.offset = log_offset(r->file)};
    if (record->len < 2)
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64 ": expected a command's code",
                       log_path_now(r->file), log_offset(r->file));
    memcpy(frame->code, record->payload, 2);
    frame->payload = record->payload + 2;
    frame->len = record->len - 2;
    return 0;
}

/* The side whose program the record is about. */
static struct side *
program_side(const struct replay *r, enum sender sender, struct err *err)
{
    struct side *side = r->session->sides[sender];

    if (side_proxy(side) != NULL)
        return side;
    err_set(err, ERR_LOG,
            "%s: offset %" PRIu64 ": a record of a program, but the head "
            "record names none",
            log_path_now(r->file), log_offset(r->file));
    return NULL;
}

/* Takes a frame or an event of a program.  The proxy remembers what ends its
 * side. */
static int
take_program(struct replay *r, const struct record *record, enum sender sender,
             struct err *err)
{
    struct side *side = program_side(r, sender, err);
    struct frame frame;

    if (side == NULL || read_frame(r, record, &frame, err) != 0)
        return -1;
    side_frame(side, record->number, &frame, NULL);
    return 0;
}

static int
take_event(struct replay *r, const struct record *record, enum sender sender,
           struct err *err)
{
    const char *space = memchr(record->payload, ' ', record->len);
    size_t word = space == NULL ? 0 : (size_t)(space - record->payload);
    struct side *side = program_side(r, sender, err);
    enum side_event event;
    char how[ERR_TEXT_MAX];

    if (side == NULL)
        return -1;
    if (!side_event_find(record->payload, word, &event))
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64
                       ": expected 'late', 'gone' or 'left'",
                       log_path_now(r->file), log_offset(r->file));
    snprintf(how, sizeof how, "%.*s", (int)(record->len - word - 1), space + 1);
    side_event(side, record->number, event, how, NULL);
    return 0;
}

static int
take_command(struct replay *r, const struct record *record, struct err *err)
{
    struct routed routed = {0};
    const struct skips_of *of;
    struct frame frame;

    if (read_frame(r, record, &frame, err) != 0)
        return -1;
    r->report->commands++;
    router_frame(r->session->router, &frame, record->number, &routed);
    of = skips_find(&r->skips, record->number);
    if (of != NULL && of->closes)
        close_requests(r, record->number);
    handle_chain(r, SENDER_DEFAULT, &routed.by_default);
    handle_chain(r, SENDER_ASSESSOR, &routed.assessor);
    if (r->pending.failed)
        return err_set(err, ERR_MEMORY, "replay: out of memory");
    return 0;
}

/* ---- the first walk ---- */

static int
bar(struct replay *r, struct err *err)
{
    for (size_t i = 0; i < r->setup->n_bars; i++) {
        const struct replay_bar *b = &r->setup->bars[i];

        if (skips_bar(&r->skips, b->arrival, b->side, err) != 0)
            return -1;
        note_barred(r, b->arrival, b->side, UINT64_MAX);
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
            note_barred(r, record->number, (enum sender)side,
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

/* Takes a recorded frame of a command whose calls are barred now, and that may
 * have answered anything before.  Suggestions in it are trials that the tuner
 * does not know. */
static void
take_barred(struct replay *r, const struct emission *e)
{
    const struct emission *d = pending_peek(&r->pending, e->cause, e->sender);

    if (d != NULL && difference_same(d, e)) {
        free(pending_take(&r->pending, e->cause, e->sender));
        return;
    }
    if (e->code == CMD_NEW_TRIAL)
        side_adopt(r->session->sides[e->sender], e->payload, e->len);
}

/* Whether a frame of this cause and sender cannot be derived, or not yet. */
static bool
is_uncompared(struct replay *r, const struct emission *e)
{
    const struct skip *s;

    if (e->sender == SENDER_ROUTER || stands_for(r, e->cause, e->sender))
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
        return take_command(r, record, err);
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
    case RECORD_SEGMENT:
        break;
    }
    return 0;
}

/* Says that the last input that is to be handled was. */
static int
reach_end(struct replay *r, struct err *err)
{
    bool first = !r->reached;

    r->reached = true;
    if (!first || r->setup->reached == NULL)
        return 0;
    return r->setup->reached(r->setup->ctx, r->session, err);
}

/* Takes the next record.  Behind `until` no input is handled; frames are still
 * compared. */
static int
take_record(struct replay *r, const struct record *record, struct err *err)
{
    uint64_t until = r->setup->until;

    if (until > 0 && record->number > until)
        return record_is_input(record->kind) ? reach_end(r, err) : 0;
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
        if (take_record(r, &record, err) != 0)
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
    if (reach_end(r, err) != 0)
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
    if (restore(r, err) != 0 ||
        session_check_versions(r->session, json_root(r->head), err) != 0)
        return err_place(err, "%s", r->setup->path);
    session_listen(r->session, r->setup->explainer);
    return 0;
}

static void
end(struct replay *r)
{
    for (int side = 0; side < 2; side++) {
        chain_clear(&r->left[side]);
        chain_clear(&r->lost[side]);
    }
    skips_fini(&r->skips);
    pending_fini(&r->pending);
    pending_fini(&r->early);
    session_free(r->session);
    buf_fini(&r->text);
    json_free(r->head);
    log_close(r->file);
}

/* Prepares the walk.  1: from a snapshot that is outdated; try again. */
static int
prepare_walk(struct replay *r, struct err *err)
{
    *r->report = (struct replay_report){0};
    buf_init(&r->text, SIZE_MAX / 2);
    if (begin(r, err) != 0 || bar(r, err) != 0 || first_walk(r, err) != 0)
        return -1;
    return r->outdated;
}

/* Handles the commands behind a failure that ended their side, which the
 * dispatcher did not live to record as left.  They are left from now on: the
 * caller, who goes on, records it. */
static int
take_lost(struct replay *r, struct chain lost[2], struct replay_rest *rest)
{
    for (int side = 0; side < 2; side++) {
        for (struct command *cmd = lost[side].first; cmd != NULL;
             cmd = cmd->next) {
            if (GROW(rest->lost, rest->n_lost, rest->lost_cap) != 0)
                return -1;
            rest->lost[rest->n_lost++] =
                (struct dispatcher_left){(enum sender)side, cmd->arrival};
        }
        handle_chain(r, (enum sender)side, &lost[side]);
        r->failed[side] = false;
        chain_clear(&r->lost[side]);
    }
    return 0;
}

/* Gives the session to the caller, who goes on with it. */
static int
hand_over(struct replay *r, struct replay_rest *rest, struct err *err)
{
    struct chain lost[2] = {r->lost[0], r->lost[1]};
    int rc;

    r->lost[0] = r->lost[1] = (struct chain){0};
    take_resumed(r);
    rc = take_lost(r, lost, rest);
    chain_clear(&lost[0]);
    chain_clear(&lost[1]);
    if (rc != 0 || r->pending.failed)
        return err_set(err, ERR_MEMORY, "replay: out of memory");
    rest->session = r->session;
    rest->head_sum = r->head_sum;
    rest->pending = r->pending;
    r->session = NULL;
    r->pending = (struct pending){0};
    return 0;
}

int
replay_run(const struct replay_setup *setup, struct replay_report *report,
           struct err *err)
{
    struct replay r = {.setup = setup, .report = report};
    int rc;

    while ((rc = prepare_walk(&r, err)) > 0) {
        uint64_t passed = r.passed;

        end(&r);
        r = (struct replay){.setup = setup, .report = report, .passed = passed};
    }
    if (rc == 0)
        rc = second_walk(&r, err);
    if (rc == 0 && setup->rest != NULL)
        rc = hand_over(&r, setup->rest, err);
    end(&r);
    return rc;
}
