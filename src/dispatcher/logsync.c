/* SPDX-License-Identifier: MIT */
#include "dispatcher/logsync.h"

#include "core/err.h"
#include "dispatcher/errand.h"
#include "dispatcher/logio.h"
#include "record.h"

#include <stdint.h>
#include <stdlib.h>

/* DESIGN
 *
 * When fdatasync(2) fails, the system may take the pages for clean all the
 * same: trying again would then succeed without a byte having been written.
 * So what is in doubt is read back, held against its checksums, and written
 * once more before the next try.  The loop appends behind `upto` meanwhile;
 * nobody else touches the bytes before it. */

struct logsync {
    struct errand *errand;
    int fd;
    const struct logio *io;
    /* the thread's while it is asked, else the reader's */
    struct logsync_job job;
    int error;
};

/* ---- what is done ---- */

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
write_again(int fd, const struct logio *io, const struct logsync_job *job)
{
    size_t len = (size_t)(job->upto - job->from);
    char *bytes = malloc(len > 0 ? len : 1);
    off_t end;
    int rc;

    if (bytes == NULL)
        return EIO; /* later, when there is memory */
    rc = read_all(fd, io, bytes, len, job->from);
    if (rc == 0 && !are_records(bytes, len))
        rc = LOGSYNC_LOST;
    if (rc == 0)
        rc = logio_write(io, fd, bytes, len, job->from, &end);
    free(bytes);
    return rc;
}

int
logsync_now(int fd, const struct logio *io, const struct logsync_job *job)
{
    int rc = job->again ? write_again(fd, io, job) : 0;

    return rc == 0 ? logio_sync(io, fd) : rc;
}

/* ---- the thread ---- */

static void
work(void *ctx)
{
    struct logsync *s = ctx;

    s->error = logsync_now(s->fd, s->io, &s->job);
}

struct logsync *
logsync_start(int fd, const struct logio *io, const struct wake *wake,
              struct err *err)
{
    struct logsync *s = calloc(1, sizeof *s);

    if (s == NULL) {
        err_set(err, ERR_MEMORY, "command log: out of memory");
        return NULL;
    }
    s->fd = fd;
    s->io = io;
    s->errand = errand_start(work, s, wake, err);
    if (s->errand != NULL)
        return s;
    err_place(err, "command log");
    free(s);
    return NULL;
}

void
logsync_stop(struct logsync *s)
{
    if (s == NULL)
        return;
    errand_stop(s->errand);
    free(s);
}

void
logsync_ask(struct logsync *s, const struct logsync_job *job)
{
    s->job = *job;
    errand_ask(s->errand);
}

enum logsync_word
logsync_take(struct logsync *s, struct logsync_job *job, int *error)
{
    if (!errand_take(s->errand))
        return LOGSYNC_NOTHING;
    *job = s->job;
    *error = s->error;
    return s->error == 0 ? LOGSYNC_DONE : LOGSYNC_FAILED;
}
