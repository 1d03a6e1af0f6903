/* SPDX-License-Identifier: MIT */
#include "log/writer.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "frame.h"
#include "log/appendfile.h"
#include "log/io.h"
#include "log/log.h"
#include "log/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* DESIGN
 *
 * A log begins as an empty command.log, which its head replaces when it is on
 * stable storage.
 *
 * A sync mark stands behind what it vouches for.  Under SYNC_ALWAYS, and at the
 * end, that is all before it.  Under SYNC_INTERVAL a thread syncs while others
 * are appended; its mark says how far it came.
 *
 * The next segment is begun in steps:
 *
 *   command.log                    all of it is on stable storage
 *   command.log, command.log.new   the next segment's head, too
 *   command.log = command.3.log, command.log.new
 *   command.3.log, command.log     the folder is synced
 *
 * At any moment there is a command.log, and with the segments before it it is
 * the whole log.  A step that fails is undone, and the old one goes on. */

#define MS 1000000 /* nanoseconds */
/* so few bytes are synced by the main thread itself */
#define NEAR ((uint64_t)256 << 10)
#define PENDING_MAX ((size_t)1 << 30)

struct logwriter {
    bool on;
    const struct logio *io;
    char *folder;
    struct loglock lock;
    struct appendfile *file; /* command.log */

    /* records that go into the file in one append */
    struct buf pending;
    int64_t time_us; /* the time of every record in `pending` */
    /* Bytes at the front of `pending` that are a sync mark alone. */
    size_t marks;
    bool held;   /* `pending` could not be appended, and is tried again */
    bool failed; /* nothing will ever be appended again */

    /* how it goes to stable storage */
    struct sync_policy policy;
    const struct wake *wake;
    bool dirty; /* something stands behind the last sync mark */
    /* Up to that offset somebody waits for it to be durable. */
    uint64_t hurried;
    int64_t retry_ns;    /* between two tries of what failed */
    int64_t dirty_at_ns; /* since when a sync is needed and not begun; 0: none
                            is needed */
    int64_t retry_at_ns; /* when to try again; 0: nothing failed */

    /* its segments */
    uint64_t segment; /* the number that command.log will get */
    struct buf head;  /* payload of the head with which each segment begins;
                         empty: not known */
    int64_t head_us;  /* the time of the head record */
    uint64_t begin;   /* length of command.log when it was begun */
    /* command.log is long enough when it has the largest of these lengths */
    uint64_t size;  /* as configured; 0: it never is long enough */
    uint64_t least; /* as long as a snapshot */
    /* When a rotation failed: to be tried again from there on. */
    uint64_t retry;
    bool presynced; /* the thread was asked to sync most of it, as it is long
                       enough */
};

/* ---- opening and closing ---- */

/* Renames a void log to command.log.void; others stay.  The caller has the
 * lock. */
static int
set_void_aside(const char *folder, struct err *err)
{
    char *path, *away;
    int rc = 0;

    if (!log_is_void(folder))
        return 0;
    path = file_join(folder, LOG_NAME);
    away = file_join(folder, LOG_NAME ".void");
    if (path == NULL || away == NULL)
        rc = err_set(err, ERR_MEMORY, "command log: out of memory");
    else if (rename(path, away) != 0)
        rc = err_errno(err, ERR_LOG, "%s: cannot be set aside", path);
    free(path);
    free(away);
    return rc;
}

/* Opens the lock file before the log; the lock's content, which may tell of a
 * crash, stays until it is known that the log is new. */
static int
open_both(struct logwriter *w, const char *folder,
          struct appendfile *(*open_it)(const char *, const struct logio *,
                                        struct err *),
          struct err *err)
{
    char *lock = file_join(folder, LOCKFILE_NAME);
    char *log = file_join(folder, LOG_NAME);
    int rc;

    if (lock == NULL || log == NULL)
        rc = err_set(err, ERR_MEMORY, "command log: out of memory");
    else
        rc = loglock_take(&w->lock, lock, err) != 0 ||
                     (open_it == appendfile_create &&
                      set_void_aside(folder, err) != 0) ||
                     (w->file = open_it(log, w->io, err)) == NULL ||
                     loglock_map(&w->lock, lock, err) != 0
                 ? -1
                 : 0;
    free(lock);
    free(log);
    return rc;
}

