/* SPDX-License-Identifier: MIT */
#include "dispatcher/commandlog.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
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
#include <sys/stat.h>
#include <unistd.h>

struct commandlog {
    bool on;
    int fd, lock_fd;
    struct lockfile *lock; /* mapped; `spare` without a log */
    struct lockfile spare;
    struct lockfile before; /* what its last writer left in it */
    struct buf pending;
    off_t size;  /* of what was appended whole */
    bool failed; /* an append failed: the log ends there */
    bool dirty;
};

#define PENDING_MAX ((size_t)1 << 30)

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

static int
open_log(struct commandlog *l, const char *path, struct err *err)
{
    l->fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (l->fd >= 0)
        return 0;
    if (errno == EEXIST)
        return err_set(err, ERR_LOG,
                       "%s: an experiment is recorded there already, expected "
                       "a folder without a log",
                       path);
    return err_errno(err, ERR_LOG, "%s: cannot create", path);
}

static int
open_again(struct commandlog *l, const char *path, struct err *err)
{
    struct stat st;

    l->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (l->fd < 0 || fstat(l->fd, &st) != 0)
        return err_errno(err, ERR_LOG, "%s: cannot open", path);
    l->size = st.st_size;
    return 0;
}

/* The lock before the log; the lock's content, which may tell of a crash,
 * stays until it is known that the log is new. */
static int
open_both(struct commandlog *l, const char *folder,
          int (*open_it)(struct commandlog *, const char *, struct err *),
          struct err *err)
{
    char *lock = file_join(folder, LOCKFILE_NAME);
    char *log = file_join(folder, COMMANDLOG_NAME);
    int rc;

    if (lock == NULL || log == NULL)
        rc = err_set(err, ERR_MEMORY, "command log: out of memory");
    else
        rc = take_lock(l, lock, err) != 0 || open_it(l, log, err) != 0 ||
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

/* Neither file is open yet. */
static struct commandlog *
new_log(struct err *err)
{
    struct commandlog *l = calloc(1, sizeof *l);

    if (l == NULL) {
        err_set(err, ERR_MEMORY, "command log: out of memory");
        return NULL;
    }
    l->fd = l->lock_fd = -1;
    l->lock = &l->spare;
    buf_init(&l->pending, PENDING_MAX);
    return l;
}

struct commandlog *
commandlog_create(const char *folder, const char *head, size_t head_len,
                  struct err *err)
{
    struct commandlog *l = new_log(err);

    if (l == NULL || folder == NULL)
        return l;
    l->on = true;
    if (make_folder(folder, err) != 0 ||
        open_both(l, folder, open_log, err) != 0)
        goto fail;
    record_write_version(&l->pending);
    record_encode(&l->pending, RECORD_HEAD, 0, clock_realtime_ns() / 1000, head,
                  head_len);
    if (commandlog_flush(l, err) != 0 || commandlog_sync(l, err) != 0)
        goto fail;
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
    if (open_both(l, folder, open_again, err) != 0) {
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
    off_t size = l->size - (off_t)torn;

    if (torn > 0 && ftruncate(l->fd, size) != 0)
        return err_errno(err, ERR_LOG, COMMANDLOG_NAME ": cannot be cut");
    l->size = size;
    return 0;
}

void
commandlog_free(struct commandlog *l)
{
    if (l == NULL)
        return;
    if (l->lock != &l->spare)
        munmap(l->lock, sizeof *l->lock);
    if (l->fd >= 0)
        close(l->fd);
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

/* Nothing may stand behind a record that was cut off: what was appended of it
 * is taken back, and nothing more is appended. */
static int
append_failed(struct commandlog *l, struct err *err)
{
    if (!l->failed && ftruncate(l->fd, l->size) != 0)
        err_place(err, "cannot be cut back");
    l->failed = true;
    if (err != NULL)
        err->code = ERR_LOG;
    return err_place(err, COMMANDLOG_NAME);
}

int
commandlog_flush(struct commandlog *l, struct err *err)
{
    if (!l->on || (l->pending.len == 0 && !l->pending.failed))
        return 0;
    if (l->failed) {
        buf_clear(&l->pending);
        return -1;
    }
    if (buf_check(&l->pending, "command log", err) != 0 ||
        file_write_all(l->fd, l->pending.data, l->pending.len, err) != 0)
        return append_failed(l, err);
    l->size += (off_t)l->pending.len;
    buf_clear(&l->pending);
    l->dirty = true;
    return 0;
}

int
commandlog_sync(struct commandlog *l, struct err *err)
{
    if (!l->on || !l->dirty || l->failed)
        return 0;
    if (fdatasync(l->fd) != 0)
        return err_errno(err, ERR_LOG, COMMANDLOG_NAME ": cannot sync");
    record_encode(&l->pending, RECORD_SYNC, 0, clock_realtime_ns() / 1000, "",
                  0);
    if (commandlog_flush(l, err) != 0)
        return -1;
    l->dirty = false;
    return 0;
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
