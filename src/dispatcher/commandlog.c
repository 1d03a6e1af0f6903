/* SPDX-License-Identifier: MIT */
#include "dispatcher/commandlog_state.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "dispatcher/logio.h"
#include "dispatcher/logmap.h"
#include "dispatcher/logvoid.h"
#include "frame.h"
#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PENDING_MAX ((size_t)1 << 30)

/* The lock before the log; the lock's content, which may tell of a crash,
 * stays until it is known that the log is new. */
static int
open_both(struct commandlog *l, const char *folder,
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
        rc = loglock_take(&l->lock, lock, err) != 0 ||
                     (open_it == logwriter_create &&
                      logvoid_set_aside(folder, err) != 0) ||
                     (l->writer = open_it(log, l->io, err)) == NULL ||
                     loglock_map(&l->lock, lock, err) != 0
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
static int
sync_folder(const struct commandlog *l, struct err *err)
{
    errno = logio_sync_folder(l->io, l->folder);
    if (errno == 0)
        return 0;
    return err_errno(err, ERR_LOG, COMMANDLOG_NAME ": cannot sync its folder");
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
    int64_t now = clock_realtime_ns() / 1000;

    record_write_version(&l->pending);
    record_encode(&l->pending, RECORD_HEAD, 0, now, head, head_len);
    l->chain.begin = l->pending.len;
    if (commandlog_know_head(l, head, head_len, now, err) != 0)
        return -1;
    return commandlog_finish(l, err);
}

/* Neither file is open yet. */
static struct commandlog *
new_log(const char *folder, const struct logio *io, struct err *err)
{
    struct commandlog *l = calloc(1, sizeof *l);

    if (l == NULL || (folder != NULL && (l->folder = strdup(folder)) == NULL)) {
        free(l);
        err_set(err, ERR_MEMORY, "command log: out of memory");
        return NULL;
    }
    loglock_init(&l->lock);
    l->on = folder != NULL;
    l->io = io != NULL ? io : &logio_system;
    l->policy.when = SYNC_NONE;
    l->chain.segment = 1;
    buf_init(&l->pending, PENDING_MAX);
    buf_init(&l->chain.head, PENDING_MAX);
    return l;
}

/* Old segments alone are a log, too. */
static int
expect_none(const char *folder, struct err *err)
{
    char *path = segments_any(folder);

    if (path == NULL)
        return 0;
    err_set(err, ERR_LOG,
            "%s: of a log whose " COMMANDLOG_NAME " is missing, expected a "
            "folder without a log",
            path);
    free(path);
    return -1;
}

struct commandlog *
commandlog_create(const char *folder, const char *head, size_t head_len,
                  const struct logio *io, struct err *err)
{
    struct commandlog *l = new_log(folder, io, err);

    if (l == NULL || folder == NULL)
        return l;
    if (make_folder(folder, err) == 0 &&
        open_both(l, folder, logwriter_create, err) == 0 &&
        expect_none(folder, err) == 0 && begin(l, head, head_len, err) == 0 &&
        sync_folder(l, err) == 0)
        return l;
    if (l->writer != NULL)
        remove_log(folder); /* ours, and not begun */
    commandlog_free(l);
    return NULL;
}

/* Which segment it is.  What is damaged is for who reads it to tell. */
static int
know_segment(struct commandlog *l, struct err *err)
{
    char *path = file_join(l->folder, COMMANDLOG_NAME);
    struct logmap *m = path == NULL ? NULL : logmap_open(path, NULL);
    int rc = 0;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "command log: out of memory");
    if (m != NULL) {
        l->chain.segment = m->head.number;
        l->chain.begin = m->head.size;
        if (m->head.head.size > 0)
            rc = commandlog_know_head(l, m->head.head.payload, m->head.head.len,
                                      m->head.head.time_us, err);
    }
    logmap_close(m);
    free(path);
    return rc;
}