static int
make_folder(const char *folder, struct err *err)
{
    int rc = file_make_folder(folder, err);

    if (rc != 0 && err != NULL)
        err->code = ERR_LOG;
    return rc;
}

/* Syncs the folder, so that the entry of command.log, too, survives a loss of
 * power. */
static int
sync_folder(const struct logwriter *w, struct err *err)
{
    errno = logio_sync_folder(w->io, w->folder);
    if (errno == 0)
        return 0;
    return err_errno(err, ERR_LOG, LOG_NAME ": cannot sync its folder");
}

static void
remove_log(const char *folder)
{
    char *log = file_join(folder, LOG_NAME);

    if (log != NULL)
        unlink(log);
    free(log);
}

/* Remembers the head with which later segments will begin. */
static int
know_head(struct logwriter *w, const char *head, size_t len, int64_t time_us,
          struct err *err)
{
    buf_add(&w->head, head, len);
    w->head_us = time_us;
    return buf_check(&w->head, "command log: head", err);
}

/* Writes version line and head, whole and durable. */
static int
begin(struct logwriter *w, const char *head, size_t head_len, struct err *err)
{
    int64_t now = clock_realtime_ns() / 1000;

    record_write_version(&w->pending);
    record_encode(&w->pending, RECORD_HEAD, 0, now, head, head_len);
    w->begin = w->pending.len;
    if (know_head(w, head, head_len, now, err) != 0)
        return -1;
    return logwriter_finish(w, err);
}

/* Begins under another name in the place of an empty command.log, which is
 * void: a power cut leaves either, and no head that is not durable. */
static int
begin_apart(struct logwriter *w, const char *head, size_t head_len,
            struct err *err)
{
    char *log = file_join(w->folder, LOG_NAME);
    char *fresh = file_join(w->folder, LOG_NAME ".new");
    int rc = -1;

    if (log == NULL || fresh == NULL) {
        err_set(err, ERR_MEMORY, "command log: out of memory");
    } else {
        w->io->unlink(fresh);
        appendfile_close(w->file);
        w->file = appendfile_create(fresh, w->io, err);
        if (w->file != NULL && begin(w, head, head_len, err) == 0)
            rc = w->io->rename(fresh, log) == 0
                     ? 0
                     : err_errno(err, ERR_LOG, "%s: cannot replace it", log);
        if (rc != 0)
            unlink(fresh);
    }
    free(log);
    free(fresh);
    return rc;
}

/* A writer whose files are not open yet. */
static struct logwriter *
new_log(const char *folder, const struct logio *io, struct err *err)
{
    struct logwriter *w = calloc(1, sizeof *w);

    if (w == NULL)
        err_set(err, ERR_MEMORY, "command log: out of memory");
    else if (folder != NULL && (w->folder = log_place(folder, err)) == NULL) {
        free(w);
        w = NULL;
    }
    if (w == NULL)
        return NULL;
    loglock_init(&w->lock);
    w->on = folder != NULL;
    w->io = io != NULL ? io : &logio_system;
    w->policy.when = SYNC_NONE;
    w->segment = 1;
    buf_init(&w->pending, PENDING_MAX);
    buf_init(&w->head, PENDING_MAX);
    return w;
}

/* Fails where the folder has old segments, which alone are a log, too. */
static int
expect_none(const char *folder, struct err *err)
{
    char *path = segments_any(folder);

    if (path == NULL)
        return 0;
    err_set(err, ERR_LOG,
            "%s: of a log whose " LOG_NAME " is missing, expected a "
            "folder without a log",
            path);
    free(path);
    return -1;
}

struct logwriter *
logwriter_create(const char *folder, const char *head, size_t head_len,
                 const struct logio *io, struct err *err)
{
    struct logwriter *w = new_log(folder, io, err);
    bool opened, made;

    if (w == NULL || folder == NULL)
        return w;
    opened = make_folder(w->folder, err) == 0 &&
             open_both(w, w->folder, appendfile_create, err) == 0;
    made = w->file != NULL;
    if (opened && expect_none(w->folder, err) == 0 &&
        begin_apart(w, head, head_len, err) == 0 && sync_folder(w, err) == 0)
        return w;
    if (made)
        remove_log(w->folder); /* we have made it, and it was not begun */
    logwriter_free(w);
    return NULL;
}

/* Learns from its head which segment command.log is.  A damaged head is for its
 * readers to tell. */
