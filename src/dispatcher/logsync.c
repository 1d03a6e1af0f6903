/* SPDX-License-Identifier: MIT */
#include "dispatcher/logsync.h"

#include "core/err.h"
#include "core/wake.h"
#include "dispatcher/logio.h"
#include "record.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* DESIGN
 *
 * When fdatasync(2) fails, the system may take the pages for clean all the
 * same: trying again would then succeed without a byte having been written.
 * So what is in doubt is read back, held against its checksums, and written
 * once more before the next try.  The loop appends behind `upto` meanwhile;
 * nobody else touches the bytes before it. */

enum state { IDLE, ASKED, ANSWERED };

struct logsync {
    int fd;
    const struct logio *io;
    const struct wake *wake;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked; /* state is ASKED, or `stopping` */
    /* guarded by lock */
    enum state state;
    struct logsync_job job;
    int error;
    bool stopping;
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

static void *
serve(void *arg)
{
    struct logsync *s = arg;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        struct logsync_job job;
        int error;

        while (s->state != ASKED && !s->stopping)
            pthread_cond_wait(&s->asked, &s->lock);
        if (s->stopping)
            break;
        job = s->job;
        pthread_mutex_unlock(&s->lock);
        error = logsync_now(s->fd, s->io, &job);
        pthread_mutex_lock(&s->lock);
        s->error = error;
        s->state = ANSWERED;
        wake_signal(s->wake);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
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
    s->wake = wake;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->asked, NULL);
    errno = pthread_create(&s->thread, NULL, serve, s);
    if (errno == 0)
        return s;
    err_errno(err, ERR_SYSTEM, "command log: cannot start a thread");
    pthread_cond_destroy(&s->asked);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

void
logsync_stop(struct logsync *s)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_signal(&s->asked);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->asked);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void
logsync_ask(struct logsync *s, const struct logsync_job *job)
{
    pthread_mutex_lock(&s->lock);
    s->job = *job;
    s->state = ASKED;
    pthread_cond_signal(&s->asked);
    pthread_mutex_unlock(&s->lock);
}

enum logsync_word
logsync_take(struct logsync *s, struct logsync_job *job, int *error)
{
    enum logsync_word word = LOGSYNC_NOTHING;

    pthread_mutex_lock(&s->lock);
    if (s->state == ANSWERED) {
        word = s->error == 0 ? LOGSYNC_DONE : LOGSYNC_FAILED;
        *job = s->job;
        *error = s->error;
        s->state = IDLE;
    }
    pthread_mutex_unlock(&s->lock);
    return word;
}
