/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The writer holds the lock file locked while it lives, and the kernel tells
 * of its closing by IN_CLOSE_WRITE, a moment before it drops the lock.  So
 * behind such an event the lock is looked at again, a few times; else only
 * when something was written.  Another file gets the log's name when a segment
 * is sealed, and when a void log is set aside, then with a moment between in
 * which there is none: the folder tells of either, and the new file is watched
 * from then on.
 *
 * Of what another machine writes to a far file system inotify(7) does not tell:
 * there a second without an event counts as one. */
#include "log/watch.h"

#include "core/err.h"
#include "core/file.h"
#include "core/filesystem.h"
#include "log/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* how often the lock is looked at when its file was closed */
#define LOOKS 10
#define LOOK_MS 20 /* pause between two looks */
#define FAR_MS 1000

struct log_watch {
    char *log;
    int events, lock;
    int folder_watch, lock_watch;
    int looks;
    bool far;
};

/* Watches the file that now has the log's name; called for each such file. */
static int
watch_log(struct log_watch *w, struct err *err)
{
    if (inotify_add_watch(w->events, w->log, IN_MODIFY) < 0 && errno != ENOENT)
        return err_errno(err, ERR_LOG, "%s: cannot watch", w->log);
    return 0;
}

/* Watches the lock file.  A log that was copied has none: nobody writes it. */
static int
watch_lock(struct log_watch *w, const char *path, struct err *err)
{
    w->lock = open(path, O_RDONLY | O_CLOEXEC);
    if (w->lock < 0)
        return errno == ENOENT
                   ? 0
                   : err_errno(err, ERR_LOG, "%s: cannot open", path);
    w->far = filesystem_is_far(w->lock);
    w->lock_watch = inotify_add_watch(w->events, path, IN_CLOSE_WRITE);
    if (w->lock_watch < 0)
        return err_errno(err, ERR_LOG, "%s: cannot watch", path);
    return 0;
}

/* Watches the folder first, which tells of a file that gets the log's name
 * meanwhile. */
static int
watch_all(struct log_watch *w, struct err *err)
{
    char *folder = file_folder(w->log);
    char *lock = folder == NULL ? NULL : file_join(folder, LOCKFILE_NAME);
    int rc = -1;

    if (lock == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if ((w->folder_watch = inotify_add_watch(w->events, folder,
                                                  IN_CREATE | IN_MOVED_TO)) < 0)
        err_errno(err, ERR_LOG, "%s: cannot watch", folder);
    else
        rc = watch_log(w, err) != 0 ? -1 : watch_lock(w, lock, err);
    free(folder);
    free(lock);
    return rc;
}

struct log_watch *
log_watch_new(const char *log, struct err *err)
{
    struct log_watch *w = calloc(1, sizeof *w);

    if (w == NULL || (w->log = strdup(log)) == NULL) {
        free(w);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    w->lock = w->lock_watch = -1;
    w->events = inotify_init1(IN_CLOEXEC);
    if (w->events < 0)
        err_errno(err, ERR_SYSTEM, "inotify");
    else if (watch_all(w, err) == 0)
        return w;
    log_watch_free(w);
    return NULL;
}

void
log_watch_free(struct log_watch *w)
{
    if (w == NULL)
        return;
    if (w->events >= 0)
        close(w->events);
    if (w->lock >= 0)
        close(w->lock);
    free(w->log);
    free(w);
}

/* Reads all events that are there. */
static int
read_events(struct log_watch *w, struct err *err)
{
    char bytes[4096]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n = read(w->events, bytes, sizeof bytes);
    /* In the folder a name has changed, perhaps the log's. */
    bool named = false;

    if (n < 0 && errno != EINTR)
        return err_errno(err, ERR_SYSTEM, "inotify");
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e =
            (const struct inotify_event *)(const void *)(bytes + at);

        if (e->wd == w->lock_watch)
            w->looks = LOOKS;
        named = named || e->wd == w->folder_watch;
        at += (ssize_t)(sizeof *e + e->len);
    }
    return named ? watch_log(w, err) : 0;
}

enum log_watch_word
log_watch_wait(struct log_watch *w, struct err *err)
{
    struct pollfd fds[] = {{w->events, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};

    for (;;) {
        int n;

        if (!lockfile_is_locked(w->lock))
            return LOG_WATCH_GONE;
        n = poll(fds, 2, w->looks > 0 ? LOOK_MS : w->far ? FAR_MS : -1);
        if (n < 0 && errno != EINTR) {
            err_errno(err, ERR_SYSTEM, "poll");
            return LOG_WATCH_FAILED;
        }
        if (n > 0 && fds[1].revents & (POLLERR | POLLNVAL))
            return LOG_WATCH_DEAF;
        if (n == 0 && w->looks == 0)
            return LOG_WATCH_MORE;
        w->looks -= n == 0;
        if (n > 0 && fds[0].revents & POLLIN)
            return read_events(w, err) == 0 ? LOG_WATCH_MORE : LOG_WATCH_FAILED;
    }
}
