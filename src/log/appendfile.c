/* SPDX-License-Identifier: MIT */
#include "log/appendfile.h"

#include "core/err.h"
#include "core/errand.h"
#include "log/io.h"
#include "log/record.h"
#include "log/segments.h"

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
 * reserve is written without.
 *
 * A thread syncs, so that a slow disk does not hold up the loop, which appends
 * on meanwhile.  When fdatasync(2) fails, the system may take the pages for
 * clean all the same: trying again would then succeed without a byte having
 * been written.  So what is in doubt is read back, held against its checksums,
 * and written once more before the next try; nobody else touches those bytes.
 */

#define RESERVE ((off_t)4 << 20)  /* bytes allocated behind the end */
#define RESERVE_LOW (RESERVE / 4) /* less than that counts as no room */

enum trouble { TROUBLE_RESERVE, TROUBLE_WRITE, TROUBLE_SYNC, TROUBLES };

/* The bytes to be brought to stable storage: from `from`, which begins a
 * record, up to `upto`, which ends one. */
struct sync_job {
    off_t from, upto;
    bool again; /* an earlier try failed */
};

/* Stands for an errno: bytes that were to be written again are not there any
 * more. */
#define LOST EBADMSG

struct appendfile {
    const struct logio *io;
    int fd;
    off_t size, reserved, durable;
    off_t ragged;  /* end of what a write that failed left behind size */
    bool reserves; /* the file system can allocate ahead */
    bool failed;
    bool syncing;
    struct sync_policy policy;
    struct errand *syncer; /* NULL: the caller's thread syncs */
    /* the syncing thread's while it syncs, else the caller's */
    struct sync_job job;
    int job_error;

    int errors[TROUBLES]; /* by trouble: its errno; 0: there is none */
};

/* ---- opening and closing ---- */

static struct appendfile *
file_new(const char *path, int flags, const struct logio *io, struct err *err)
{
    struct appendfile *f = calloc(1, sizeof *f);

    if (f == NULL) {
        err_set(err, ERR_MEMORY, "command log: out of memory");
        return NULL;
    }
    f->io = io != NULL ? io : &logio_system;
    f->policy.when = SYNC_NONE;
    f->reserves = true;
    do
        f->fd = f->io->open(path, O_RDWR | O_CLOEXEC | flags, 0600);
    while (f->fd < 0 && errno == EINTR);
    if (f->fd >= 0)
        return f;
    if (errno == EEXIST)
        err_set(err, ERR_LOG,
                "%s: an experiment is recorded there already, expected a "
                "folder without a log, or --resume",
                path);
    else
        err_errno(err, ERR_LOG, "%s: cannot %s", path,
                  flags & O_CREAT ? "create" : "open");
    free(f);
    return NULL;
}

struct appendfile *
appendfile_create(const char *path, const struct logio *io, struct err *err)
{
    return file_new(path, O_CREAT | O_EXCL, io, err);
}

struct appendfile *
appendfile_open(const char *path, const struct logio *io, struct err *err)
{
    struct appendfile *f = file_new(path, 0, io, err);
    struct stat st;

    if (f == NULL)
        return NULL;
    if (fstat(f->fd, &st) != 0) {
        err_errno(err, ERR_LOG, "%s: cannot open", path);
        close(f->fd);
        free(f);
        return NULL;
    }
    f->size = f->reserved = st.st_size;
    return f;
}

/* Cuts off the reserved blocks, and what a failed write left behind the end. */
static int
cut_back(struct appendfile *f)
{
    int rc;

    f->ragged = 0;
    f->reserved = f->size;
    do
        rc = f->io->ftruncate(f->fd, f->size);
    while (rc != 0 && errno == EINTR);
    return rc;
}

void
appendfile_close(struct appendfile *f)
{
    if (f == NULL)
        return;
    errand_stop(f->syncer);
    if (f->reserved > f->size || f->ragged > f->size)
        cut_back(f);
    close(f->fd);
    free(f);
}

uint64_t
appendfile_size(const struct appendfile *f)
{
    return (uint64_t)f->size;
}

uint64_t
appendfile_unsynced(const struct appendfile *f)
{
    return (uint64_t)(f->size - f->durable);
}

