/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A snapshot with all of its parts stands for every segment before it: the
 * walk begins behind it.  One that lacks a side, whose plugin cannot be saved,
 * spares the other side its calls: the walk begins at the front, and the side
 * that was restored passes over what it had handled.  One that is damaged, or
 * whose plugin does not take it, is none. */
#include "replay/replay_state.h"

#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "core/pack.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "log/lock.h"
#include "log/log.h"
#include "log/snapshot.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const enum sender sides[] = {SENDER_ROUTER, SENDER_DEFAULT,
                                    SENDER_ASSESSOR};

#define SIDES (sizeof sides / sizeof *sides)

static const struct log *
listener(const struct replay *r)
{
    return r->setup->say != NULL ? r->setup->say : r->setup->log;
}

void
replay_bar(struct replay *r, uint64_t arrival, enum sender side,
           uint64_t segment)
{
    if (r->outdated || !replay_has(r, arrival, side) ||
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

bool
replay_has(const struct replay *r, uint64_t arrival, enum sender side)
{
    return arrival <= r->have[side];
}

static int
new_session(struct replay *r, struct err *err)
{
    session_free(r->session);
    memset(r->have, 0, sizeof r->have);
    memset(r->upto, 0, sizeof r->upto);
    r->session =
        session_new(&r->session_setup, replay_emitter(r), r->setup->log, err);
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
        atomic_store(r->setup->slots[side], LOCKFILE_LOADING);
    rc = session_load(r->session, side, &in, err);
    if (has_slot)
        atomic_store(r->setup->slots[side], 0);
    if (rc != 0)
        return -1;
    if (!unpack_done(&in))
        return err_set(err, ERR_LOG, "it does not end where it should");
    r->have[side] = s->arrival;
    r->upto[side] = s->segment;
    return 0;
}

/* The router is at the front where a side is to be replayed. */
static int
load(struct replay *r, const struct snapshot *s, struct err *err)
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

/* 1: it is used; 0: it is of no use, and the session is new; -1: err. */
static int
try_one(struct replay *r, const char *folder, uint64_t segment, struct err *err)
{
    uint64_t first = log_first_segment(r->file);
    struct snapshot s;
    struct err why;
    int rc = 1;

    snapshot_init(&s);
    if (snapshot_read(&s, folder, segment, &why) != 0) {
        rc = 0;
    } else if (s.head != r->head_sum) {
        rc = 0;
        err_set(&why, ERR_LOG, "it is of another log");
    } else if (!snapshot_is_whole(&s) && first > 1) {
        rc = 0;
        err_set(&why, ERR_LOG, "it has not all sides");
    } else if (load(r, &s, &why) != 0) {
        rc = new_session(r, err);
    }
    if (rc == 0)
        log_warning(listener(r),
                    "the snapshot behind segment %" PRIu64 " is not used: %s",
                    segment, why.text);
    snapshot_fini(&s);
    return rc;
}

/* Those before it were tried. */
static bool
is_next(const struct replay *r, uint64_t segment)
{
    if (r->passed == 0)
        return true;
    return r->setup->from_snapshot ? segment < r->passed : segment > r->passed;
}

static int
try_all(struct replay *r, const char *folder, struct err *err)
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
            rc = try_one(r, folder, segment, err);
    }
    free(there);
    return rc;
}

/* What stood before it cannot be told. */
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

int
replay_restore(struct replay *r, struct err *err)
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
    rc = try_all(r, folder, err);
    free(folder);
    if (rc < 0)
        return -1;
    if (rc == 0 && log_lacks(r->file, err))
        return err_place(err, "no snapshot stands for what is missing");
    return check_until(r, err);
}