static int
know_segment(struct logwriter *w, struct err *err)
{
    char *path = file_join(w->folder, LOG_NAME);
    struct segment_head h;
    struct buf bytes;
    int rc = 0;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "command log: out of memory");
    buf_init(&bytes, SEGMENT_HEAD_MAX);
    if (segment_head_load(path, SEGMENT_PLAIN, &bytes, &h, NULL) == 1) {
        w->segment = h.number;
        w->begin = h.size;
        if (h.head.size > 0)
            rc = know_head(w, h.head.payload, h.head.len, h.head.time_us, err);
    }
    buf_fini(&bytes);
    free(path);
    return rc;
}

struct logwriter *
logwriter_reopen(const char *folder, const struct logio *io,
                 uint64_t slots[LOCKFILE_SLOTS], struct err *err)
{
    struct logwriter *w = new_log(folder, io, err);

    if (w == NULL)
        return NULL;
    if (open_both(w, w->folder, appendfile_open, err) != 0 ||
        segments_mend(w->folder, err) != 0 || know_segment(w, err) != 0) {
        logwriter_free(w);
        return NULL;
    }
    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        slots[i] = w->lock.before.slots[i];
    return w;
}

int
logwriter_cut(struct logwriter *w, uint64_t torn, struct err *err)
{
    if (appendfile_cut(w->file, appendfile_size(w->file) - torn, err) != 0)
        return -1;
    /* Its writer may have gone before it synced the head; what stands behind
     * that vouches for it, under any policy. */
    return appendfile_sync(w->file, err);
}

void
logwriter_free(struct logwriter *w)
{
    if (w == NULL)
        return;
    appendfile_close(w->file);
    loglock_release(&w->lock);
    buf_fini(&w->pending);
    buf_fini(&w->head);
    free(w->folder);
    free(w);
}

/* ---- collecting ---- */

/* The time of a new record: one for all records of one append. */
static int64_t
now_us(struct logwriter *w)
{
    if (w->pending.len == w->marks)
        w->time_us = clock_realtime_ns() / 1000;
    return w->time_us;
}

void
logwriter_frame(struct logwriter *w, enum record_kind kind, uint64_t number,
                const struct frame *frame)
{
    if (w->on)
        record_encode2(&w->pending, kind, number, now_us(w), frame->code, 2,
                       frame->payload, frame->len);
}

void
logwriter_add(struct logwriter *w, enum record_kind kind, uint64_t number,
              const void *payload, size_t len)
{
    if (w->on)
        record_encode(&w->pending, kind, number, now_us(w), payload, len);
}

void
logwriter_text(struct logwriter *w, enum record_kind kind, uint64_t number,
               const char *text)
{
    logwriter_add(w, kind, number, text, strlen(text));
}

/* ---- appending ---- */

/* Notes that something stands behind the last mark that must be synced. */
static void
note_dirty(struct logwriter *w)
{
    w->dirty = true;
    if (w->dirty_at_ns == 0 && w->policy.when == SYNC_INTERVAL)
        w->dirty_at_ns = clock_monotonic_ns();
}

/* Puts a mark for what was just made durable in front of what comes next. */
static void
mark_ahead(struct logwriter *w)
{
    record_encode(&w->pending, RECORD_SYNC, 0, now_us(w), "", 0);
    w->marks = w->pending.len;
}

/* Appends `pending`, be it a mark alone. */
static enum logwriter_status
append(struct logwriter *w, struct err *err)
{
    enum appendfile_status status;

    if (buf_check(&w->pending, "command log", err) != 0)
        return LOGWRITER_FAILED;
    status = appendfile_append(w->file, w->pending.data, w->pending.len, err);
    w->failed = status == APPENDFILE_FAILED;
    if (w->failed)
        buf_clear(&w->pending);
    w->held = status == APPENDFILE_HELD;
    if (w->held && w->retry_at_ns == 0)
        w->retry_at_ns = clock_monotonic_ns() + w->retry_ns;
    if (status != APPENDFILE_OK)
        return w->held ? LOGWRITER_HELD : LOGWRITER_FAILED;
    buf_clear(&w->pending);
    w->marks = 0;
    return LOGWRITER_OK;
}

enum logwriter_status
logwriter_flush(struct logwriter *w, struct err *err)
{
    enum logwriter_status status;

    if (!w->on || (w->pending.len == w->marks && !w->pending.failed))
        return LOGWRITER_OK;
    status = append(w, err);
    if (status != LOGWRITER_OK)
        return status;
    note_dirty(w);
    if (w->policy.when == SYNC_ALWAYS)
        mark_ahead(w);
    return LOGWRITER_OK;
}

