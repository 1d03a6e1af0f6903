/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 *   command.log                    all of it is on stable storage
 *   command.log, command.log.new   the next segment's head, too
 *   command.log = command.3.log, command.log.new
 *   command.3.log, command.log     the folder is synced
 *
 * At any moment there is a command.log, and with the segments before it it is
 * the whole log.  A step that fails is undone, and the old one goes on. */
#include "dispatcher/commandlog_state.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "dispatcher/logio.h"
#include "dispatcher/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NEAR ((uint64_t)256 << 10) /* bytes that are synced while all wait */

/* ---- when ---- */

int
commandlog_know_head(struct commandlog *l, const char *head, size_t len,
                     int64_t time_us, struct err *err)
{
    buf_add(&l->chain.head, head, len);
    l->chain.head_us = time_us;
    return buf_check(&l->chain.head, "command log: head", err);
}

void
commandlog_set_segments(struct commandlog *l, uint64_t size)
{
    l->chain.size = size;
}

void
commandlog_grow_limit(struct commandlog *l, uint64_t at_least)
{
    l->chain.least = at_least;
}

uint64_t
commandlog_segment(const struct commandlog *l)
{
    return l->chain.segment;
}

static uint64_t
limit(const struct commandlog *l)
{
    const struct commandlog_chain *c = &l->chain;
    uint64_t most = c->size > c->least ? c->size : c->least;

    return most > c->again ? most : c->again;
}

/* Whether command.log is long enough, and another can be begun. */
static bool
is_long(const struct commandlog *l)
{
    uint64_t size = l->on ? logwriter_size(l->writer) : 0;

    return l->on && !l->failed && l->chain.size > 0 && l->chain.head.len > 0 &&
           size >= limit(l) && size >= 2 * l->chain.begin;
}

bool
commandlog_is_overlong(const struct commandlog *l)
{
    return is_long(l) && logwriter_size(l->writer) / 2 >= limit(l);
}

static bool
needs_thread(const struct commandlog *l)
{
    return !l->chain.synced && logwriter_has_thread(l->writer) &&
           logwriter_unsynced(l->writer) > NEAR;
}

void
commandlog_prepare(struct commandlog *l)
{
    if (!is_long(l) || !needs_thread(l) || logwriter_asked(l->writer))
        return;
    l->chain.synced = true;
    logwriter_ask(l->writer);
}

bool
commandlog_rotation_due(const struct commandlog *l)
{
    char why[160];

    return is_long(l) && !l->held && l->pending.len == l->marks &&
           !logwriter_asked(l->writer) && !needs_thread(l) &&
           logwriter_trouble(l->writer, why, sizeof why) == NULL;
}

/* ---- the steps ---- */

struct rotation {
    char *log, *fresh, *old; /* command.log, command.log.new, command.N.log */
    struct logwriter *next;
    bool linked;
};

static int
failed(const char *what, const char *path, struct err *err)
{
    return err_errno(err, ERR_LOG, "cannot %s %s", what, path);
}

static int
name_files(const struct commandlog *l, struct rotation *r, struct err *err)
{
    r->log = file_join(l->folder, COMMANDLOG_NAME);
    r->fresh = file_join(l->folder, COMMANDLOG_NAME ".new");
    r->old = segments_path(l->folder, l->chain.segment, SEGMENT_PLAIN);
    return r->log == NULL || r->fresh == NULL || r->old == NULL
               ? err_set(err, ERR_MEMORY, "out of memory")
               : 0;
}

/* All of the old one, and the mark that says so; which may be held: it is then
 * appended when that is over. */
static int
seal(struct commandlog *l, struct err *err)
{
    if (commandlog_sync(l, err) == 0)
        return logwriter_sync(l->writer, err);
    if (l->held)
        l->marks = 0;
    return -1;
}

