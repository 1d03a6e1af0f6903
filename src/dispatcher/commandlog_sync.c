/* SPDX-License-Identifier: MIT */
#include "dispatcher/commandlog_state.h"

#include "core/clock.h"
#include "core/err.h"
#include "record.h"

#include <inttypes.h>
#include <stdio.h>

/* DESIGN
 *
 * A mark stands behind what it vouches for.  Under SYNC_ALWAYS, and at the
 * end, that is all before it.  Under SYNC_INTERVAL a thread syncs while others
 * are appended; its mark says how far it came. */

#define MS 1000000 /* nanoseconds */

int
commandlog_follow(struct commandlog *l, struct sync_policy policy,
                  const struct wake *wake, int64_t retry_ms, struct err *err)
{
    if (!l->on)
        return 0;
    l->policy = policy;
    l->retry_ns = retry_ms * MS;
    l->wake = policy.when == SYNC_NONE && l->chain.size == 0 ? NULL : wake;
    return logwriter_follow(l->writer, policy, l->wake, err);
}

/* Held is not enough: 0 or -1. */
static int
now(struct commandlog *l, enum commandlog_status status, struct err *err)
{
    char why[160];

    if (status == COMMANDLOG_HELD)
        return err_set(err, ERR_LOG, COMMANDLOG_NAME ": %s",
                       logwriter_trouble(l->writer, why, sizeof why));
    return status == COMMANDLOG_OK ? 0 : -1;
}

int
commandlog_sync(struct commandlog *l, struct err *err)
{
    if (!l->on || l->failed)
        return 0;
    if (now(l, commandlog_flush(l, err), err) != 0)
        return -1;
    if (!l->dirty)
        return 0;
    if (logwriter_sync(l->writer, err) != 0)
        return -1;
    if (l->marks == 0)
        commandlog_mark_ahead(l);
    if (now(l, commandlog_append(l, err), err) != 0)
        return -1;
    l->dirty = false;
    l->dirty_at_ns = 0;
    return 0;
}

int
commandlog_finish(struct commandlog *l, struct err *err)
{
    return l->failed ? -1 : commandlog_sync(l, err);
}

/* The thread has been so far; others wrote on meanwhile, so the mark says how
 * far.  A mark alone is nothing that must be synced. */
static int
mark_upto(struct commandlog *l, uint64_t upto, struct err *err)
{
    bool all = upto == logwriter_size(l->writer) && !l->held;
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, upto);

    record_encode(&l->pending, RECORD_SYNC, 0, commandlog_now_us(l), text,
                  (size_t)len);
    if (commandlog_append(l, err) == COMMANDLOG_FAILED)
        return -1;
    if (!all) {
        commandlog_note_dirty(l); /* what was held went with it */
    } else if (!l->held) {
        l->dirty = false;
        l->dirty_at_ns = 0;
    }
    return 0;
}

/* Tries what is held up once more when it is time to. */
static enum commandlog_status
retry(struct commandlog *l, int64_t now, struct err *err)
{
    char why[160];

    if (logwriter_trouble(l->writer, why, sizeof why) == NULL) {
        l->retry_at_ns = 0;
        return COMMANDLOG_OK;
    }
    if (l->retry_at_ns == 0)
        l->retry_at_ns = now + l->retry_ns;
    if (now < l->retry_at_ns)
        return COMMANDLOG_OK;
    l->retry_at_ns = now + l->retry_ns;
    logwriter_retry(l->writer);
    return commandlog_flush(l, err);
}

static bool
sync_is_due(const struct commandlog *l, int64_t now)
{
    return l->dirty_at_ns != 0 && !logwriter_asked(l->writer) &&
           now >= l->dirty_at_ns + l->policy.interval_ms * MS;
}

/* ---- for a snapshot ---- */

void
commandlog_hurry(struct commandlog *l)
{
    l->hurried = l->on ? logwriter_size(l->writer) : 0;
}

bool
commandlog_hurried(const struct commandlog *l)
{
    return !l->on ||
           logwriter_size(l->writer) - logwriter_unsynced(l->writer) >=
               l->hurried;
}

static bool
hurries(const struct commandlog *l)
{
    return !commandlog_hurried(l) && !logwriter_asked(l->writer) &&
           l->retry_at_ns == 0;
}

int
commandlog_tend(struct commandlog *l, struct err *err)
{
    uint64_t upto;
    int64_t now;
    int rc;

    if (!l->on)
        return 0;
    rc = logwriter_take(l->writer, &upto, err);
    if (rc < 0 || (rc > 0 && mark_upto(l, upto, err) != 0))
        return -1;
    now = clock_monotonic_ns();
    if (retry(l, now, err) == COMMANDLOG_FAILED)
        return -1;
    if (sync_is_due(l, now) || hurries(l)) {
        l->dirty_at_ns = 0;
        logwriter_ask(l->writer);
    }
    commandlog_prepare(l);
    return 0;
}

int64_t
commandlog_next_ns(const struct commandlog *l)
{
    int64_t sync_at = 0;

    if (hurries(l))
        return 1; /* at once */
    if (l->dirty_at_ns != 0 && !logwriter_asked(l->writer))
        sync_at = l->dirty_at_ns + l->policy.interval_ms * MS;
    if (l->retry_at_ns != 0 && (sync_at == 0 || l->retry_at_ns < sync_at))
        return l->retry_at_ns;
    return sync_at;
}

const char *
commandlog_trouble(const struct commandlog *l, char *out, size_t size)
{
    return l->on ? logwriter_trouble(l->writer, out, size) : NULL;
}