bool
logwriter_held(const struct logwriter *w)
{
    return w->held;
}

void
logwriter_take_back(struct logwriter *w)
{
    buf_clear(&w->pending);
    w->marks = 0;
    w->held = false;
}

const char *
logwriter_folder(const struct logwriter *w)
{
    return w->folder;
}

struct loglock *
logwriter_lock(struct logwriter *w)
{
    return &w->lock;
}

const struct lockslot *
logwriter_slot(const struct logwriter *w, int worker)
{
    return &w->lock.slots[worker];
}

/* ---- when a segment is long enough ---- */

void
logwriter_set_segments(struct logwriter *w, uint64_t size)
{
    w->size = size;
}

bool
logwriter_has_segments(const struct logwriter *w)
{
    return w->size > 0;
}

void
logwriter_grow_limit(struct logwriter *w, uint64_t at_least)
{
    w->least = at_least;
}

uint64_t
logwriter_segment(const struct logwriter *w)
{
    return w->segment;
}

static uint64_t
limit(const struct logwriter *w)
{
    uint64_t most = w->size > w->least ? w->size : w->least;

    return most > w->retry ? most : w->retry;
}

/* Whether command.log is long enough, and another segment can be begun. */
static bool
is_long(const struct logwriter *w)
{
    uint64_t size = w->on ? appendfile_size(w->file) : 0;

    return w->on && !w->failed && w->size > 0 && w->head.len > 0 &&
           size >= limit(w) && size >= 2 * w->begin;
}

bool
logwriter_is_overlong(const struct logwriter *w)
{
    return is_long(w) && appendfile_size(w->file) / 2 >= limit(w);
}

static bool
needs_thread(const struct logwriter *w)
{
    return !w->presynced && appendfile_has_thread(w->file) &&
           appendfile_unsynced(w->file) > NEAR;
}

/* Has the thread sync most of a segment that is long enough. */
static void
presync(struct logwriter *w)
{
    if (!is_long(w) || !needs_thread(w) || appendfile_is_syncing(w->file))
        return;
    w->presynced = true;
    appendfile_sync_begin(w->file);
}

bool
logwriter_rotation_due(const struct logwriter *w)
{
    char why[160];

    return is_long(w) && !w->held && w->pending.len == w->marks &&
           !appendfile_is_syncing(w->file) && !needs_thread(w) &&
           appendfile_trouble(w->file, why, sizeof why) == NULL;
}

/* ---- stable storage ---- */

int
logwriter_follow(struct logwriter *w, struct sync_policy policy,
                 const struct wake *wake, int64_t retry_ms, struct err *err)
{
    if (!w->on)
        return 0;
    w->policy = policy;
    w->retry_ns = retry_ms * MS;
    w->wake = policy.when == SYNC_NONE && w->size == 0 ? NULL : wake;
    return appendfile_follow(w->file, policy, w->wake, err);
}

/* Makes a held append a failure, for a caller that cannot wait: -1. */
static int
now(struct logwriter *w, enum logwriter_status status, struct err *err)
{
    char why[160];

    if (status == LOGWRITER_HELD)
        return err_set(err, ERR_LOG, LOG_NAME ": %s",
                       appendfile_trouble(w->file, why, sizeof why));
    return status == LOGWRITER_OK ? 0 : -1;
}

int
logwriter_sync(struct logwriter *w, struct err *err)
{
    if (!w->on || w->failed)
        return 0;
    if (now(w, logwriter_flush(w, err), err) != 0)
        return -1;
    if (!w->dirty)
        return 0;
    if (appendfile_sync(w->file, err) != 0)
        return -1;
    if (w->marks == 0)
        mark_ahead(w);
    if (now(w, append(w, err), err) != 0)
        return -1;
    w->dirty = false;
    w->dirty_at_ns = 0;
    return 0;
}

int
logwriter_finish(struct logwriter *w, struct err *err)
{
    return w->failed ? -1 : logwriter_sync(w, err);
}

/* Adds a mark when the thread has synced the log up to `upto`.  Records were
 * appended meanwhile, so the mark says how far it came; a mark alone is nothing
 * that must be synced. */
