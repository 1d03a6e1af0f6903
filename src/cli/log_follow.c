/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The writer holds the lock file locked while it lives, and the kernel tells
 * of its closing by IN_CLOSE_WRITE, a moment before it drops the lock.  So
 * behind such an event the lock is looked at again, a few times; else only
 * when something was written.  A log that is sealed gets another name, which
 * is told as IN_ATTRIB: from then on the new one of its name is watched. */
#include "cli/log_follow.h"

#include "core/err.h"
#include "core/file.h"
#include "lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define LOOKS 10   /* behind a closing of the lock file */
#define LOOK_MS 20 /* between them */

struct follow {
    char *log;
    int events, lock;
    int lock_watch;
    int looks;
};

/* "FOLDER/command.lock" of the log beside it, to be freed. */
static char *
lock_beside(const char *log)
{
    const char *slash = strrchr(log, '/');
    char *folder =
        slash == NULL ? strdup(".") : strndup(log, (size_t)(slash - log) + 1);
    char *path = folder == NULL ? NULL : file_join(folder, LOCKFILE_NAME);

    free(folder);
    return path;
}

/* Once for each file that has the name. */
static int
watch_log(struct follow *f, struct err *err)
{
    if (inotify_add_watch(f->events, f->log, IN_MODIFY | IN_ATTRIB) < 0)
        return err_errno(err, ERR_LOG, "%s: cannot watch", f->log);
    return 0;
}

static int
watch(struct follow *f, const char *lock, struct err *err)
{
    f->events = inotify_init1(IN_CLOEXEC);
    if (f->events < 0)
        return err_errno(err, ERR_SYSTEM, "inotify");
    if (watch_log(f, err) != 0)
        return -1;
    f->lock = open(lock, O_RDONLY | O_CLOEXEC);
    if (f->lock < 0 && errno == ENOENT)
        return 0; /* a log that was copied: nobody writes it */
    if (f->lock < 0)
        return err_errno(err, ERR_LOG, "%s: cannot open", lock);
    f->lock_watch = inotify_add_watch(f->events, lock, IN_CLOSE_WRITE);
    if (f->lock_watch < 0)
        return err_errno(err, ERR_LOG, "%s: cannot watch", lock);
    return 0;
}

struct follow *
follow_new(const char *log, struct err *err)
{
    struct follow *f = calloc(1, sizeof *f);
    char *lock = lock_beside(log);
    int rc;

    if (f == NULL || lock == NULL || (f->log = strdup(log)) == NULL) {
        free(f);
        free(lock);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    f->events = f->lock = f->lock_watch = -1;
    rc = watch(f, lock, err);
    free(lock);
    if (rc != 0) {
        follow_free(f);
        return NULL;
    }
    return f;
}

void
follow_free(struct follow *f)
{
    if (f == NULL)
        return;
    if (f->events >= 0)
        close(f->events);
    if (f->lock >= 0)
        close(f->lock);
    free(f->log);
    free(f);
}

/* Asks without taking it: a writer that starts now must get it. */
static bool
is_locked(const struct follow *f)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    return f->lock >= 0 && fcntl(f->lock, F_OFD_GETLK, &lock) == 0 &&
           lock.l_type != F_UNLCK;
}

/* All that is there. */
static int
read_events(struct follow *f, struct err *err)
{
    char bytes[4096]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n = read(f->events, bytes, sizeof bytes);
    bool renamed = false;

    if (n < 0 && errno != EINTR)
        return err_errno(err, ERR_SYSTEM, "inotify");
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e =
            (const struct inotify_event *)(const void *)(bytes + at);

        if (e->wd == f->lock_watch)
            f->looks = LOOKS;
        renamed = renamed || (e->mask & IN_ATTRIB) != 0;
        at += (ssize_t)(sizeof *e + e->len);
    }
    return renamed ? watch_log(f, err) : 0;
}

enum follow_word
follow_wait(struct follow *f, struct err *err)
{
    struct pollfd fds[] = {{f->events, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};

    for (;;) {
        int n;

        if (!is_locked(f))
            return FOLLOW_GONE;
        n = poll(fds, 2, f->looks > 0 ? LOOK_MS : -1);
        if (n < 0 && errno != EINTR) {
            err_errno(err, ERR_SYSTEM, "poll");
            return FOLLOW_FAILED;
        }
        if (n > 0 && fds[1].revents & (POLLERR | POLLNVAL))
            return FOLLOW_DEAF;
        f->looks -= n == 0;
        if (n > 0 && fds[0].revents & POLLIN)
            return read_events(f, err) == 0 ? FOLLOW_MORE : FOLLOW_FAILED;
    }
}
