/* SPDX-License-Identifier: MIT */
#include "dispatcher/commandlog.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "dispatcher/logio.h"
#include "dispatcher/logwriter.h"
#include "frame.h"
#include "lockfile.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct commandlog {
    bool on;
    int lock_fd;
    struct logwriter *writer;
    struct lockfile *lock; /* mapped; `spare` without a log */
    struct lockfile spare;
    struct lockfile before; /* what its last writer left in it */
    struct buf pending;
    size_t marks; /* bytes at the front of it that are a sync mark alone */
    bool held;    /* what is pending could not be appended */
    bool failed;  /* nor will anything be */
    bool dirty;   /* something stands behind the last mark */
    struct sync_policy policy;
    int64_t retry_ns;    /* between tries */
    int64_t dirty_at_ns; /* since when nobody was asked to sync; 0: is not */
    int64_t retry_at_ns; /* 0: all is well */
};

#define PENDING_MAX ((size_t)1 << 30)
#define MS 1000000 /* nanoseconds */

static int
take_lock(struct commandlog *l, const char *path, struct err *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct lockfile holder = {.pid = 0};

    l->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (l->lock_fd < 0)
        return err_errno(err, ERR_LOG, "%s: cannot open", path);
    if (fcntl(l->lock_fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    if (pread(l->lock_fd, &holder, sizeof holder, 0) < 0)
        holder.pid = 0;
    return err_set(err, ERR_LOG,
                   "%s: locked by process %" PRIu64 ", expected one writer",
                   path, holder.pid);
}

/* Written, not only stretched: a full disk is told here and not by a SIGBUS
 * later. */
static int
map_lock(struct commandlog *l, const char *path, struct err *err)
{
    struct lockfile fresh = {.pid = (uint64_t)getpid()};
    void *map;

    memcpy(fresh.magic, LOCKFILE_MAGIC, sizeof fresh.magic);
    if (pread(l->lock_fd, &l->before, sizeof l->before, 0) !=
            sizeof l->before ||
        memcmp(l->before.magic, LOCKFILE_MAGIC, sizeof l->before.magic) != 0)
        l->before = (struct lockfile){.pid = 0};
    if (pwrite(l->lock_fd, &fresh, sizeof fresh, 0) != sizeof fresh ||
        ftruncate(l->lock_fd, sizeof fresh) != 0)
        return err_errno(err, ERR_LOG, "%s: cannot write", path);
    map = mmap(NULL, sizeof *l->lock, PROT_READ | PROT_WRITE, MAP_SHARED,
               l->lock_fd, 0);
    if (map == MAP_FAILED)
        return err_errno(err, ERR_LOG, "%s: cannot map", path);
    l->lock = map;
    return 0;
}

/* The lock before the log; the lock's content, which may tell of a crash,
 * stays until it is known that the log is new. */
static int
open_both(struct commandlog *l, const char *folder, const struct logio *io,
          struct logwriter *(*open_it)(const char *, const struct logio *,
                                       struct err *),
          struct err *err)
{
    char *lock = file_join(folder, LOCKFILE_NAME);
    char *log = file_join(folder, COMMANDLOG_NAME);
    int rc;

    if (lock == NULL || log == NULL)
        rc = err_set(err, ERR_MEMORY, "command log: out of memory");
    else
        rc = take_lock(l, lock, err) != 0 ||
                     (l->writer = open_it(log, io, err)) == NULL ||
                     map_lock(l, lock, err) != 0
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

/* That there is a log, too, is to survive the loss of power. */
static void
sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return; /* it may be written and not be read */
    fsync(fd);
    close(fd);
}

static void
remove_log(const char *folder)
{
    char *log = file_join(folder, COMMANDLOG_NAME);

    if (log != NULL)
        unlink(log);
    free(log);
}

/* Whole and durable, or it failed. */
static int
begin(struct commandlog *l, const char *head, size_t head_len, struct err *err)
{
    record_write_version(&l->pending);
    record_encode(&l->pending, RECORD_HEAD, 0, clock_realtime_ns() / 1000, head,
                  head_len);
    return commandlog_finish(l, err);
}

/* Neither file is open yet. */
static struct commandlog *
new_log(struct err *err)
{
    struct commandlog *l = calloc(1, sizeof *l);

    if (l == NULL) {
        err_set(err, ERR_MEMORY, "command log: out of memory");
        return NULL;
    }
    l->lock_fd = -1;
    l->policy.when = SYNC_NONE;
    l->lock = &l->spare;
    buf_init(&l->pending, PENDING_MAX);
    return l;
}

struct commandlog *
commandlog_create(const char *folder, const char *head, size_t head_len,
                  const struct logio *io, struct err *err)
{
    struct commandlog *l = new_log(err);

    if (l == NULL || folder == NULL)
        return l;
    l->on = true;
    if (make_folder(folder, err) != 0 ||
        open_both(l, folder, io, logwriter_create, err) != 0)
        goto fail;
    if (begin(l, head, head_len, err) != 0) {
        remove_log(folder);
        goto fail;
    }
    sync_folder(folder);
    return l;
fail:
    commandlog_free(l);
    return NULL;
}

struct commandlog *
commandlog_reopen(const char *folder, uint64_t slots[2], struct err *err)
{
    struct commandlog *l = new_log(err);

    if (l == NULL)
        return NULL;
    l->on = true;
    if (open_both(l, folder, NULL, logwriter_open, err) != 0) {
        commandlog_free(l);
        return NULL;
    }
    slots[SENDER_DEFAULT] = l->before.slots[LOCKFILE_DEFAULT];
    slots[SENDER_ASSESSOR] = l->before.slots[LOCKFILE_ASSESSOR];
    return l;
}

int
commandlog_cut(struct commandlog *l, uint64_t torn, struct err *err)
{
    return logwriter_cut(l->writer, logwriter_size(l->writer) - torn, err);
}

void
commandlog_free(struct commandlog *l)
{
    if (l == NULL)
        return;
    if (l->lock != &l->spare)
        munmap(l->lock, sizeof *l->lock);
    logwriter_close(l->writer);
    if (l->lock_fd >= 0)
        close(l->lock_fd);
    buf_fini(&l->pending);
    free(l);
}

void
commandlog_in(struct commandlog *l, uint64_t arrival, const struct frame *frame)
{
    if (l->on)
        record_encode2(&l->pending, RECORD_IN, arrival,
                       clock_realtime_ns() / 1000, frame->code, 2,
                       frame->payload, frame->len);
}

void
commandlog_program(struct commandlog *l, enum sender program, uint64_t arrival,
                   const struct frame *frame)
{
    if (l->on)
        record_encode2(&l->pending,
                       program == SENDER_DEFAULT ? RECORD_TUNER_FRAME
                                                 : RECORD_ASSESSOR_FRAME,
                       arrival, clock_realtime_ns() / 1000, frame->code, 2,
                       frame->payload, frame->len);
}

void
commandlog_event(struct commandlog *l, enum sender program, uint64_t arrival,
                 const char *text)
{
    if (l->on)
        record_encode(&l->pending,
                      program == SENDER_DEFAULT ? RECORD_TUNER_EVENT
                                                : RECORD_ASSESSOR_EVENT,
                      arrival, clock_realtime_ns() / 1000, text, strlen(text));
}

void
commandlog_out(struct commandlog *l, const struct emission *e)
{
    static const enum record_kind kinds[] = {
        [SENDER_DEFAULT] = RECORD_TUNER,
        [SENDER_ASSESSOR] = RECORD_ASSESSOR,
        [SENDER_ROUTER] = RECORD_ROUTER,
    };

    if (l->on)
        record_encode2(&l->pending, kinds[e->sender], e->cause,
                       clock_realtime_ns() / 1000, command_info(e->code)->code,
                       2, e->payload, e->len);
}

void
commandlog_skipped(struct commandlog *l, uint64_t arrival, const char *text,
                   size_t len)
{
    if (l->on)
        record_encode(&l->pending, RECORD_SKIPPED, arrival,
                      clock_realtime_ns() / 1000, text, len);
}

void
commandlog_resumed(struct commandlog *l, uint64_t last_arrival,
                   const char *text)
{
    if (l->on)
        record_encode(&l->pending, RECORD_RESUMED, last_arrival,
                      clock_realtime_ns() / 1000, text, strlen(text));
}

void
commandlog_end(struct commandlog *l, uint64_t last_arrival, const char *how)
{
    if (l->on)
        record_encode(&l->pending, RECORD_END, last_arrival,
                      clock_realtime_ns() / 1000, how, strlen(how));
}

/* ---- appending ---- */

/* What stands behind the last mark, from now on. */
static void
note_dirty(struct commandlog *l)
{
    l->dirty = true;
    if (l->dirty_at_ns == 0 && l->policy.when == SYNC_INTERVAL)
        l->dirty_at_ns = clock_monotonic_ns();
}

/* A mark for what was just made durable goes in front of what comes next. */
static void
mark_ahead(struct commandlog *l)
{
    record_encode(&l->pending, RECORD_SYNC, 0, clock_realtime_ns() / 1000, "",
                  0);
    l->marks = l->pending.len;
}

static enum commandlog_status
append(struct commandlog *l, struct err *err)
{
    enum logwriter_status status;

    if (buf_check(&l->pending, "command log", err) != 0)
        return COMMANDLOG_FAILED;
    status = logwriter_append(l->writer, l->pending.data, l->pending.len, err);
    l->failed = status == LOGWRITER_FAILED;
    if (l->failed)
        buf_clear(&l->pending);
    l->held = status == LOGWRITER_HELD;
    if (l->held && l->retry_at_ns == 0)
        l->retry_at_ns = clock_monotonic_ns() + l->retry_ns;
    if (status != LOGWRITER_OK)
        return l->held ? COMMANDLOG_HELD : COMMANDLOG_FAILED;
    buf_clear(&l->pending);
    l->marks = 0;
    return COMMANDLOG_OK;
}

enum commandlog_status
commandlog_flush(struct commandlog *l, struct err *err)
{
    enum commandlog_status status;

    if (!l->on || (l->pending.len == l->marks && !l->pending.failed))
        return COMMANDLOG_OK;
    status = append(l, err);
    if (status != COMMANDLOG_OK)
        return status;
    note_dirty(l);
    if (l->policy.when == SYNC_ALWAYS)
        mark_ahead(l);
    return COMMANDLOG_OK;
}

bool
commandlog_held(const struct commandlog *l)
{
    return l->held;
}

void
commandlog_take_back(struct commandlog *l)
{
    buf_clear(&l->pending);
    l->marks = 0;
    l->held = false;
}

/* ---- stable storage ---- */

int
commandlog_follow(struct commandlog *l, struct sync_policy policy,
                  const struct wake *wake, int64_t retry_ms, struct err *err)
{
    if (!l->on)
        return 0;
    l->policy = policy;
    l->retry_ns = retry_ms * MS;
    return logwriter_follow(l->writer, policy, wake, err);
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
        mark_ahead(l);
    if (now(l, append(l, err), err) != 0)
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

    record_encode(&l->pending, RECORD_SYNC, 0, clock_realtime_ns() / 1000, text,
                  (size_t)len);
    if (append(l, err) == COMMANDLOG_FAILED)
        return -1;
    if (all && !l->held) {
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
    if (sync_is_due(l, now)) {
        l->dirty_at_ns = 0;
        logwriter_ask(l->writer);
    }
    return 0;
}

int64_t
commandlog_next_ns(const struct commandlog *l)
{
    int64_t sync_at = 0;

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

bool
commandlog_dirty(const struct commandlog *l)
{
    return l->dirty;
}

_Atomic uint64_t *
commandlog_slot(struct commandlog *l, enum sender worker)
{
    return &l->lock->slots[worker == SENDER_ASSESSOR ? LOCKFILE_ASSESSOR
                                                     : LOCKFILE_DEFAULT];
}