static int
mark_upto(struct logwriter *w, uint64_t upto, struct err *err)
{
    bool all = upto == appendfile_size(w->file) && !w->held;
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, upto);

    record_encode(&w->pending, RECORD_SYNC, 0, now_us(w), text, (size_t)len);
    if (append(w, err) == LOGWRITER_FAILED)
        return -1;
    if (!all) {
        note_dirty(w); /* what was held went with the mark */
    } else if (!w->held) {
        w->dirty = false;
        w->dirty_at_ns = 0;
    }
    return 0;
}

/* Tries again what failed, when it is time to. */
static enum logwriter_status
retry(struct logwriter *w, int64_t now, struct err *err)
{
    char why[160];

    if (appendfile_trouble(w->file, why, sizeof why) == NULL) {
        w->retry_at_ns = 0;
        return LOGWRITER_OK;
    }
    if (w->retry_at_ns == 0)
        w->retry_at_ns = now + w->retry_ns;
    if (now < w->retry_at_ns)
        return LOGWRITER_OK;
    w->retry_at_ns = now + w->retry_ns;
    appendfile_retry(w->file);
    return logwriter_flush(w, err);
}

static bool
sync_is_due(const struct logwriter *w, int64_t now)
{
    return w->dirty_at_ns != 0 && !appendfile_is_syncing(w->file) &&
           now >= w->dirty_at_ns + w->policy.interval_ms * MS;
}

/* ---- for a snapshot ---- */

void
logwriter_hurry(struct logwriter *w)
{
    w->hurried = w->on ? appendfile_size(w->file) : 0;
}

bool
logwriter_hurried(const struct logwriter *w)
{
    return !w->on || appendfile_size(w->file) - appendfile_unsynced(w->file) >=
                         w->hurried;
}

static bool
hurries(const struct logwriter *w)
{
    return !logwriter_hurried(w) && !appendfile_is_syncing(w->file) &&
           w->retry_at_ns == 0;
}

int
logwriter_tend(struct logwriter *w, struct err *err)
{
    uint64_t upto;
    int64_t now;
    int rc;

    if (!w->on)
        return 0;
    rc = appendfile_sync_take(w->file, &upto, err);
    if (rc < 0 || (rc > 0 && mark_upto(w, upto, err) != 0))
        return -1;
    now = clock_monotonic_ns();
    if (retry(w, now, err) == LOGWRITER_FAILED)
        return -1;
    if (sync_is_due(w, now) || hurries(w)) {
        w->dirty_at_ns = 0;
        appendfile_sync_begin(w->file);
    }
    presync(w);
    return 0;
}

int64_t
logwriter_next_ns(const struct logwriter *w)
{
    int64_t sync_at = 0;

    if (hurries(w))
        return 1; /* at once */
    if (w->dirty_at_ns != 0 && !appendfile_is_syncing(w->file))
        sync_at = w->dirty_at_ns + w->policy.interval_ms * MS;
    if (w->retry_at_ns != 0 && (sync_at == 0 || w->retry_at_ns < sync_at))
        return w->retry_at_ns;
    return sync_at;
}

const char *
logwriter_trouble(const struct logwriter *w, char *out, size_t size)
{
    return w->on ? appendfile_trouble(w->file, out, size) : NULL;
}

/* ---- the next segment ---- */

struct rotation {
    char *log, *fresh, *old; /* command.log, command.log.new, command.N.log */
    struct appendfile *next;
    bool linked;
    bool unlinkable; /* the file system has no hard links */
};

static int
failed(const char *what, const char *path, struct err *err)
{
    return err_errno(err, ERR_LOG, "cannot %s %s", what, path);
}

static int
name_files(const struct logwriter *w, struct rotation *r, struct err *err)
{
    r->log = file_join(w->folder, LOG_NAME);
    r->fresh = file_join(w->folder, LOG_NAME ".new");
    r->old = segments_path(w->folder, w->segment, SEGMENT_PLAIN);
    return r->log == NULL || r->fresh == NULL || r->old == NULL
               ? err_set(err, ERR_MEMORY, "out of memory")
               : 0;
}

/* Syncs all of the old segment, and the mark that says so; a mark that is held
 * is appended when the trouble is over. */
static int
seal(struct logwriter *w, struct err *err)
{
    if (logwriter_sync(w, err) == 0)
        return appendfile_sync(w->file, err);
    if (w->held)
        w->marks = 0;
    return -1;
}

