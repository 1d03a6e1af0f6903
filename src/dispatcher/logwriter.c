/* SPDX-License-Identifier: MIT */
#include "dispatcher/logwriter.h"

#include "core/err.h"
#include "dispatcher/logio.h"
#include "dispatcher/logsync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* DESIGN
 *
 *   0           durable        size            reserved
 *   |  records, synced  |  records  |  blocks of ours  |
 *
 * Blocks are allocated behind the end without the file growing, so readers see
 * records only.  While there is no telling whether the next append will find
 * room (the reserve cannot be renewed) the caller takes in nothing more, and
 * the reserve is for what must still be written.  A file system that cannot
 * reserve is written without. */

#define NAME "command.log"
#define RESERVE ((off_t)4 << 20)  /* allocated ahead */
#define RESERVE_LOW (RESERVE / 4) /* less is no room */

enum trouble { TROUBLE_RESERVE, TROUBLE_WRITE, TROUBLE_SYNC, TROUBLES };

struct logwriter {
    const struct logio *io;
    int fd;
    off_t size, reserved, durable;
    off_t ragged;  /* end of what a write that failed left behind size */
    bool reserves; /* the file system can */
    bool failed;
    bool asked;
    struct sync_policy policy;
    struct logsync *sync;
    struct logsync_job job; /* without a thread */
    int job_error;
    int errors[TROUBLES]; /* an errno, 0: none */
};

/* ---- opening and closing ---- */

static struct logwriter *
writer_new(const char *path, int flags, const struct logio *io, struct err *err)
{
    struct logwriter *w = calloc(1, sizeof *w);

    if (w == NULL) {
        err_set(err, ERR_MEMORY, "command log: out of memory");
        return NULL;
    }
    w->io = io != NULL ? io : &logio_system;
    w->policy.when = SYNC_NONE;
    w->reserves = true;
    do
        w->fd = w->io->open(path, O_RDWR | O_CLOEXEC | flags, 0600);
    while (w->fd < 0 && errno == EINTR);
    if (w->fd >= 0)
        return w;
    if (errno == EEXIST)
        err_set(err, ERR_LOG,
                "%s: an experiment is recorded there already, expected a "
                "folder without a log, or --resume",
                path);
    else
        err_errno(err, ERR_LOG, "%s: cannot %s", path,
                  flags & O_CREAT ? "create" : "open");
    free(w);
    return NULL;
}

struct logwriter *
logwriter_create(const char *path, const struct logio *io, struct err *err)
{
    return writer_new(path, O_CREAT | O_EXCL, io, err);
}

struct logwriter *
logwriter_open(const char *path, const struct logio *io, struct err *err)
{
    struct logwriter *w = writer_new(path, 0, io, err);
    struct stat st;

    if (w == NULL)
        return NULL;
    if (fstat(w->fd, &st) != 0) {
        err_errno(err, ERR_LOG, "%s: cannot open", path);
        close(w->fd);
        free(w);
        return NULL;
    }
    w->size = w->reserved = w->durable = st.st_size;
    return w;
}

/* Also of what a failed write left behind the end. */
static int
cut_back(struct logwriter *w)
{
    int rc;

    w->ragged = 0;
    w->reserved = w->size;
    do
        rc = w->io->ftruncate(w->fd, w->size);
    while (rc != 0 && errno == EINTR);
    return rc;
}

void
logwriter_close(struct logwriter *w)
{
    if (w == NULL)
        return;
    logsync_stop(w->sync);
    if (w->reserved > w->size || w->ragged > w->size)
        cut_back(w);
    close(w->fd);
    free(w);
}

uint64_t
logwriter_size(const struct logwriter *w)
{
    return (uint64_t)w->size;
}

uint64_t
logwriter_unsynced(const struct logwriter *w)
{
    return (uint64_t)(w->size - w->durable);
}

int
logwriter_cut(struct logwriter *w, uint64_t size, struct err *err)
{
    if ((off_t)size == w->size)
        return 0;
    w->size = w->durable = (off_t)size;
    if (cut_back(w) != 0)
        return err_errno(err, ERR_LOG, NAME ": cannot be cut");
    return 0;
}

/* ---- room ---- */

static int
allocate(struct logwriter *w, off_t end)
{
    off_t from = w->reserved > w->size ? w->reserved : w->size;

    while (w->io->fallocate(w->fd, FALLOC_FL_KEEP_SIZE, from, end - from) != 0)
        if (errno != EINTR)
            return errno;
    w->reserved = end;
    return 0;
}

/* Room for so many bytes and for RESERVE_LOW more; when there is less than
 * RESERVE, for just those. */
static void
reserve(struct logwriter *w, size_t len)
{
    off_t least = w->size + (off_t)len + RESERVE_LOW;
    int error;

    w->errors[TROUBLE_RESERVE] = 0;
    if (!w->reserves || least <= w->reserved)
        return;
    error = allocate(w, least - RESERVE_LOW + RESERVE);
    if (error != 0 && logio_may_pass(error))
        error = allocate(w, least);
    if (logio_may_pass(error))
        w->errors[TROUBLE_RESERVE] = error;
    else if (error != 0)
        w->reserves = false; /* writing will tell what is wrong, if anything */
}

/* ---- appending ---- */

static enum logwriter_status
fail(struct logwriter *w, const char *what, int error, struct err *err)
{
    errno = error;
    if (error == LOGSYNC_LOST)
        err_set(err, ERR_LOG,
                NAME ": cannot sync: what was written cannot be read back");
    else
        err_errno(err, ERR_LOG, NAME ": cannot %s", what);
    w->failed = true;
    if (cut_back(w) != 0)
        err_place(err, "cannot be cut back");
    return LOGWRITER_FAILED;
}