static int
write_head(const struct commandlog *l, struct rotation *r, uint64_t arrival,
           uint64_t frames, struct err *err)
{
    struct segment_head h = {
        .head = {.time_us = l->chain.head_us,
                 .payload = l->chain.head.data,
                 .len = l->chain.head.len},
        .number = l->chain.segment + 1,
        .arrival = arrival,
        .frames = frames,
        .bytes = logwriter_size(l->writer),
    };
    enum logwriter_status status;
    struct buf bytes;
    char why[160];

    buf_init(&bytes, SIZE_MAX / 2);
    segment_head_write(&h, clock_realtime_ns() / 1000, &bytes);
    status = buf_check(&bytes, "its head", err) != 0
                 ? LOGWRITER_FAILED
                 : logwriter_append(r->next, bytes.data, bytes.len, err);
    buf_fini(&bytes);
    if (status == LOGWRITER_HELD)
        err_set(err, ERR_LOG, "%s: %s", r->fresh,
                logwriter_trouble(r->next, why, sizeof why));
    return status == LOGWRITER_OK ? logwriter_sync(r->next, err) : -1;
}

/* Whole and durable, under another name. */
static int
make_next(const struct commandlog *l, struct rotation *r, uint64_t arrival,
          uint64_t frames, struct err *err)
{
    if (l->io->unlink(r->fresh) != 0 && errno != ENOENT)
        return failed("remove", r->fresh, err);
    r->next = logwriter_create(r->fresh, l->io, err);
    if (r->next == NULL || write_head(l, r, arrival, frames, err) != 0)
        return -1;
    return logwriter_follow(r->next, l->policy, l->wake, err);
}

/* It is there already, by a step that could not be undone. */
static bool
is_same(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static int
put_in_place(const struct commandlog *l, struct rotation *r, struct err *err)
{
    if (l->io->link(r->log, r->old) != 0 &&
        !(errno == EEXIST && is_same(r->log, r->old)))
        return failed("make", r->old, err);
    r->linked = true;
    if (l->io->rename(r->fresh, r->log) != 0)
        return failed("replace", r->log, err);
    return 0;
}

/* The folder cannot be synced: command.log becomes the old one again. */
static enum commandlog_status
go_back(struct commandlog *l, struct rotation *r, int error, struct err *err)
{
    errno = error;
    failed("sync the folder of", r->log, err);
    if (l->io->rename(r->old, r->log) == 0) {
        r->linked = false;
        return COMMANDLOG_HELD;
    }
    err_place(err, COMMANDLOG_NAME ": is neither segment now");
    l->failed = true;
    logwriter_fail(l->writer);
    return COMMANDLOG_FAILED;
}

static void
swap(struct commandlog *l, struct rotation *r)
{
    logwriter_close(l->writer);
    l->writer = r->next;
    r->next = NULL;
    l->chain.segment++;
    l->chain.begin = logwriter_size(l->writer);
    l->chain.synced = false;
    l->chain.again = 0;
    l->hurried = 0;
    l->dirty = false;
    l->dirty_at_ns = 0;
}

static void
clean_up(struct commandlog *l, struct rotation *r, bool done)
{
    if (!done && r->next != NULL)
        l->io->unlink(r->fresh);
    if (!done && r->linked && !l->failed)
        l->io->unlink(r->old);
    logwriter_close(r->next);
    free(r->log);
    free(r->fresh);
    free(r->old);
}

enum commandlog_status
commandlog_rotate(struct commandlog *l, uint64_t last_arrival, uint64_t frames,
                  struct err *err)
{
    struct rotation r = {.linked = false};
    enum commandlog_status status = COMMANDLOG_HELD;

    if (name_files(l, &r, err) == 0 && seal(l, err) == 0 &&
        make_next(l, &r, last_arrival, frames, err) == 0 &&
        put_in_place(l, &r, err) == 0) {
        int error = logio_sync_folder(l->io, l->folder);

        status = error == 0 ? COMMANDLOG_OK : go_back(l, &r, error, err);
    }
    if (status == COMMANDLOG_OK) {
        swap(l, &r);
    } else {
        err_place(err, COMMANDLOG_NAME ": cannot begin segment %" PRIu64,
                  l->chain.segment + 1);
        l->chain.again = logwriter_size(l->writer) + l->chain.size / 4;
        l->chain.synced = false;
    }
    clean_up(l, &r, status == COMMANDLOG_OK);
    return l->failed ? COMMANDLOG_FAILED : status;
}