int
appendfile_cut(struct appendfile *f, uint64_t size, struct err *err)
{
    if ((off_t)size == f->size)
        return 0;
    f->size = (off_t)size;
    if (cut_back(f) != 0)
        return err_errno(err, ERR_LOG, LOG_NAME ": cannot be cut");
    return 0;
}

/* ---- room ---- */

static int
allocate(struct appendfile *f, off_t end)
{
    off_t from = f->reserved > f->size ? f->reserved : f->size;

    while (f->io->fallocate(f->fd, FALLOC_FL_KEEP_SIZE, from, end - from) != 0)
        if (errno != EINTR)
            return errno;
    f->reserved = end;
    return 0;
}

/* Reserves room for so many bytes and for RESERVE_LOW more; where there is less
 * room than RESERVE, for just those. */
static void
reserve(struct appendfile *f, size_t len)
{
    off_t least = f->size + (off_t)len + RESERVE_LOW;
    int error;

    f->errors[TROUBLE_RESERVE] = 0;
    if (!f->reserves || least <= f->reserved)
        return;
    error = allocate(f, least - RESERVE_LOW + RESERVE);
    if (error != 0 && logio_may_pass(error))
        error = allocate(f, least);
    if (logio_may_pass(error))
        f->errors[TROUBLE_RESERVE] = error;
    else if (error != 0)
        /* if anything is wrong with the file, writing will tell */
        f->reserves = false;
}

/* ---- appending ---- */

static enum appendfile_status
fail(struct appendfile *f, const char *what, int error, struct err *err)
{
    errno = error;
    if (error == LOST)
        err_set(err, ERR_LOG,
                LOG_NAME ": cannot sync: what was written cannot be read back");
    else
        err_errno(err, ERR_LOG, LOG_NAME ": cannot %s", what);
    f->failed = true;
    if (cut_back(f) != 0)
        err_place(err, "cannot be cut back");
    return APPENDFILE_FAILED;
}

static enum appendfile_status
hold(struct appendfile *f, enum trouble trouble, int error, struct err *err)
{
    static const char *const verbs[] = {"reserve room", "write", "sync"};

    f->errors[trouble] = error;
    if (logio_may_pass(error))
        return APPENDFILE_HELD;
    return fail(f, verbs[trouble], error, err);
}

/* Writes bytes and, under SYNC_ALWAYS, syncs them.  0 or an errno; *trouble
 * says which of the two failed. */
static int
put(struct appendfile *f, const void *data, size_t len, enum trouble *trouble)
{
    off_t end = f->size;
    int error = logio_write(f->io, f->fd, data, len, f->size, &end);

    *trouble = TROUBLE_WRITE;
    if (error == 0 && f->policy.when == SYNC_ALWAYS) {
        *trouble = TROUBLE_SYNC;
        error = logio_sync(f->io, f->fd);
    }
    if (error != 0 && end > f->ragged)
        f->ragged = end;
    return error;
}

/* Under SYNC_ALWAYS a caller whose append failed comes with the same bytes
 * again: those that the system may have forgotten are then written once
 * more. */
enum appendfile_status
appendfile_append(struct appendfile *f, const void *data, size_t len,
                  struct err *err)
{
    enum trouble trouble;
    int error;

    if (f->failed)
        return APPENDFILE_FAILED;
    if (f->errors[TROUBLE_RESERVE] == 0)
        reserve(f, len);
    error = put(f, data, len, &trouble);
    if (error != 0)
        return hold(f, trouble, error, err);
    f->errors[TROUBLE_WRITE] = 0;
    f->size += (off_t)len;
    if (f->policy.when == SYNC_ALWAYS) {
        f->errors[TROUBLE_SYNC] = 0;
        f->durable = f->size;
    }
    if (f->ragged > f->size)
        cut_back(f); /* nothing of an earlier try stays behind the end */
    f->ragged = 0;
    return APPENDFILE_OK;
}

void
appendfile_fail(struct appendfile *f)
{
    f->failed = true;
}

/* ---- stable storage ---- */