static enum logwriter_status
hold(struct logwriter *w, enum trouble trouble, int error, struct err *err)
{
    static const char *const verbs[] = {"reserve room", "write", "sync"};

    w->errors[trouble] = error;
    if (logio_may_pass(error))
        return LOGWRITER_HELD;
    return fail(w, verbs[trouble], error, err);
}

/* 0 or an errno, *trouble says of what. */
static int
put(struct logwriter *w, const void *data, size_t len, enum trouble *trouble)
{
    off_t end = w->size;
    int error = logio_write(w->io, w->fd, data, len, w->size, &end);

    *trouble = TROUBLE_WRITE;
    if (error == 0 && w->policy.when == SYNC_ALWAYS) {
        *trouble = TROUBLE_SYNC;
        error = logio_sync(w->io, w->fd);
    }
    if (error != 0 && end > w->ragged)
        w->ragged = end;
    return error;
}

/* Under SYNC_ALWAYS the caller comes with the same bytes again: what the
 * system may have forgotten of them is written once more. */
enum logwriter_status
logwriter_append(struct logwriter *w, const void *data, size_t len,
                 struct err *err)
{
    enum trouble trouble;
    int error;

    if (w->failed)
        return LOGWRITER_FAILED;
    if (w->errors[TROUBLE_RESERVE] == 0)
        reserve(w, len);
    error = put(w, data, len, &trouble);
    if (error != 0)
        return hold(w, trouble, error, err);
    w->errors[TROUBLE_WRITE] = 0;
    w->size += (off_t)len;
    if (w->policy.when == SYNC_ALWAYS) {
        w->errors[TROUBLE_SYNC] = 0;
        w->durable = w->size;
    }
    if (w->ragged > w->size)
        cut_back(w); /* nothing of an earlier try stays behind the end */
    w->ragged = 0;
    return LOGWRITER_OK;
}

void
logwriter_fail(struct logwriter *w)
{
    w->failed = true;
}

/* ---- stable storage ---- */

int
logwriter_follow(struct logwriter *w, struct sync_policy policy,
                 const struct wake *wake, struct err *err)
{
    w->policy = policy;
    if (policy.when == SYNC_ALWAYS || wake == NULL)
        return 0;
    w->sync = logsync_start(w->fd, w->io, wake, err);
    return w->sync == NULL ? -1 : 0;
}

static struct logsync_job
job(const struct logwriter *w)
{
    return (struct logsync_job){w->durable, w->size,
                                w->errors[TROUBLE_SYNC] != 0};
}

int
logwriter_sync(struct logwriter *w, struct err *err)
{
    struct logsync_job now = job(w);
    int error;

    if (w->durable == w->size || w->failed)
        return 0;
    error = logsync_now(w->fd, w->io, &now);
    w->errors[TROUBLE_SYNC] = error;
    if (error != 0) {
        errno = error;
        return err_errno(err, ERR_LOG, NAME ": cannot sync");
    }
    w->durable = now.upto;
    return 0;
}

void
logwriter_ask(struct logwriter *w)
{
    w->job = job(w);
    w->asked = true;
    if (w->sync != NULL)
        logsync_ask(w->sync, &w->job);
    else
        w->job_error = logsync_now(w->fd, w->io, &w->job);
}

bool
logwriter_asked(const struct logwriter *w)
{
    return w->asked;
}

bool
logwriter_has_thread(const struct logwriter *w)
{
    return w->sync != NULL;
}

static enum logsync_word
take_answer(struct logwriter *w, int *error)
{
    if (w->sync != NULL)
        return logsync_take(w->sync, &w->job, error);
    *error = w->job_error;
    return *error == 0 ? LOGSYNC_DONE : LOGSYNC_FAILED;
}

int
logwriter_take(struct logwriter *w, uint64_t *upto, struct err *err)
{
    enum logsync_word word = LOGSYNC_NOTHING;
    int error = 0;

    if (!w->asked || w->failed ||
        (word = take_answer(w, &error)) == LOGSYNC_NOTHING)
        return 0;
    w->asked = false;
    w->errors[TROUBLE_SYNC] = error;
    if (word == LOGSYNC_FAILED)
        return hold(w, TROUBLE_SYNC, error, err) == LOGWRITER_FAILED ? -1 : 0;
    if (w->job.upto <= w->durable)
        return 0;
    w->durable = w->job.upto;
    *upto = (uint64_t)w->durable;
    return 1;
}

/* ---- trouble ---- */

const char *
logwriter_trouble(const struct logwriter *w, char *out, size_t size)
{
    static const char *const texts[] = {
        [TROUBLE_RESERVE] = "cannot reserve room",
        [TROUBLE_WRITE] = "cannot write",
        [TROUBLE_SYNC] = "cannot sync",
    };
    char why[128];

    for (int i = TROUBLES; i-- > 0;)
        if (w->errors[i] != 0 && !w->failed) {
            snprintf(out, size, "%s: %s", texts[i],
                     strerror_r(w->errors[i], why, sizeof why));
            return out;
        }
    return NULL;
}

void
logwriter_retry(struct logwriter *w)
{
    if (w->failed)
        return;
    reserve(w, 0);
    if (w->errors[TROUBLE_SYNC] != 0 && w->policy.when != SYNC_ALWAYS &&
        !w->asked)
        logwriter_ask(w);
}