struct commandlog *
commandlog_reopen(const char *folder, const struct logio *io, uint64_t slots[2],
                  struct err *err)
{
    struct commandlog *l = new_log(folder, io, err);

    if (l == NULL)
        return NULL;
    if (open_both(l, folder, logwriter_open, err) != 0 ||
        segments_mend(folder, err) != 0 || know_segment(l, err) != 0) {
        commandlog_free(l);
        return NULL;
    }
    slots[SENDER_DEFAULT] = l->lock.before.slots[LOCKFILE_DEFAULT];
    slots[SENDER_ASSESSOR] = l->lock.before.slots[LOCKFILE_ASSESSOR];
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
    logwriter_close(l->writer);
    loglock_release(&l->lock);
    buf_fini(&l->pending);
    buf_fini(&l->chain.head);
    free(l->folder);
    free(l);
}

int64_t
commandlog_now_us(struct commandlog *l)
{
    if (l->pending.len == l->marks)
        l->time_us = clock_realtime_ns() / 1000;
    return l->time_us;
}

void
commandlog_in(struct commandlog *l, uint64_t arrival, const struct frame *frame)
{
    if (l->on)
        record_encode2(&l->pending, RECORD_IN, arrival, commandlog_now_us(l),
                       frame->code, 2, frame->payload, frame->len);
}

void
commandlog_program(struct commandlog *l, enum sender program, uint64_t arrival,
                   const struct frame *frame)
{
    if (l->on)
        record_encode2(&l->pending,
                       program == SENDER_DEFAULT ? RECORD_TUNER_FRAME
                                                 : RECORD_ASSESSOR_FRAME,
                       arrival, commandlog_now_us(l), frame->code, 2,
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
                      arrival, commandlog_now_us(l), text, strlen(text));
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
                       commandlog_now_us(l), command_info(e->code)->code, 2,
                       e->payload, e->len);
}

void
commandlog_skipped(struct commandlog *l, uint64_t arrival, const char *text,
                   size_t len)
{
    if (l->on)
        record_encode(&l->pending, RECORD_SKIPPED, arrival,
                      commandlog_now_us(l), text, len);
}

void
commandlog_resumed(struct commandlog *l, uint64_t last_arrival,
                   const char *text)
{
    if (l->on)
        record_encode(&l->pending, RECORD_RESUMED, last_arrival,
                      commandlog_now_us(l), text, strlen(text));
}

void
commandlog_end(struct commandlog *l, uint64_t last_arrival, const char *how)
{
    if (l->on)
        record_encode(&l->pending, RECORD_END, last_arrival,
                      commandlog_now_us(l), how, strlen(how));
}

/* ---- appending ---- */

void
commandlog_note_dirty(struct commandlog *l)
{
    l->dirty = true;
    if (l->dirty_at_ns == 0 && l->policy.when == SYNC_INTERVAL)
        l->dirty_at_ns = clock_monotonic_ns();
}

void
commandlog_mark_ahead(struct commandlog *l)
{
    record_encode(&l->pending, RECORD_SYNC, 0, commandlog_now_us(l), "", 0);
    l->marks = l->pending.len;
}

enum commandlog_status
commandlog_append(struct commandlog *l, struct err *err)
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
    status = commandlog_append(l, err);
    if (status != COMMANDLOG_OK)
        return status;
    commandlog_note_dirty(l);
    if (l->policy.when == SYNC_ALWAYS)
        commandlog_mark_ahead(l);
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

bool
commandlog_dirty(const struct commandlog *l)
{
    return l->dirty;
}

struct loglock *
commandlog_lock(struct commandlog *l)
{
    return &l->lock;
}

_Atomic uint64_t *
commandlog_slot(struct commandlog *l, enum sender worker)
{
    return &l->lock.map->slots[worker == SENDER_ASSESSOR ? LOCKFILE_ASSESSOR
                                                         : LOCKFILE_DEFAULT];
}