/* Reads so many bytes.  0 or an errno. */
static int
read_all(int fd, const struct logio *io, char *to, size_t len, off_t at)
{
    while (len > 0) {
        ssize_t n = io->pread(fd, to, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        to += n;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Whether the bytes are whole records. */
static bool
are_records(const char *bytes, size_t len)
{
    struct record r;

    while (len > 0) {
        if (record_next(bytes, len, SIZE_MAX, &r, NULL) != RECORD_READY)
            return false;
        bytes += r.size;
        len -= r.size;
    }
    return true;
}

static int
write_again(int fd, const struct logio *io, const struct sync_job *job)
{
    size_t len = (size_t)(job->upto - job->from);
    char *bytes = malloc(len > 0 ? len : 1);
    off_t end;
    int rc;

    if (bytes == NULL)
        return EIO; /* tried again later, when there may be memory */
    rc = read_all(fd, io, bytes, len, job->from);
    if (rc == 0 && !are_records(bytes, len))
        rc = LOST;
    if (rc == 0)
        rc = logio_write(io, fd, bytes, len, job->from, &end);
    free(bytes);
    return rc;
}

static int
sync_now(const struct appendfile *f, const struct sync_job *job)
{
    int rc = job->again ? write_again(f->fd, f->io, job) : 0;

    return rc == 0 ? logio_sync(f->io, f->fd) : rc;
}

static void
work(void *ctx)
{
    struct appendfile *f = ctx;

    f->job_error = sync_now(f, &f->job);
}

int
appendfile_follow(struct appendfile *f, struct sync_policy policy,
                  const struct wake *wake, struct err *err)
{
    f->policy = policy;
    if (policy.when == SYNC_ALWAYS || wake == NULL)
        return 0;
    f->syncer = errand_start(work, f, wake, err);
    return f->syncer == NULL ? err_place(err, "command log") : 0;
}

static struct sync_job
job(const struct appendfile *f)
{
    return (struct sync_job){f->durable, f->size, f->errors[TROUBLE_SYNC] != 0};
}

int
appendfile_sync(struct appendfile *f, struct err *err)
{
    struct sync_job now = job(f);
    int error;

    if (f->durable == f->size || f->failed)
        return 0;
    error = sync_now(f, &now);
    f->errors[TROUBLE_SYNC] = error;
    if (error != 0) {
        errno = error;
        return err_errno(err, ERR_LOG, LOG_NAME ": cannot sync");
    }
    f->durable = now.upto;
    return 0;
}

void
appendfile_sync_begin(struct appendfile *f)
{
    f->job = job(f);
    f->syncing = true;
    if (f->syncer != NULL)
        errand_ask(f->syncer);
    else
        f->job_error = sync_now(f, &f->job);
}

bool
appendfile_is_syncing(const struct appendfile *f)
{
    return f->syncing;
}

bool
appendfile_has_thread(const struct appendfile *f)
{
    return f->syncer != NULL;
}

int
appendfile_sync_take(struct appendfile *f, uint64_t *upto, struct err *err)
{
    if (!f->syncing || f->failed ||
        (f->syncer != NULL && !errand_take(f->syncer)))
        return 0;
    f->syncing = false;
    f->errors[TROUBLE_SYNC] = f->job_error;
    if (f->job_error != 0)
        return hold(f, TROUBLE_SYNC, f->job_error, err) == APPENDFILE_FAILED
                   ? -1
                   : 0;
    if (f->job.upto <= f->durable)
        return 0;
    f->durable = f->job.upto;
    *upto = (uint64_t)f->durable;
    return 1;
}

/* ---- trouble ---- */

const char *
appendfile_trouble(const struct appendfile *f, char *out, size_t size)
{
    static const char *const texts[] = {
        [TROUBLE_RESERVE] = "cannot reserve room",
        [TROUBLE_WRITE] = "cannot write",
        [TROUBLE_SYNC] = "cannot sync",
    };
    char why[128];

    for (int i = TROUBLES; i-- > 0;)
        if (f->errors[i] != 0 && !f->failed) {
            snprintf(out, size, "%s: %s", texts[i],
                     strerror_r(f->errors[i], why, sizeof why));
            return out;
        }
    return NULL;
}

void
appendfile_retry(struct appendfile *f)
{
    if (f->failed)
        return;
    reserve(f, 0);
    if (f->errors[TROUBLE_SYNC] != 0 && f->policy.when != SYNC_ALWAYS &&
        !f->syncing)
        appendfile_sync_begin(f);
}