static int
write_head(const struct logwriter *w, struct rotation *r, uint64_t arrival,
           uint64_t frames, struct err *err)
{
    struct segment_head h = {
        .head = {.time_us = w->head_us,
                 .payload = w->head.data,
                 .len = w->head.len},
        .number = w->segment + 1,
        .arrival = arrival,
        .frames = frames,
        .bytes = appendfile_size(w->file),
    };
    enum appendfile_status status;
    struct buf bytes;
    char why[160];

    buf_init(&bytes, SIZE_MAX / 2);
    segment_head_write(&h, clock_realtime_ns() / 1000, &bytes);
    status = buf_check(&bytes, "its head", err) != 0
                 ? APPENDFILE_FAILED
                 : appendfile_append(r->next, bytes.data, bytes.len, err);
    buf_fini(&bytes);
    if (status == APPENDFILE_HELD)
        err_set(err, ERR_LOG, "%s: %s", r->fresh,
                appendfile_trouble(r->next, why, sizeof why));
    return status == APPENDFILE_OK ? appendfile_sync(r->next, err) : -1;
}

/* Makes the next segment, whole and durable, under another name. */
static int
make_next(const struct logwriter *w, struct rotation *r, uint64_t arrival,
          uint64_t frames, struct err *err)
{
    if (w->io->unlink(r->fresh) != 0 && errno != ENOENT)
        return failed("remove", r->fresh, err);
    r->next = appendfile_create(r->fresh, w->io, err);
    if (r->next == NULL || write_head(w, r, arrival, frames, err) != 0)
        return -1;
    return appendfile_follow(r->next, w->policy, w->wake, err);
}

static int
put_in_place(const struct logwriter *w, struct rotation *r, struct err *err)
{
    /* the link may be there, from a step that could not be undone */
    if (w->io->link(r->log, r->old) != 0 &&
        !(errno == EEXIST && file_is_same(r->log, r->old))) {
        r->unlinkable =
            errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM;
        return failed("make", r->old, err);
    }
    r->linked = true;
    if (w->io->rename(r->fresh, r->log) != 0)
        return failed("replace", r->log, err);
    return 0;
}

/* The folder cannot be synced: gives command.log's name back to the old
 * segment. */
static enum logwriter_status
go_back(struct logwriter *w, struct rotation *r, int error, struct err *err)
{
    errno = error;
    failed("sync the folder of", r->log, err);
    if (w->io->rename(r->old, r->log) == 0) {
        r->linked = false;
        return LOGWRITER_HELD;
    }
    err_place(err, LOG_NAME ": is neither segment now");
    w->failed = true;
    appendfile_fail(w->file);
    return LOGWRITER_FAILED;
}

static void
swap(struct logwriter *w, struct rotation *r)
{
    appendfile_close(w->file);
    w->file = r->next;
    r->next = NULL;
    w->segment++;
    w->begin = appendfile_size(w->file);
    w->presynced = false;
    w->retry = 0;
    w->hurried = 0;
    w->dirty = false;
    w->dirty_at_ns = 0;
}

static void
clean_up(struct logwriter *w, struct rotation *r, bool done)
{
    if (!done && r->next != NULL)
        w->io->unlink(r->fresh);
    if (!done && r->linked && !w->failed)
        w->io->unlink(r->old);
    appendfile_close(r->next);
    free(r->log);
    free(r->fresh);
    free(r->old);
}

enum logwriter_status
logwriter_rotate(struct logwriter *w, uint64_t last_arrival, uint64_t frames,
                 struct err *err)
{
    struct rotation r = {.linked = false};
    enum logwriter_status status = LOGWRITER_HELD;

    if (name_files(w, &r, err) == 0 && seal(w, err) == 0 &&
        make_next(w, &r, last_arrival, frames, err) == 0 &&
        put_in_place(w, &r, err) == 0) {
        int error = logio_sync_folder(w->io, w->folder);

        status = error == 0 ? LOGWRITER_OK : go_back(w, &r, error, err);
    }
    if (status == LOGWRITER_OK) {
        swap(w, &r);
    } else {
        err_place(err, LOG_NAME ": cannot begin segment %" PRIu64,
                  w->segment + 1);
        w->retry = appendfile_size(w->file) + w->size / 4;
        if (r.unlinkable)
            w->size = 0;
        w->presynced = false;
    }
    clean_up(w, &r, status == LOGWRITER_OK);
    return w->failed ? LOGWRITER_FAILED : status;
}
